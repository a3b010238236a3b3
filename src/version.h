#pragma once

namespace hookgate {

// Set by CMake from the project's version.
inline constexpr const char* kVersion = HOOKGATE_VERSION;

}  // namespace hookgate
