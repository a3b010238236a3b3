#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "domain/event.h"
#include "domain/http_message.h"
#include "domain/json.h"
#include "domain/provider.h"
#include "domain/secret.h"
#include "domain/time.h"
#include "domain/verdict.h"

namespace hookgate {

// What providers share. All pure; any thread.

inline constexpr std::size_t kEventIdBytesMax = 255;
inline constexpr std::size_t kTextBytesMax = 255;  // of an event's type, scope and subject

// Limits of a header that lists signatures. Senders use two elements, while secrets rotate.
inline constexpr std::size_t kSignatureHeaderBytesMax = 4096;
inline constexpr std::size_t kSignatureElementsMax = 16;

// Throws InvalidProviderSettings unless there is a secret and each is free of white space and
// control characters: those come from a broken copy, and would never match.
void require_secrets(const std::vector<Secret>& secrets);

// Throws InvalidProviderSettings unless the tolerance is positive: none would mean "never too old".
void require_tolerance(std::chrono::seconds tolerance);

// Refuses what was signed more than `tolerance` before or after `now`, compared in whole seconds;
// the edge itself is inside.
std::optional<Rejected> judge_age(SystemTime sent_at, SystemTime now,
                                  std::chrono::seconds tolerance);

// The value of a header that must come once: nothing and blanks are kSignatureMissing, several
// lines kSignatureMalformed. Blanks around the value are stripped.
std::variant<std::string_view, Rejected> single_header(const InboundRequest& request,
                                                       std::string_view name);

// The refusal in what a check gave, if it gave one.
template <typename Passed>
std::optional<Rejected> rejection_in(const std::variant<Passed, Rejected>& judged) {
  const auto* rejected = std::get_if<Rejected>(&judged);
  return rejected == nullptr ? std::nullopt : std::optional{*rejected};
}

std::string_view strip_blanks(std::string_view text);

// Removes every header of that name, then adds this one.
void set_header(InboundRequest& request, std::string_view name, std::string value);

// 1 to 255 bytes without NUL. JSON texts are valid UTF-8 already.
bool is_usable_id(std::string_view id);

// Texts joined so that no boundary can shift: the length of each goes before it.
std::string join_with_lengths(std::initializer_list<std::string_view> parts);
std::string join_with_lengths(const std::vector<std::string>& parts);

// "sha256:" and the hex digest of the bytes: the id of what brings none.
std::string hashed_id(std::string_view bytes);

// The one event of an authentic body nobody can use.
NewEvent unusable_event(std::string_view body, std::string reason);

// A text member made fit for a column; "" if it is no text.
std::string text_of(const Json& value);

}  // namespace hookgate
