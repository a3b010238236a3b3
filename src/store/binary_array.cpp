#include "store/binary_array.h"

#include <chrono>

namespace hookgate {
namespace {

template <typename Number>
void append_big_endian(std::string& out, Number number) {
  for (int shift = (static_cast<int>(sizeof(Number)) - 1) * 8; shift >= 0; shift -= 8) {
    out += static_cast<char>((static_cast<std::uint64_t>(number) >> static_cast<unsigned>(shift)) &
                             0xFFU);
  }
}

constexpr std::int32_t kNullLength = -1;
// PostgreSQL counts microseconds from 2000-01-01.
constexpr auto kPostgresEpoch = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};

}  // namespace

void BinaryArray::add(std::string_view bytes) {
  append_big_endian(elements_, static_cast<std::int32_t>(bytes.size()));
  elements_ += bytes;
  ++count_;
}

void BinaryArray::add(std::int64_t number) {
  append_big_endian(elements_, std::int32_t{8});
  append_big_endian(elements_, number);
  ++count_;
}

void BinaryArray::add(SystemTime instant) {
  add(static_cast<std::int64_t>((instant - SystemTime{kPostgresEpoch}).count()));
}

void BinaryArray::add_null() {
  append_big_endian(elements_, kNullLength);
  ++count_;
}

void BinaryArray::add(const std::optional<SystemTime>& instant) {
  if (instant) {
    add(*instant);
  } else {
    add_null();
  }
}

std::string BinaryArray::finish() const {
  std::string out;
  out.reserve(20 + elements_.size());
  append_big_endian(out, std::int32_t{1});
  append_big_endian(out, std::int32_t{1});  // may hold NULLs
  append_big_endian(out, element_oid_);
  append_big_endian(out, count_);
  append_big_endian(out, std::int32_t{1});
  return out + elements_;
}

}  // namespace hookgate
