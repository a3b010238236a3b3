#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

#include "fuzz_target.h"

// Runs a target without the fuzzer: once for every file of the folder that is its argument. The
// file's name goes first, so that it is the last line when the target ends the process.
int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs("usage: TARGET_corpus FOLDER\n", stderr);
    return 2;
  }
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{arguments[1], error}) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  if (files.empty()) {
    std::fprintf(stderr, "no corpus in %s\n", arguments[1]);
    return 1;
  }
  std::ranges::sort(files);
  hookgate::fuzz_one("");
  for (const auto& file : files) {
    std::fprintf(stderr, "%s\n", file.filename().c_str());
    std::ifstream in{file, std::ios::binary};
    const std::string bytes{std::istreambuf_iterator<char>{in}, {}};
    hookgate::fuzz_one(bytes);
  }
  std::printf("%zu inputs\n", files.size() + 1);
  return 0;
}
