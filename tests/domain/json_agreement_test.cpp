// parse_json against an independent parser: both must take the same texts for the same values.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "domain/json.h"

namespace hookgate {
namespace {

std::string in_brackets(std::string_view kind, std::string_view text) {
  return std::string{kind} + "<" + std::to_string(text.size()) + ":" + std::string{text} + ">";
}

// Writes the other parser's events as one text, in which different values differ.
class EventText {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit EventText(int depth_max) : depth_max_(static_cast<std::size_t>(depth_max)) {}

  bool null() { return put("null"); }
  bool boolean(bool value) { return put(value ? "true" : "false"); }
  // A zero arrives here only if it was written "-0".
  bool number_integer(number_integer_t value) {
    return put(in_brackets("number", value == 0 ? "-0" : std::to_string(value)));
  }
  bool number_unsigned(number_unsigned_t value) {
    return put(in_brackets("number", std::to_string(value)));
  }
  bool number_float(number_float_t, const string_t& literal) {
    return put(in_brackets("number", literal));
  }
  bool string(string_t& value) { return put(in_brackets("string", value)); }
  bool binary(binary_t&) { return false; }
  bool start_object(std::size_t) { return open("{"); }
  bool start_array(std::size_t) { return open("["); }
  bool key(string_t& name) {
    has_doubled_keys_ = !names_.back().insert(name).second || has_doubled_keys_;
    return put(in_brackets("name", name));
  }
  bool end_object() { return close("}"); }
  bool end_array() { return close("]"); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    constexpr int kNumberOverflow = 406;
    is_number_too_large_ = error.id == kNumberOverflow;
    return false;
  }

  const std::string& text() const { return text_; }
  bool has_doubled_keys() const { return has_doubled_keys_; }
  // It gives up at a number that no double holds, which is none of our limits.
  bool is_number_too_large() const { return is_number_too_large_; }

 private:
  bool put(std::string_view piece) {
    text_ += piece;
    return true;
  }
  bool open(std::string_view bracket) {
    names_.emplace_back();
    return names_.size() <= depth_max_ && put(bracket);
  }
  bool close(std::string_view bracket) {
    names_.pop_back();
    return put(bracket);
  }

