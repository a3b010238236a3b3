#include "domain/http_message.h"

#include <algorithm>

namespace hookgate {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view InboundRequest::path() const {
  return std::string_view{target}.substr(0, target.find('?'));
}

std::optional<std::string_view> InboundRequest::header(std::string_view name) const {
  for (const auto& header : headers) {
    if (equal_ignoring_case(header.name, name)) return header.value;
  }
  return std::nullopt;
}

std::size_t InboundRequest::header_count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      headers, [&](const Header& header) { return equal_ignoring_case(header.name, name); }));
}

}  // namespace hookgate
