#include "config_sql_handler.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "config_schema.h"
#include "config_values.h"

namespace hookgate {
namespace {

constexpr std::size_t kParametersMax = 200;
constexpr std::size_t kStatementsMax = 32;
constexpr IntegerRange kAnswer{.least = 200, .most = 299};

bool is_parameter_name(std::string_view name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  constexpr std::string_view kDigits = "0123456789";
  return !name.empty() && name.size() <= 63 && kDigits.find(name[0]) == std::string_view::npos &&
         name.find_first_not_of(std::string{kLetters} + std::string{kDigits}) ==
             std::string_view::npos;
}

class SqlHandlerReader {
 public:
  SqlHandlerReader(const ConfigFile& file, const ConfigBlock& block) : file_(file), block_(block) {}

  SqlHandlerSettings read(std::vector<std::string>& warnings);

 private:
  void read_parameters();
  void add_parameter(const ConfigText& text, const ConfigNode& member);
  void read_required();
  void read_statements();
  void add_statement(const ConfigText& text);
  void warn_of_unused(std::vector<std::string>& warnings) const;

  const ConfigFile& file_;
  const ConfigBlock& block_;
  std::vector<std::string> names_;
  SqlHandlerSettings settings_;
};

SqlHandlerSettings SqlHandlerReader::read(std::vector<std::string>& warnings) {
  read_parameters();
  read_required();
  read_statements();
  settings_.answer = static_cast<int>(block_.integer("answer", settings_.answer, kAnswer));
  warn_of_unused(warnings);
  return std::move(settings_);
}

void SqlHandlerReader::read_parameters() {
  const auto table = block_.table("params");
  if (!table) return;
  const auto& members = block_.find("params")->members;
  if (members.size() > kParametersMax)
    block_.fail("params", members[kParametersMax].key_at,
                "has more than " + std::to_string(kParametersMax) + " members");
  for (const auto& member : members) {
    if (!is_parameter_name(member.key))
      block_.fail("params", member.key_at,
                  "names " + in_quotes(member.key) +
                      "; a name is 1 to 63 of A-Z, a-z, 0-9 and '_', no digit first");
    add_parameter(table->required_text(member.key), member);
  }
}

void SqlHandlerReader::add_parameter(const ConfigText& text, const ConfigNode& member) {
  const std::string name = "'" + member.key + "' in params of [[handler]] ";
  if (text.value.starts_with('@')) {
    const auto field = event_field(text.value);
    if (!field)
      file_.fail(text.at, name + "is " + text.shown +
                              "; there are @source, @scope, @event_id, @type and @subject");
    settings_.parameters.push_back({member.key, text.value, *field});
  } else {
    auto pointer = JsonPointer::parse(text.value);
    if (!pointer)
      file_.fail(text.at, name + "is " + text.shown +
                              ", which is neither a JSON Pointer such as \"/data/object/id\" nor "
                              "a field such as \"@scope\"");
    settings_.parameters.push_back({member.key, text.value, *std::move(pointer)});
  }
  names_.push_back(member.key);
}

void SqlHandlerReader::read_required() {
  const auto texts = block_.texts("required", kParametersMax);
  if (!texts) return;
  const std::vector<std::string_view> known{names_.begin(), names_.end()};
  for (const auto& text : *texts) {
    const auto found = std::ranges::find(names_, text.value);
    if (found == names_.end())
      block_.fail("required", text.at,
                  "names " + text.shown + ", which 'params' does not have" +
                      did_you_mean(text.value, known, '"'));
    settings_.parameters[static_cast<std::size_t>(found - names_.begin())].is_required = true;
  }
}

void SqlHandlerReader::read_statements() {
  const auto* const node = block_.find("statement");
  if (node == nullptr) block_.fail_missing("statement");
  if (node->kind != ConfigNode::Kind::kList) {
    add_statement(block_.required_text("statement"));
    return;
  }
  const auto texts = block_.texts("statement", kStatementsMax);
  if (texts->empty()) block_.fail("statement", node->at, "is empty");
  for (const auto& text : *texts) add_statement(text);
}

void SqlHandlerReader::add_statement(const ConfigText& text) {
  auto compiled = compile_statement(text.value, names_);
  if (const auto* const fault = std::get_if<StatementFault>(&compiled))
    block_.fail("statement", text.at, fault->message);
  settings_.statements.push_back(
      {std::get<NamedStatement>(std::move(compiled)), file_.where(text.at)});
}

void SqlHandlerReader::warn_of_unused(std::vector<std::string>& warnings) const {
  std::set<std::size_t> used;
  for (const auto& [statement, place] : settings_.statements)
    used.insert(statement.parameters.begin(), statement.parameters.end());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (used.contains(i)) continue;
    warnings.push_back(file_.where(block_.find("params")->find(names_[i])->key_at) +
                       "no statement uses ':" + names_[i] + "'");
  }
}

}  // namespace

SqlHandlerSettings read_sql_handler(const ConfigFile& file, const ConfigBlock& block,
                                    std::vector<std::string>& warnings) {
  return SqlHandlerReader{file, block}.read(warnings);
}

}  // namespace hookgate