  std::size_t depth_max_;
  std::string text_;
  std::vector<std::set<std::string>> names_;  // of each open value
  bool has_doubled_keys_ = false;
  bool is_number_too_large_ = false;
};

std::string event_text(const Json& value) {
  std::string text;
  switch (value.kind()) {
    case Json::Kind::kNull: return "null";
    case Json::Kind::kBoolean: return value.boolean().value() ? "true" : "false";
    case Json::Kind::kNumber: return in_brackets("number", value.number_text());
    case Json::Kind::kString: return in_brackets("string", value.string().value());
    case Json::Kind::kArray:
      for (const auto& element : value.elements()) text += event_text(element);
      return "[" + text + "]";
    case Json::Kind::kObject:
      for (const auto& [name, member] : value.members()) {
        text += in_brackets("name", name) + event_text(member);
      }
      return "{" + text + "}";
  }
  return text;
}

// canonical_json, written for the eye instead of for speed.
std::string plain_canonical(const Json& value) {
  std::string text;
  const auto comma = [&] { return text.empty() ? "" : ","; };
  switch (value.kind()) {
    case Json::Kind::kNull: return "null";
    case Json::Kind::kBoolean: return value.boolean().value() ? "true" : "false";
    case Json::Kind::kNumber: return std::string{value.number_text()};
    case Json::Kind::kString: return quote_json(value.string().value());
    case Json::Kind::kArray:
      for (const auto& element : value.elements()) text += comma() + plain_canonical(element);
      return "[" + text + "]";
    case Json::Kind::kObject: {
      std::map<std::string, std::string> members;
      for (const auto& [name, member] : value.members())
        members[std::string{name}] = plain_canonical(member);
      for (const auto& [name, member] : members) text += comma() + quote_json(name) + ":" + member;
      return "{" + text + "}";
    }
  }
  return text;
}

enum class Agreement { kBothTake, kBothRefuse, kNoJudge, kNone };

Agreement compare(std::string_view bytes) {
  const auto ours = parse_json(bytes);
  const auto* document = std::get_if<JsonDocument>(&ours);
  // The other parser takes a NUL for the end.
  if (bytes.find('\0') != std::string_view::npos) {
    return document == nullptr ? Agreement::kBothRefuse : Agreement::kNone;
  }
  EventText theirs{JsonLimits{}.depth_max};
  const bool taken = nlohmann::json::sax_parse(bytes.begin(), bytes.end(), &theirs);
  if (theirs.is_number_too_large()) return Agreement::kNoJudge;
  if (taken != (document != nullptr)) return Agreement::kNone;
  if (!taken) return Agreement::kBothRefuse;
  const bool same = event_text(document->root) == theirs.text() &&
                    document->has_doubled_keys() == theirs.has_doubled_keys() &&
                    canonical_json(document->root) == plain_canonical(document->root);
  return same ? Agreement::kBothTake : Agreement::kNone;
}

// Bodies of the fixtures, and small texts where one byte decides.
std::vector<std::string> seeds() {
  std::vector<std::string> texts = {
      R"({"a":1,"b":[true,false,null],"a":"\u00e9\ud83d\ude00\n\/"})",
      R"([-0,0,-0.0,1.50,1e5,1E+5,2e-7,123456789012345678901234567890,-9223372036854775808])",
      R"(["","\"","\\","\u0000","\u001f","é€😀","\ud800\udc00","\udbff\udfff"])",
      "\xEF\xBB\xBF{\"bom\" : [ ] , \"empty\" : { } }\r\n\t ",
      R"({"abcdefgh1":{"abcdefgh2":{},"abcdefgh1":[[[]]]},"abcdefgh":[{}]})",
      std::string(63, '[') + "[]" + std::string(63, ']'),
  };
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator{HOOKGATE_SOURCE_DIR "/fixtures"}) {
    if (entry.path().extension() != ".http") continue;
    std::ifstream file{entry.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (const auto body = text.find('{'); body != std::string::npos) {
      texts.push_back(text.substr(body));
    }
  }
  return texts;
}

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string mutate(std::string text) {
    for (auto changes = 1 + below(3); changes > 0; --changes) change(text);
    return text;
  }
  std::size_t below(std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>{0, limit - 1}(random_);
  }

 private:
  static constexpr std::array<std::string_view, 40> kPieces = {"{",
                                                               "}",
                                                               "[",
                                                               "]",
                                                               ",",
                                                               ":",
                                                               "\"",
                                                               "\\",
                                                               "\\u",
                                                               "\\ud800",
                                                               "\\udc00",
                                                               "\\u0000",
                                                               "\\u00e",
                                                               "\\n",
                                                               "\\x",
                                                               "0",
                                                               "-",
                                                               "+",
                                                               ".",
                                                               "e",
                                                               "E",
                                                               "1e9",
                                                               "1e400",
                                                               "00",
                                                               "true",
                                                               "false",
                                                               "null",
                                                               "nul",
                                                               " ",
                                                               "\n",
                                                               "\v",
                                                               "\x7f",
                                                               "\xEF\xBB\xBF",
                                                               "\xC3",
                                                               "\xA9",
                                                               "\xE2\x82\xAC",
                                                               "\xED\xA0\x80",
                                                               "\xF4\x90\x80\x80",
                                                               "\"a\":1,",
                                                               "//"};

  void change(std::string& text) {
    const auto at = below(text.size() + 1);
    const auto size = 1 + below(8);
    switch (below(6)) {
      case 0: text.insert(at, kPieces[below(kPieces.size())]); return;
      case 1: text.erase(at, size); return;
      case 2: text.insert(at, text.substr(below(text.size() + 1), size)); return;
      case 3:
        text.replace(at, std::min(size, text.size() - at), kPieces[below(kPieces.size())]);
        return;
      case 4: text.resize(at); return;
      default:
        if (at < text.size()) text[at] = static_cast<char>(below(256));
    }
  }

  std::mt19937 random_;
};

TEST(JsonAgreementTest, AgreesOnEverySeed) {
  for (const auto& text : seeds()) EXPECT_EQ(compare(text), Agreement::kBothTake) << text;
}

TEST(JsonAgreementTest, AgreesOnMutatedTexts) {
  constexpr int kTexts = 150'000;
  const auto texts = seeds();
  Mutator mutator{20'261'028};
  std::map<Agreement, int> counts;
  for (int i = 0; i < kTexts; ++i) {
    // Every other one is small: there a change is most likely to meet what matters.
    const auto& seed = texts[mutator.below(i % 2 == 0 ? 6 : texts.size())];
    const auto text = mutator.mutate(seed);
    const auto agreement = compare(text);
    ++counts[agreement];
    ASSERT_NE(agreement, Agreement::kNone) << testing::PrintToString(text);
  }
  // Else the texts say little.
  EXPECT_GT(counts[Agreement::kBothTake], kTexts / 20);
  EXPECT_GT(counts[Agreement::kBothRefuse], kTexts / 20);
  EXPECT_LT(counts[Agreement::kNoJudge], kTexts / 20);
}

// Every text of up to four characters of an alphabet in which most of the grammar can be written.
TEST(JsonAgreementTest, AgreesOnAllSmallTexts) {
  constexpr std::string_view kAlphabet = "[]{},:\"\\u0-1.eE+ ";
  std::vector<std::string> texts = {""};
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ASSERT_NE(compare(texts[i]), Agreement::kNone) << texts[i];
    if (texts[i].size() == 4) continue;
    for (const char c : kAlphabet) texts.push_back(texts[i] + c);
  }
}

}  // namespace
}  // namespace hookgate
