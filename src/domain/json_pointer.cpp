#include "domain/json_pointer.h"

#include <charconv>
#include <cstddef>
#include <utility>

namespace hookgate {
namespace {

std::optional<std::string> unescaped(std::string_view token) {
  std::string name;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '~') {
      name += token[i];
      continue;
    }
    if (++i == token.size() || (token[i] != '0' && token[i] != '1')) return std::nullopt;
    name += token[i] == '0' ? '~' : '/';
  }
  return name;
}

// "0", or digits without a leading zero.
std::optional<std::size_t> index_of(std::string_view token) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  std::size_t index = 0;
  const auto* const end = token.data() + token.size();
  const auto [stop, error] = std::from_chars(token.data(), end, index);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return index;
}

std::optional<Json> member(const Json& object, std::string_view name) {
  std::optional<Json> found;
  for (const auto& [key, value] : object.members())
    if (key == name) found = value;
  return found;
}

std::optional<Json> element(const Json& array, std::string_view token) {
  const auto index = index_of(token);
  const auto elements = array.elements();
  if (!index || *index >= elements.size()) return std::nullopt;
  return elements[*index];
}

}  // namespace

std::optional<JsonPointer> JsonPointer::parse(std::string_view text) {
  JsonPointer pointer;
  if (text.empty()) return pointer;
  if (text.front() != '/') return std::nullopt;
  for (std::size_t begin = 1;;) {
    const auto end = text.find('/', begin);
    auto token = unescaped(text.substr(begin, end - begin));
    if (!token) return std::nullopt;
    pointer.tokens_.push_back(*std::move(token));
    if (end == std::string_view::npos) return pointer;
    begin = end + 1;
  }
}

std::optional<Json> JsonPointer::find(const Json& root) const {
  std::optional<Json> value = root;
  for (const auto& token : tokens_) {
    value = value->is_array() ? element(*value, token) : member(*value, token);
    if (!value) return std::nullopt;
  }
  return value;
}

}  // namespace hookgate
