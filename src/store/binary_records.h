#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "domain/time.h"

namespace hookgate {

// An array of one composite type in the wire's binary form: one parameter carries all rows that a
// statement takes apart with unnest(). One such array costs a statement a fifth of what an array
// for each column does.
// Layout of an element: be32 fields, then for each be32 type oid, be32 length (-1 for NULL) and its
// bytes. Source: record_send in PostgreSQL's rowtypes.c.
class BinaryRecords {
 public:
  // `record_oid`: the composite type's; every record must be given just its `fields`.
  BinaryRecords(std::int32_t record_oid, std::int32_t fields);

  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }

  void begin_record();
  void add_bigint(std::int64_t number);
  void add_text(std::string_view text);
  void add_null_text();
  void add_bytea(std::string_view bytes);
  void add_timestamptz(const std::optional<SystemTime>& instant);

  // The parameter's bytes; good until the next call.
  const std::string& finish();

 private:
  void end_record();
  void add_field(std::int32_t type_oid, std::string_view bytes);

  std::int32_t fields_;
  std::int32_t count_ = 0;
  std::size_t record_at_ = 0;  // of the open record's length; 0: none is open
  std::string bytes_;
};

}  // namespace hookgate
