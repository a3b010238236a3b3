#include "store/binary_records.h"

#include "store/big_endian.h"

namespace hookgate {
namespace {

constexpr std::int32_t kByteaOid = 17;
constexpr std::int32_t kBigintOid = 20;
constexpr std::int32_t kTextOid = 25;
constexpr std::int32_t kTimestamptzOid = 1184;
constexpr std::int32_t kNullLength = -1;

constexpr std::size_t kCountAt = 12;  // in the array's head
constexpr std::size_t kLengthBytes = 4;

}  // namespace

BinaryRecords::BinaryRecords(std::int32_t record_oid, std::int32_t fields) : fields_(fields) {
  append_big_endian(bytes_, std::int32_t{1});  // dimensions
  append_big_endian(bytes_, std::int32_t{0});  // no NULL among the records
  append_big_endian(bytes_, record_oid);
  append_big_endian(bytes_, std::int32_t{0});  // their count, known at the end
  append_big_endian(bytes_, std::int32_t{1});  // lower bound
}

void BinaryRecords::begin_record() {
  end_record();
  record_at_ = bytes_.size();
  append_big_endian(bytes_, std::int32_t{0});
  append_big_endian(bytes_, fields_);
  ++count_;
}

void BinaryRecords::end_record() {
  if (record_at_ == 0) return;
  const auto length = static_cast<std::int32_t>(bytes_.size() - record_at_ - kLengthBytes);
  put_big_endian(bytes_, record_at_, length);
  record_at_ = 0;
}

void BinaryRecords::add_field(std::int32_t type_oid, std::string_view bytes) {
  append_big_endian(bytes_, type_oid);
  append_big_endian(bytes_, static_cast<std::int32_t>(bytes.size()));
  bytes_ += bytes;
}

void BinaryRecords::add_bigint(std::int64_t number) {
  append_big_endian(bytes_, kBigintOid);
  append_big_endian(bytes_, std::int32_t{sizeof number});
  append_big_endian(bytes_, number);
}

void BinaryRecords::add_text(std::string_view text) {
  add_field(kTextOid, text);
}

void BinaryRecords::add_null_text() {
  append_big_endian(bytes_, kTextOid);
  append_big_endian(bytes_, kNullLength);
}

void BinaryRecords::add_bytea(std::string_view bytes) {
  add_field(kByteaOid, bytes);
}

void BinaryRecords::add_timestamptz(const std::optional<SystemTime>& instant) {
  append_big_endian(bytes_, kTimestamptzOid);
  if (!instant) return append_big_endian(bytes_, kNullLength);
  append_big_endian(bytes_, std::int32_t{sizeof(std::int64_t)});
  append_big_endian(bytes_, postgres_microseconds(*instant));
}

const std::string& BinaryRecords::finish() {
  end_record();
  put_big_endian(bytes_, kCountAt, count_);
  return bytes_;
}

}  // namespace hookgate
