#include "metrics_text.h"

#include <cstdlib>
#include <regex>
#include <sstream>

namespace hookgate {
namespace {

const std::regex kComment{R"(# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+))"};
const std::regex kSample{
    R"re(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? (\S+))re"};

std::string family_of(const std::string& sample, const std::map<std::string, std::string>& types) {
  if (types.contains(sample)) return sample;
  for (const std::string suffix : {"_bucket", "_sum", "_count"}) {
    if (!sample.ends_with(suffix)) continue;
    auto family = sample.substr(0, sample.size() - suffix.size());
    const auto type = types.find(family);
    if (type != types.end() && type->second == "histogram") return family;
  }
  return "";
}

}  // namespace

MetricsText::MetricsText(const std::string& text) {
  if (!text.ends_with('\n')) faults_.push_back("the last line has no end");
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    line.starts_with('#') ? read_comment(line) : read_sample(line);
  }
}

void MetricsText::read_comment(const std::string& line) {
  std::smatch match;
  if (!std::regex_match(line, match, kComment)) {
    faults_.push_back(line);
    return;
  }
  auto& known = match[1] == "HELP" ? helps_ : types_;
  if (!known.emplace(match[2], match[3]).second) faults_.push_back("twice: " + line);
}

void MetricsText::read_sample(const std::string& line) {
  std::smatch match;
  if (!std::regex_match(line, match, kSample)) {
    faults_.push_back(line);
    return;
  }
  const auto family = family_of(match[1], types_);
  if (family.empty() || !helps_.contains(family)) faults_.push_back("no HELP or TYPE: " + line);
  const std::string number = match[3];
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (*end != '\0') faults_.push_back("no number: " + line);
  const auto series = match[1].str() + match[2].str();
  if (!samples_.emplace(series, value).second) faults_.push_back("twice: " + line);
  order_.push_back(series);
}

double MetricsText::value(const std::string& series) const {
  const auto found = samples_.find(series);
  return found == samples_.end() ? -1 : found->second;
}

std::string MetricsText::type(const std::string& family) const {
  const auto found = types_.find(family);
  return found == types_.end() ? "" : found->second;
}

std::vector<std::pair<std::string, double>> MetricsText::buckets(const std::string& family) const {
  const auto start = family + "_bucket{le=\"";
  std::vector<std::pair<std::string, double>> buckets;
  for (const auto& series : order_) {
    if (!series.starts_with(start)) continue;
    buckets.emplace_back(series.substr(start.size(), series.size() - start.size() - 2),
                         value(series));
  }
  return buckets;
}

}  // namespace hookgate
