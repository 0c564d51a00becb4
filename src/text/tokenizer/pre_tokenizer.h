// The pre-tokenizers of tokenizer files: where a text is cut before the model sees it.
// Made by the readers of tokenizer files, called by the Tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer/aligned_text.h"
#include "text/unicode/regex.h"

namespace owml::text {

// A text and the pieces it is cut into; what lies between them is dropped.
struct Pieces {
  enum class Form : uint8_t {
    kText,
    kByteAlphabet,  // each character stands for a byte
    kBytes,         // plain text that counts as in the alphabet of bytes: what the last step need not write out
  };

  AlignedText text;
  std::vector<Span> spans;
  Form form = Form::kText;
};

// How a cut treats what the pattern matches.
enum class SplitBehavior : uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  virtual void Apply(Pieces* pieces) const = 0;
};

using PreTokenizerPtr = std::unique_ptr<const PreTokenizer>;

PreTokenizerPtr MakePreTokenizerSequence(std::vector<PreTokenizerPtr> steps);
PreTokenizerPtr MakeSplit(Regex pattern, SplitBehavior behavior, bool invert);
// `last`: no later step looks at the pieces, which may so stay plain.
PreTokenizerPtr MakeByteLevel(bool add_prefix_space, bool use_regex, bool last);
PreTokenizerPtr MakeDigits(bool individual);
PreTokenizerPtr MakePunctuation(SplitBehavior behavior);
PreTokenizerPtr MakeBertPreTokenizer();
PreTokenizerPtr MakeWhitespace();
PreTokenizerPtr MakeWhitespaceSplit();
PreTokenizerPtr MakeCharDelimiterSplit(char32_t delimiter);
PreTokenizerPtr MakeFixedLength(uint32_t length);
PreTokenizerPtr MakeUnicodeScripts();

enum class PrependScheme : uint8_t { kFirst, kNever, kAlways };
PreTokenizerPtr MakeMetaspace(char32_t replacement, PrependScheme scheme, bool split);

// Turns pieces in the alphabet of bytes into the bytes.
void WriteOutBytes(Pieces* pieces);

}  // namespace owml::text
