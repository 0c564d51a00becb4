// Regular expressions over UTF-8 as tokenizer files write them: the language of Oniguruma, without back references.
// Used by the pre-tokenizers, the normalizers and the decoders. Matching backtracks on a stack of its own and stops
// with an error after a number of steps that grows with the text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace owml::text {

class RegexProgram;

struct RegexMatch {
  size_t begin = 0;
  size_t end = 0;
};

class Regex {
 public:
  // Throws ERROR_INVALID_DATA naming `label`, the pattern and what is wrong at which byte of it.
  static Regex Compile(std::string_view pattern, const std::string& label);
  // Matches `text` itself.
  static Regex Literal(std::string_view text);

  const std::string& pattern() const { return pattern_; }

 private:
  friend class RegexMatcher;

  std::string pattern_;
  std::shared_ptr<const RegexProgram> program_;
};

// The matches of one expression in texts, one after the other: never two at one place, never an empty one directly
// behind another match. `regex` must outlive it. Keeps its memory from text to text; not for two threads at once.
class RegexMatcher {
 public:
  explicit RegexMatcher(const Regex& regex);
  ~RegexMatcher();
  RegexMatcher(const RegexMatcher&) = delete;
  RegexMatcher& operator=(const RegexMatcher&) = delete;

  // `text` is well-formed and must stay until the last match was taken.
  void Start(std::string_view text);
  // Throws E_INVALIDARG when the expression takes too many steps.
  std::optional<RegexMatch> Next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace owml::text
