#include "cli/table.h"

#include <algorithm>

#include "domain/text.h"

namespace hookgate {
namespace {

constexpr std::size_t kCellBytesMax = 120;

std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string shown(const std::string& cell) {
  auto text = clean_text(cell, kCellBytesMax);
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return text;
}

}  // namespace

Table::Table(std::vector<std::string> headings, std::vector<std::size_t> right)
    : headings_(std::move(headings)), right_(std::move(right)) {}

void Table::add(std::vector<std::string> cells) {
  for (auto& cell : cells) cell = shown(cell);
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& heading : headings_) widths.push_back(width_of(heading));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::string out;
  const auto append = [&](const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string padding(widths[i] - width_of(cells[i]), ' ');
      const bool flush_right = std::ranges::find(right_, i) != right_.end();
      line += (i > 0 ? "  " : "") + (flush_right ? padding + cells[i] : cells[i] + padding);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  append(headings_);
  for (const auto& row : rows_) append(row);
  return out;
}

}  // namespace hookgate
