#include "handlers/sql/named_statement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace hookgate {
namespace {

bool is_name_start(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_';
}

// Bytes of other than ASCII are part of PostgreSQL's identifiers.
bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

constexpr std::array<std::string_view, 7> kFirstWords{"DELETE", "INSERT", "MERGE", "SELECT",
                                                      "UPDATE", "VALUES", "WITH"};

// Walks over the text of one statement by PostgreSQL's lexical rules
// (standard_conforming_strings on, as it is by default).
class StatementScanner {
 public:
  StatementScanner(std::string_view sql, std::span<const std::string> names)
      : sql_(sql), names_(names) {}

  std::variant<NamedStatement, StatementFault> scan();

 private:
  bool at(std::string_view text) const { return sql_.substr(position_).starts_with(text); }
  char previous() const { return position_ == 0 ? ' ' : sql_[position_ - 1]; }
  void copy(std::size_t count);
  void copy_to(std::size_t end) { copy(end - position_); }
  bool skip_literal();
  bool skip_comment();
  bool skip_dollar_literal();
  bool skip_quoted(char quote, bool has_escapes);
  bool take_parameter();
  void fail(std::string message) { fault_ = std::move(message); }

  std::string_view sql_;
  std::span<const std::string> names_;
  std::size_t position_ = 0;
  NamedStatement statement_;
  std::string first_word_;
  std::string fault_;
};

void StatementScanner::copy(std::size_t count) {
  count = std::min(count, sql_.size() - position_);
  statement_.text += sql_.substr(position_, count);
  position_ += count;
}

// The text between two quotes; a doubled quote stands for itself.
bool StatementScanner::skip_quoted(char quote, bool has_escapes) {
  std::size_t end = position_ + 1;
  for (;; ++end) {
    if (end >= sql_.size()) {
      fail(std::string{"a "} + quote + " is not closed");
      return true;
    }
    if (has_escapes && sql_[end] == '\\') {
      ++end;
    } else if (sql_[end] == quote) {
      break;
    }
  }
  copy_to(end + 1);
  return true;
}

bool StatementScanner::skip_literal() {
  if (at("'")) {
    const bool is_escape_string = (previous() == 'e' || previous() == 'E') &&
                                  (position_ < 2 || !is_name_part(sql_[position_ - 2]));
    return skip_quoted('\'', is_escape_string);
  }
  if (at("\"")) return skip_quoted('"', false);
  return skip_dollar_literal();
}

// $$...$$ or $tag$...$tag$.
bool StatementScanner::skip_dollar_literal() {
  if (!at("$") || is_name_part(previous())) return false;
  auto end = position_ + 1;
  if (end < sql_.size() && is_name_start(sql_[end]))
    while (end < sql_.size() && is_name_part(sql_[end])) ++end;
  if (end >= sql_.size() || sql_[end] != '$') return false;
  const auto tag = sql_.substr(position_, end + 1 - position_);
  const auto close = sql_.find(tag, end + 1);
  if (close == std::string_view::npos) {
    fail("the literal that " + std::string{tag} + " opens is not closed");
    return true;
  }
  copy_to(close + tag.size());
  return true;
}

// Block comments nest.
bool StatementScanner::skip_comment() {
  if (at("--")) {
    copy_to(std::min(sql_.find('\n', position_), sql_.size()));
    return true;
  }
  if (!at("/*")) return false;
  int depth = 0;
  do {
    if (at("/*")) {
      ++depth;
      copy(2);
    } else if (at("*/")) {
      --depth;
      copy(2);
    } else if (position_ < sql_.size()) {
      copy(1);
    } else {
      fail("a comment is not closed");
      return true;
    }
  } while (depth > 0);
  return true;
}

bool StatementScanner::take_parameter() {
  if (!at(":")) return false;
  if (at("::") || at(":=")) {
    copy(2);
    return true;
  }
  auto end = position_ + 1;
  if (end >= sql_.size() || !is_name_start(sql_[end])) return false;
  while (end < sql_.size() && is_name_part(sql_[end])) ++end;
  const std::string name{sql_.substr(position_ + 1, end - position_ - 1)};
  const auto found = std::ranges::find(names_, name);
  if (found == names_.end()) {
    fail("uses ':" + name + "', which 'params' does not name");
    return true;
  }
  const auto index = static_cast<std::size_t>(found - names_.begin());
  auto& parameters = statement_.parameters;
  auto number = std::ranges::find(parameters, index);
  if (number == parameters.end()) number = parameters.insert(parameters.end(), index);
  statement_.text += "$" + std::to_string(number - parameters.begin() + 1);
  position_ = end;
  return true;
}

std::variant<NamedStatement, StatementFault> StatementScanner::scan() {
  bool has_ended = false;
  while (position_ < sql_.size() && fault_.empty()) {
    const char c = sql_[position_];
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      copy(1);
      continue;
    }
    if (skip_comment()) continue;
    if (c == ';') {
      has_ended = true;
      ++position_;
      continue;
    }
    if (has_ended) return StatementFault{"holds more than one statement; write them as a list"};
    if (c == '$' && position_ + 1 < sql_.size() && !is_name_part(previous()) &&
        std::isdigit(static_cast<unsigned char>(sql_[position_ + 1])) != 0)
      return StatementFault{"uses '$" + std::string{sql_[position_ + 1]} +
                            "'; write parameters as ':name'"};
    if (skip_literal() || take_parameter()) {
      if (first_word_.empty()) first_word_ = "?";
      continue;
    }
    const auto begin = position_;
    do {
      copy(1);
    } while (is_name_part(previous()) && position_ < sql_.size() && is_name_part(sql_[position_]));
    if (first_word_.empty()) first_word_ = sql_.substr(begin, position_ - begin);
  }
  if (!fault_.empty()) return StatementFault{fault_};
  std::ranges::transform(first_word_, first_word_.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (first_word_.empty()) return StatementFault{"holds no statement"};
  if (std::ranges::find(kFirstWords, first_word_) == kFirstWords.end())
    return StatementFault{"must begin with INSERT, UPDATE, DELETE, MERGE, SELECT, VALUES or WITH"};
  return std::move(statement_);
}

}  // namespace

std::variant<NamedStatement, StatementFault> compile_statement(std::string_view sql,
                                                               std::span<const std::string> names) {
  return StatementScanner{sql, names}.scan();
}

}  // namespace hookgate
