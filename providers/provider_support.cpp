#include "providers/provider_support.h"

#include <algorithm>

#include "crypto/digest.h"
#include "crypto/encoding.h"
#include "domain/text.h"

namespace hookgate {
namespace {

constexpr std::string_view kBlanks = " \t";

bool is_space_or_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= 0x20 || byte == 0x7F;
}

std::string id_of(const Digest& digest) {
  return "sha256:" + hex_encode(bytes_of(digest));
}

void append_with_length(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

}  // namespace

void require_secrets(const std::vector<Secret>& secrets) {
  if (secrets.empty()) throw InvalidProviderSettings(-1, "no secret is configured");
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const auto& text = secrets[i].reveal();
    const auto index = static_cast<int>(i);
    if (std::ranges::all_of(text, is_space_or_control)) {
      throw InvalidProviderSettings(index, "the secret is empty");
    }
    if (std::ranges::any_of(text, is_space_or_control)) {
      throw InvalidProviderSettings(index, "the secret holds white space or a control character");
    }
  }
}

void require_tolerance(std::chrono::seconds tolerance) {
  if (tolerance <= std::chrono::seconds{0}) {
    throw InvalidProviderSettings(-1, "the tolerance must be longer than zero");
  }
}

std::optional<Rejected> judge_age(SystemTime sent_at, SystemTime now,
                                  std::chrono::seconds tolerance) {
  const auto age = std::chrono::seconds{unix_seconds(now) - unix_seconds(sent_at)};
  if (age > tolerance) {
    return Rejected{RejectReason::kTimestampTooOld,
                    "signed " + std::to_string(age.count()) + " s ago"};
  }
  if (-age > tolerance) {
    return Rejected{RejectReason::kTimestampInFuture,
                    "signed " + std::to_string(-age.count()) + " s ahead of our clock"};
  }
  return std::nullopt;
}

std::variant<std::string_view, Rejected> single_header(const InboundRequest& request,
                                                       std::string_view name) {
  const auto value = strip_blanks(request.header(name).value_or(""));
  if (request.header_count(name) > 1) {
    return Rejected{RejectReason::kSignatureMalformed,
                    "several lines of header " + std::string{name}};
  }
  if (value.empty()) {
    return Rejected{RejectReason::kSignatureMissing, "no header " + std::string{name}};
  }
  return value;
}

std::string_view strip_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

void set_header(InboundRequest& request, std::string_view name, std::string value) {
  std::erase_if(request.headers,
                [&](const Header& header) { return equal_ignoring_case(header.name, name); });
  request.headers.push_back({std::string{name}, std::move(value)});
}

bool is_usable_id(std::string_view id) {
  return !id.empty() && id.size() <= kEventIdBytesMax && id.find('\0') == std::string_view::npos;
}

std::string join_with_lengths(std::initializer_list<std::string_view> parts) {
  std::string out;
  for (const auto part : parts) append_with_length(out, part);
  return out;
}

std::string join_with_lengths(const std::vector<std::string>& parts) {
  std::string out;
  for (const auto& part : parts) append_with_length(out, part);
  return out;
}

std::string hashed_id(std::string_view bytes) {
  return id_of(sha256(bytes));
}

NewEvent unusable_event(std::string_view body, std::string reason) {
  NewEvent event;
  event.content = sha256(body);
  event.event_id = id_of(event.content);
  event.signed_content = event.content;
  event.unusable = std::move(reason);
  return event;
}

std::string text_of(const Json& value) {
  return clean_text(value.string().value_or(""), kTextBytesMax);
}

}  // namespace hookgate
