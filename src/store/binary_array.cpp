#include "store/binary_array.h"

#include "store/big_endian.h"

namespace hookgate {
namespace {

constexpr std::int32_t kNullLength = -1;

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
  add(postgres_microseconds(instant));
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
