#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz_target.h"

// The name and form that libFuzzer asks for. NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto* bytes = reinterpret_cast<const char*>(data);
  hookgate::fuzz_one(size == 0 ? std::string_view{} : std::string_view{bytes, size});
  return 0;
}
