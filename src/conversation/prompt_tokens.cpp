// Finding control tokens in the template's own text and encoding what lies between.
// Follows llama.cpp's order: the longest control token first, each searched from left to right.
#include "conversation/prompt_tokens.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace owml {
namespace {

// Half-open range of bytes, either text or one control token.
struct Fragment {
  size_t begin = 0;
  size_t end = 0;
  std::optional<uint32_t> control;
};

bool IsSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// True when [begin, end) lies inside one part of the template. `borders` are the ends of the parts.
class TemplateRanges {
 public:
  explicit TemplateRanges(const std::vector<PromptPart>& parts) {
    size_t at = 0;
    for (const PromptPart& part : parts) {
      if (part.text.empty()) continue;
      // Neighbours of one kind are one range.
      if (!ranges_.empty() && part.from_template && ranges_.back().end == at) {
        ranges_.back().end = at + part.text.size();
      } else if (part.from_template) {
        ranges_.push_back({at, at + part.text.size()});
      }
      at += part.text.size();
    }
  }

  bool Contains(size_t begin, size_t end) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), begin,
                                        [](size_t value, const Range& range) { return value < range.begin; });
    return after != ranges_.begin() && end <= std::prev(after)->end;
  }

 private:
  struct Range {
    size_t begin;
    size_t end;
  };
  std::vector<Range> ranges_;
};

// Splits each text fragment at the occurrences of `control` that the template wrote.
std::vector<Fragment> SplitAt(const std::vector<Fragment>& fragments, const Vocabulary::Control& control,
                              std::string_view text, const TemplateRanges& ranges) {
  std::vector<Fragment> result;
  for (const Fragment& fragment : fragments) {
    if (fragment.control) {
      result.push_back(fragment);
      continue;
    }
    size_t begin = fragment.begin;
    for (size_t search = begin;;) {
      const size_t at = text.substr(0, fragment.end).find(control.text, search);
      if (at == std::string_view::npos) break;
      const size_t end = at + control.text.size();
      if (!ranges.Contains(at, end)) {
        search = at + 1;
        continue;
      }
      size_t left = at;
      while (control.strips_left && left > begin && IsSpace(text[left - 1])) --left;
      if (left > begin) result.push_back({begin, left, std::nullopt});
      result.push_back({at, end, control.id});
      begin = end;
      while (control.strips_right && begin < fragment.end && IsSpace(text[begin])) ++begin;
      search = begin;
    }
    if (begin < fragment.end) result.push_back({begin, fragment.end, std::nullopt});
  }
  return result;
}

}  // namespace

std::vector<uint32_t> EncodePrompt(const Vocabulary& vocabulary, const std::vector<PromptPart>& parts) {
  std::string text, written;  // all of it, and the template's share
  for (const PromptPart& part : parts) {
    text += part.text;
    if (part.from_template) written += part.text;
  }
  const TemplateRanges ranges(parts);
  std::vector<Fragment> fragments;
  if (!text.empty()) fragments.push_back({0, text.size(), std::nullopt});
  for (const Vocabulary::Control& control : vocabulary.controls()) {
    // Most vocabularies have hundreds of control tokens and a template uses a handful.
    if (written.find(control.text) != std::string::npos) fragments = SplitAt(fragments, control, text, ranges);
  }

  std::vector<uint32_t> ids;
  for (const Fragment& fragment : fragments) {
    if (fragment.control) {
      ids.push_back(*fragment.control);
      continue;
    }
    const auto encoded =
        vocabulary.Encode(std::string_view(text).substr(fragment.begin, fragment.end - fragment.begin), false, false);
    ids.insert(ids.end(), encoded.begin(), encoded.end());
  }
  return ids;
}

}  // namespace owml
