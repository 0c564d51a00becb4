// What the commands print with: colour when the stream is a terminal, tables, byte counts, a waiting line.
// Results go to standard output, everything else to standard error.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace owml::cli {

// Colours are off when the stream is no terminal, when NO_COLOR is set, or after SetColor(false).
void SetColor(bool allowed);
bool UseColor(std::FILE* stream);

enum class Style { kPlain, kBold, kDim, kRed, kGreen, kYellow, kCyan };
std::string Styled(std::FILE* stream, Style style, const std::string& text);

// One line on standard error.
void Note(Style style, const std::string& text);

// The line with which a failing command ends, on standard error.
void PrintError(const std::string& sentence);

// Text from a file on one line: control characters shown as '.', line ends as \n, cut at `limit` characters.
std::string OneLine(std::string_view text, size_t limit);

// Writes text of a model as it comes. On a terminal its control characters, other than line ends and tabs, are shown as
// '.', so that a model cannot steer the terminal; a file or pipe gets every byte.
void WriteText(std::FILE* stream, const std::string& text);

// Left-aligned columns, except those marked right-aligned, under a bold header row.
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

// Runs `work`; when it takes longer than a moment and standard error is a terminal, shows `label` and the time.
void WithWaiting(const std::string& label, const std::function<void()>& work);

// A bar on standard error that is drawn over itself; nothing where that is no terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();  // wipes it away
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // `label` is shown behind the bar, cut at 40 columns.
  void Show(uint64_t done, uint64_t total, const std::string& label);

 private:
  bool terminal_;
  bool shown_ = false;
};

// Columns that a UTF-8 text takes on a terminal: two for East Asian wide characters, none for combining ones.
size_t DisplayWidth(std::string_view text);

}  // namespace owml::cli
