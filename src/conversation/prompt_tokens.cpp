// Which added tokens of a vocabulary a rendered conversation may hold, by who wrote the text.
// Called by the conversation formatter.
#include "conversation/prompt_tokens.h"

#include <algorithm>
#include <string_view>

#include "text/unicode/utf8.h"

namespace owml {
namespace {

// True when a place lies inside what the template wrote without a break.
class TemplateRanges {
 public:
  void Add(size_t begin, size_t end) {
    // Neighbours are one range.
    if (!ranges_.empty() && ranges_.back().end == begin) {
      ranges_.back().end = end;
    } else {
      ranges_.push_back({begin, end});
    }
  }

  bool Contains(text::Span place) const {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), place.begin,
                                        [](size_t value, const Range& range) { return value < range.begin; });
    return after != ranges_.begin() && place.end <= std::prev(after)->end;
  }

 private:
  struct Range {
    size_t begin;
    size_t end;
  };
  std::vector<Range> ranges_;
};

// Words and white space that a vocabulary holds as whole tokens steer nothing; markup does ("<think>", "[INST]",
// "<|im_end|>"), whether or not the files call it special.
bool IsPlainText(const text::AddedToken& token) {
  if (token.special || token.content.find_first_of("<>[]{}|") != std::string::npos) return false;
  for (const char* bracket : {"\uFF1C", "\uFF1E", "\uFF5C"}) {  // full width, as some vocabularies spell them
    if (token.content.find(bracket) != std::string::npos) return false;
  }
  return true;
}

}  // namespace

std::vector<uint32_t> EncodePrompt(const Vocabulary& vocabulary, const std::vector<PromptPart>& parts) {
  std::string rendered;
  TemplateRanges ranges;
  for (const PromptPart& part : parts) {
    if (part.text.empty()) continue;
    const size_t begin = rendered.size();
    rendered += text::ValidPrefix(part.text) == part.text.size() ? part.text : text::Repaired(part.text);
    if (part.from_template) ranges.Add(begin, rendered.size());
  }
  text::EncodeOptions options;
  options.accepts = [&](const text::AddedToken& token, text::Span place) {
    return ranges.Contains(place) || IsPlainText(token);
  };
  return vocabulary.tokenizer().Encode(rendered, options);
}

}  // namespace owml
