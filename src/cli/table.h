#pragma once

#include <string>
#include <vector>

namespace hookgate {

// Aligned columns with a heading; columns named in `right` are set flush right. Widths count
// characters, not bytes. Control characters of outside text are shown as '?', so that a terminal
// obeys none.
class Table {
 public:
  explicit Table(std::vector<std::string> headings, std::vector<std::size_t> right = {});
  void add(std::vector<std::string> cells);
  // Every line ends with a newline.
  std::string text() const;
  bool empty() const { return rows_.empty(); }

 private:
  std::vector<std::string> headings_;
  std::vector<std::size_t> right_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace hookgate
