#include <array>
#include <string>

#include "config_values.h"
#include "crypto/encoding.h"
#include "domain/ip_network.h"
#include "domain/text.h"
#include "domain/time.h"
#include "fuzz_target.h"

// Any text as each kind of value: what is taken is written out and read again; what is suggested is
// taken.

namespace hookgate {
namespace {

void check_duration(std::string_view text) {
  if (const auto duration = parse_duration(text); duration && !text.starts_with('-')) {
    require(duration->count() >= 0, "a duration without a sign is not negative");
    require(parse_duration(format_duration(*duration)) == duration, "a duration is read again");
  }
  if (const auto suggestion = suggest_duration(text)) {
    require(parse_duration(*suggestion).has_value(), "a suggested duration is one");
  }
}

void check_size(std::string_view text) {
  if (const auto size = parse_size(text); size && !text.starts_with('-')) {
    require(*size >= 0, "a size without a sign is not negative");
    require(parse_size(format_size(*size)) == size, "a size is read again");
  }
  if (const auto suggestion = suggest_size(text)) {
    require(parse_size(*suggestion).has_value(), "a suggested size is one");
  }
}

void check_listen_address(std::string_view text) {
  if (const auto address = parse_listen_address(text)) {
    require(!address->host.empty(), "an address has a host");
    address->is_loopback();
  }
  if (const auto suggestion = suggest_listen_address(text)) {
    require(parse_listen_address(*suggestion).has_value(), "a suggested address is one");
  }
}

void check_network(std::string_view text) {
  const auto address = IpAddress::parse(text);
  if (address) require(IpAddress::parse(address->text()) == address, "an address is read again");
  const auto network = IpNetwork::parse(text);
  if (!network) return;
  const auto again = IpNetwork::parse(network->text());
  require(again && again->text() == network->text(), "a network is read again");
  if (address) require(network->contains(*address), "an address alone is in its network");
}

void check_time(std::string_view text) {
  if (const auto seconds = parse_unix_seconds(text)) {
    require(std::to_string(unix_seconds(*seconds)) == text, "unix seconds have one text");
  }
  const auto instant = parse_instant(text);
  if (!instant) return;
  // An offset may lead out of the four-digit years, which cannot be written.
  const auto written = format_instant(*instant);
  const auto again = parse_instant(written);
  require(written.find('-') != 4 || again == instant, "an instant is read again");
}

void check_encodings(std::string_view text) {
  if (const auto bytes = base64_decode(text)) {
    require(base64_encode(*bytes) == text, "bytes have one base64 text");
  }
  if (const auto bytes = hex_decode(text)) {
    require(bytes->size() * 2 == text.size(), "a byte is two hex digits");
    require(hex_decode(hex_encode(*bytes)) == bytes, "hex is read again");
  }
  require(base64_decode(base64_encode(text)) == text, "base64 is read again");
}

void check_texts(std::string_view text) {
  constexpr std::size_t kBytesMax = 16;
  const auto cleaned = clean_text(text, kBytesMax);
  require(cleaned.size() <= kBytesMax && is_valid_utf8(cleaned), "a cleaned text fits");
  require(cleaned.find('\0') == std::string::npos, "a cleaned text holds no NUL");
  constexpr std::array<std::string_view, 3> kWords{"secrets", "request_timeout", "url"};
  nearest(text, kWords);
  require(!is_block_name(text) || !is_blank(text), "a name is not blank");
}

}  // namespace

void fuzz_one(std::string_view bytes) {
  check_duration(bytes);
  check_size(bytes);
  check_listen_address(bytes);
  check_network(bytes);
  check_time(bytes);
  check_encodings(bytes);
  check_texts(bytes);
}

}  // namespace hookgate
