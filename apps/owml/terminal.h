// What the commands print with: colour when the stream is a terminal, tables, byte counts, a waiting line.
// Results go to standard output, everything else to standard error.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace owml::cli {

// Colours are off when the stream is no terminal, when NO_COLOR is set, or after SetColor(false).
void SetColor(bool allowed);
bool UseColor(std::FILE* stream);

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kCyan };
std::string Styled(std::FILE* stream, Style style, const std::string& text);

// Left-aligned columns, except those marked right-aligned; prints a header row and a rule.
class Table {
 public:
  explicit Table(std::vector<std::string> header);
  Table& AlignRight(size_t column);
  void Add(std::vector<std::string> row);
  void Print(std::FILE* stream) const;

 private:
  std::vector<std::string> header_;
  std::vector<bool> right_;
  std::vector<std::vector<std::string>> rows_;
};

// "93.8 MiB".
std::string HumanBytes(uint64_t bytes);

// "1 234 567".
std::string Grouped(uint64_t value);

// Runs `work`; when it takes longer than a moment and standard error is a terminal, shows `label` and the seconds so
// far.
void WithWaiting(const std::string& label, const std::function<void()>& work);

// Columns that a UTF-8 text takes on a terminal, by code points.
size_t DisplayWidth(const std::string& text);

}  // namespace owml::cli
