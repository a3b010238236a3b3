#pragma once

#include <map>
#include <string>
#include <vector>

namespace hookgate {

// A scrape, read as strictly as the text format 0.0.4 is written: every sample belongs to a family
// whose HELP and TYPE stand before it, once.
class MetricsText {
 public:
  explicit MetricsText(const std::string& text);

  // By name and labels as they are written, sorted: `name{a="x",b="y"}`. -1 for a missing series.
  double value(const std::string& series) const;
  bool has(const std::string& series) const { return samples_.contains(series); }
  std::string type(const std::string& family) const;
  // The buckets of a histogram in order, with the upper bound as it is written.
  std::vector<std::pair<std::string, double>> buckets(const std::string& family) const;
  // Lines that break the format.
  const std::vector<std::string>& faults() const { return faults_; }

 private:
  void read_comment(const std::string& line);
  void read_sample(const std::string& line);

  std::map<std::string, std::string> helps_;
  std::map<std::string, std::string> types_;
  std::map<std::string, double> samples_;
  std::vector<std::string> order_;
  std::vector<std::string> faults_;
};

}  // namespace hookgate
