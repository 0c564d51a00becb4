// The normalizers of tokenizer files: rewriting of a text before it is cut.
// Made by the readers of tokenizer files, called by the Tokenizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "text/tokenizer/aligned_text.h"
#include "text/unicode/normalization.h"
#include "text/unicode/regex.h"

namespace owml::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void Apply(AlignedText* text) const = 0;
};

using NormalizerPtr = std::unique_ptr<const Normalizer>;

NormalizerPtr MakeNormalizerSequence(std::vector<NormalizerPtr> steps);
NormalizerPtr MakeUnicodeNormalizer(NormalizationForm form);
NormalizerPtr MakeLowercase();
NormalizerPtr MakeStrip(bool left, bool right);
NormalizerPtr MakeStripAccents();
NormalizerPtr MakeReplace(Regex pattern, std::string content);
NormalizerPtr MakePrepend(std::string text);
NormalizerPtr MakeNmt();

struct BertNormalizerOptions {
  bool clean_text = true;
  bool handle_chinese_chars = true;
  bool strip_accents = true;
  bool lowercase = true;
};
NormalizerPtr MakeBertNormalizer(const BertNormalizerOptions& options);

// A text in the alphabet of bytes.
NormalizerPtr MakeByteLevelNormalizer();

}  // namespace owml::text
