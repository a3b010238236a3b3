#include "cli/body_variants.h"

#include <cstddef>
#include <utility>
#include <variant>

#include "domain/json.h"

namespace hookgate {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kRewrittenBytesMax = std::size_t{1024} * 1024;

// How a library writes JSON.
struct Style {
  std::size_t indent;      // blanks a level; 0: on one line
  bool has_blanks;         // after ':' always, after ',' on one line
  bool escapes_non_ascii;  // \u00e9 for é
  bool escapes_slashes;    // \/ for /
  std::string_view change;
};

constexpr std::string_view kReEncoded = "it was parsed and written again";

constexpr Style kStyles[] = {
    {0, false, false, false, "it was compact JSON when it was signed"},
    {2, true, false, false, "it was indented by two blanks when it was signed"},
    {4, true, false, false, "it was indented by four blanks when it was signed"},
    {0, true, false, false, "it had a blank after ':' and ',' when it was signed"},
    {0, false, true, false, "it was compact JSON with \\u escapes when it was signed"},
    {0, true, true, false, "it had blanks and \\u escapes when it was signed"},
    {2, true, true, false, "it was indented and had \\u escapes when it was signed"},
    {4, true, true, false, "it was indented and had \\u escapes when it was signed"},
    {0, false, false, true, "it was compact JSON with \\/ escapes when it was signed"},
    {0, false, true, true, "it was compact JSON with \\/ and \\u escapes when it was signed"},
    {4, true, true, true, "it was indented and had \\/ and \\u escapes when it was signed"},
};

// The code point whose UTF-8 starts at `position`, which moves behind it. The text is valid UTF-8:
// the parser refuses any other.
char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto first = static_cast<unsigned char>(text[position++]);
  if (first < 0x80) return first;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t code = first & (0x3FU >> more);
  for (int i = 0; i < more && position < text.size(); ++i) {
    code = (code << 6U) | (static_cast<unsigned char>(text[position++]) & 0x3FU);
  }
  return code;
}

void append_escape(std::string& out, unsigned unit) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (unsigned shift = 16; shift > 0; shift -= 4) out += kDigits[(unit >> (shift - 4)) & 0xFU];
}

class Writer {
 public:
  explicit Writer(const Style& style) : style_(style) {}

  std::string write(const Json& value) {
    append(value, 0);
    return std::move(out_);
  }

 private:
  void append(const Json& value, std::size_t level) {
    switch (value.kind()) {
      case Json::Kind::kNull: out_ += "null"; break;
      case Json::Kind::kBoolean: out_ += value.boolean().value_or(false) ? "true" : "false"; break;
      case Json::Kind::kNumber: out_ += value.number_text(); break;
      case Json::Kind::kString: append_text(*value.string()); break;
      case Json::Kind::kArray: append_array(value, level); break;
      case Json::Kind::kObject: append_object(value, level); break;
    }
  }

  void append_array(const Json& value, std::size_t level) {
    out_ += '[';
    bool is_first = true;
    for (const auto& element : value.elements()) {
      separate(is_first, level + 1);
      append(element, level + 1);
    }
    close(is_first, level, ']');
  }

  void append_object(const Json& value, std::size_t level) {
    out_ += '{';
    bool is_first = true;
    for (const auto& [name, member] : value.members()) {
      separate(is_first, level + 1);
      append_text(name);
      out_ += style_.has_blanks ? ": " : ":";
      append(member, level + 1);
    }
    close(is_first, level, '}');
  }

  void separate(bool& is_first, std::size_t level) {
    if (!is_first) out_ += style_.has_blanks && style_.indent == 0 ? ", " : ",";
    is_first = false;
    break_line(level);
  }

  void close(bool is_empty, std::size_t level, char bracket) {
    if (!is_empty) break_line(level);
    out_ += bracket;
  }

  void break_line(std::size_t level) {
    if (style_.indent > 0) out_ += '\n' + std::string(level * style_.indent, ' ');
  }

  void append_text(std::string_view text) {
    const auto quoted = quote_json(text);
    for (std::size_t i = 0; i < quoted.size();) {
      const auto start = i;
      const auto code = next_code_point(quoted, i);
      if (code == '/' && style_.escapes_slashes) {
        out_ += "\\/";
      } else if (code < 0x80 || !style_.escapes_non_ascii) {
        out_ += quoted.substr(start, i - start);
      } else if (code < 0x10000) {
        append_escape(out_, static_cast<unsigned>(code));
      } else {
        append_escape(out_, 0xD800U + static_cast<unsigned>((code - 0x10000) >> 10U));
        append_escape(out_, 0xDC00U + static_cast<unsigned>((code - 0x10000) & 0x3FFU));
      }
    }
  }

  const Style& style_;
  std::string out_;
};

std::string with_line_ends(std::string_view body, std::string_view end) {
  std::string out;
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '\r' && i + 1 < body.size() && body[i + 1] == '\n') continue;
    if (body[i] == '\n') {
      out += end;
    } else {
      out += body[i];
    }
  }
  return out;
}

class Collector {
 public:
  explicit Collector(std::string_view body) : body_(body) {}

  void add(std::string variant, std::string change) {
    if (variant == body_) return;
    for (const auto& known : variants_) {
      if (known.body == variant) return;
    }
    variants_.push_back({std::move(variant), std::move(change)});
  }

  void add_newlines() {
    std::string_view bare = body_;
    while (bare.ends_with('\n') || bare.ends_with('\r')) bare.remove_suffix(1);
    add(std::string{bare}, "a newline was added at its end");
    add(std::string{bare} + "\n", "the newline at its end was taken off");
    add(std::string{bare} + "\r\n", "the CRLF at its end was taken off or changed to LF");
    add(with_line_ends(body_, "\n"), "its line ends were changed from LF to CRLF");
    add(with_line_ends(body_, "\r\n"), "its line ends were changed from CRLF to LF");
  }

  void add_byte_order_marks() {
    if (body_.starts_with(kByteOrderMark)) {
      add(std::string{body_.substr(kByteOrderMark.size())}, "a byte order mark was put before it");
    } else {
      add(std::string{kByteOrderMark} + std::string{body_}, "its byte order mark was taken off");
    }
  }

  void add_rewritten() {
    if (body_.size() > kRewrittenBytesMax) return;
    const auto parsed = parse_json(body_);
    const auto* document = std::get_if<JsonDocument>(&parsed);
    if (document == nullptr) return;
    for (const auto& style : kStyles) {
      const auto change = std::string{kReEncoded} + ": " + std::string{style.change};
      auto text = Writer{style}.write(document->root);
      add(text, change);
      add(std::move(text) + "\n", change + ", with a newline at its end");
    }
  }

  std::vector<BodyVariant> take() { return std::move(variants_); }

 private:
  std::string_view body_;
  std::vector<BodyVariant> variants_;
};

}  // namespace

std::vector<BodyVariant> body_variants(std::string_view body) {
  Collector collector{body};
  collector.add_newlines();
  collector.add_byte_order_marks();
  collector.add_rewritten();
  return collector.take();
}

}  // namespace hookgate
