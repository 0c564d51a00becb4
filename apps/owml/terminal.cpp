// Colour, tables and the waiting line.
// Used by every command.
#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <openwinml/strings.hpp>
#include <thread>

namespace owml::cli {
namespace {

bool color_allowed = true;

std::u32string CodePoints(std::string_view text) {
  std::u32string points;
  for (size_t at = 0; at < text.size();) points += openwinml::detail::NextFromUtf8(text, at);
  return points;
}

bool IsControl(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

// The wide ranges of Unicode's East Asian Width, coarsely; combining marks of the common blocks.
size_t ColumnsOf(char32_t c) {
  static constexpr struct {
    char32_t first, last;
    size_t columns;
  } kRanges[] = {{0x300, 0x36F, 0},     {0x200B, 0x200F, 0},  {0x20D0, 0x20FF, 0}, {0xFE00, 0xFE0F, 0},
                 {0x1100, 0x115F, 2},   {0x2E80, 0xA4CF, 2},  {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2},
                 {0xFE30, 0xFE6F, 2},   {0xFF00, 0xFF60, 2},  {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1F64F, 2},
                 {0x1F900, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2}};
  for (const auto& range : kRanges) {
    if (c >= range.first && c <= range.last) return range.columns;
  }
  return 1;
}

bool IsTerminal(std::FILE* stream) { return ::isatty(::fileno(stream)) == 1; }

const char* CodeOf(Style style) {
  switch (style) {
    case Style::kBold:
      return "\x1b[1m";
    case Style::kDim:
      return "\x1b[2m";
    case Style::kRed:
      return "\x1b[31m";
    case Style::kGreen:
      return "\x1b[32m";
    case Style::kYellow:
      return "\x1b[33m";
    case Style::kCyan:
      return "\x1b[36m";
    case Style::kPlain:
      break;
  }
  return "";
}

}  // namespace

void SetColor(bool allowed) { color_allowed = allowed; }

bool UseColor(std::FILE* stream) {
  const char* no_color = std::getenv("NO_COLOR");
  return color_allowed && !(no_color && *no_color) && IsTerminal(stream);
}

std::string Styled(std::FILE* stream, Style style, const std::string& text) {
  if (style == Style::kPlain || !UseColor(stream)) return text;
  return CodeOf(style) + text + "\x1b[0m";
}

void Note(Style style, const std::string& text) { std::fprintf(stderr, "%s\n", Styled(stderr, style, text).c_str()); }

void PrintError(const std::string& sentence) {
  std::fprintf(stderr, "%s %s\n", Styled(stderr, Style::kRed, "owml:").c_str(), sentence.c_str());
}

std::string OneLine(std::string_view text, size_t limit) {
  std::string line;
  size_t count = 0;
  for (const char32_t c : CodePoints(text.substr(0, limit * 4))) {
    if (++count > limit) return line + "...";
    if (c == '\n') {
      line += "\\n";
    } else if (IsControl(c)) {
      line += '.';
    } else {
      openwinml::detail::AppendUtf8(line, c);
    }
  }
  return line;
}

void WriteText(std::FILE* stream, const std::string& text) {
  if (!IsTerminal(stream)) {
    std::fwrite(text.data(), 1, text.size(), stream);
  } else {
    std::string shown;
    for (const char32_t c : CodePoints(text)) {
      openwinml::detail::AppendUtf8(shown, IsControl(c) && c != '\n' && c != '\t' ? U'.' : c);
    }
    std::fwrite(shown.data(), 1, shown.size(), stream);
  }
  std::fflush(stream);
}

size_t DisplayWidth(std::string_view text) {
  size_t width = 0;
  for (const char32_t c : CodePoints(text)) width += ColumnsOf(c);
  return width;
}

Table::Table(std::vector<std::string> header) : header_(std::move(header)), right_(header_.size(), false) {}

Table& Table::AlignRight(size_t column) {
  right_[column] = true;
  return *this;
}

void Table::Add(std::vector<std::string> row) {
  row.resize(header_.size());
  rows_.push_back(std::move(row));
}

void Table::Print(std::FILE* stream) const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < header_.size(); ++i) {
    size_t width = DisplayWidth(header_[i]);
    for (const auto& row : rows_) width = std::max(width, DisplayWidth(row[i]));
    widths.push_back(width);
  }
  auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string pad(widths[i] - DisplayWidth(cells[i]), ' ');
      if (i) text += "  ";
      text += right_[i] ? pad + cells[i] : i + 1 == cells.size() ? cells[i] : cells[i] + pad;
    }
    return text;
  };
  std::fprintf(stream, "%s\n", Styled(stream, Style::kBold, line(header_)).c_str());
  for (const auto& row : rows_) std::fprintf(stream, "%s\n", line(row).c_str());
}

std::string HumanBytes(uint64_t bytes) {
  static const char* const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string Grouped(uint64_t value) {
  std::string text = std::to_string(value);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, " ");
  }
  return text;
}

void WithWaiting(const std::string& label, const std::function<void()>& work) {
  if (!IsTerminal(stderr)) {
    work();
    return;
  }
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread display([&] {
    const auto start = std::chrono::steady_clock::now();
    bool shown = false;
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(shown ? 200 : 500), [&] { return done; })) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      std::fprintf(stderr, "\r\x1b[K%s",
                   Styled(stderr, Style::kDim, fmt::format("{} {:.1f} s", label, seconds)).c_str());
      std::fflush(stderr);
      shown = true;
    }
    if (shown) std::fprintf(stderr, "\r\x1b[K");
  });
  auto finish = [&] {
    {
      const std::lock_guard lock(mutex);
      done = true;
    }
    changed.notify_one();
    display.join();
  };
  try {
    work();
  } catch (...) {
    finish();
    throw;
  }
  finish();
}

ProgressBar::ProgressBar() : terminal_(IsTerminal(stderr)) {}

ProgressBar::~ProgressBar() {
  if (shown_) std::fprintf(stderr, "\r\x1b[K");
}

void ProgressBar::Show(uint64_t done, uint64_t total, const std::string& label) {
  if (!terminal_ || total == 0) return;
  constexpr uint64_t kWidth = 30;
  const uint64_t filled = std::min(done, total) * kWidth / total;
  std::string bar;
  for (uint64_t i = 0; i < kWidth; ++i) bar += i < filled ? "\u2588" : "\u2591";
  const std::string counts = fmt::format("{}/{} {}", done, total, OneLine(label, 40));
  std::fprintf(stderr, "\r\x1b[K%s %s", Styled(stderr, Style::kCyan, bar).c_str(),
               Styled(stderr, Style::kDim, counts).c_str());
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace owml::cli
