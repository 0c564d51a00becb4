// The four Unicode normalization forms, with the versions of the tables that tokenizers use.
// Used by the normalizers of tokenizer files.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace owml::text {

enum class NormalizationForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };

// A character of the result and the bytes that it came from.
struct NormalizedCharacter {
  char32_t code = 0;
  size_t begin = 0;
  size_t end = 0;
};

// Walks well-formed text from segment to segment. A segment either stays as it is or is given as its new characters.
class NormalizationWalk {
 public:
  NormalizationWalk(std::string_view text, NormalizationForm form);

  struct Segment {
    size_t begin = 0;
    size_t end = 0;
    bool unchanged = true;
    const std::vector<NormalizedCharacter>* characters = nullptr;  // when changed; until the next call
  };
  // False at the end.
  bool Next(Segment* segment);

 private:
  void Normalize(size_t begin, size_t end);

  std::string_view text_;
  NormalizationForm form_;
  uint8_t critical_;
  size_t at_ = 0;
  size_t changed_end_ = 0;  // of the segment that waits behind an unchanged one
  bool waiting_ = false;
  std::vector<NormalizedCharacter> characters_;
  std::vector<uint8_t> classes_;
};

}  // namespace owml::text
