#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <string>

#include "domain/time.h"

namespace hookgate {

// Numbers as PostgreSQL's binary formats have them.

template <std::signed_integral Number>
void put_big_endian(std::string& bytes, std::size_t at, Number number) {
  for (std::size_t i = sizeof number; i-- > 0;) {
    bytes[at + i] = static_cast<char>(number);
    number = static_cast<Number>(number >> 8);
  }
}

template <std::signed_integral Number>
void append_big_endian(std::string& bytes, Number number) {
  bytes.resize(bytes.size() + sizeof number);
  put_big_endian(bytes, bytes.size() - sizeof number, number);
}

// PostgreSQL counts microseconds from 2000-01-01.
inline std::int64_t postgres_microseconds(SystemTime instant) {
  constexpr auto kEpoch = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};
  return (instant - SystemTime{kEpoch}).count();
}

}  // namespace hookgate
