// The vocabulary in a GGUF file as it stands there: tokens with their types and scores, and the ids with a meaning.
// Used by the reader of GGUF tokenizers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/gguf.h"

namespace owml::text {

struct GgufVocabulary {
  // Numbers of the format.
  enum class Type : int32_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

  std::string_view kind;  // 'tokenizer.ggml.model'
  // By id. Texts are the file's and live as long as it.
  std::vector<std::string_view> tokens;
  std::vector<Type> types;
  std::vector<double> scores;
  std::map<std::string_view, uint32_t> ids;  // of texts; the lowest where there are several
  std::optional<uint32_t> bos, eos, unknown, separator;

  std::optional<uint32_t> Find(std::string_view text) const;
  bool MayComeFromText(uint32_t id) const {
    return types[id] == Type::kNormal || types[id] == Type::kUserDefined || types[id] == Type::kUnused;
  }
};

// Throws ERROR_INVALID_DATA for a damaged vocabulary and ERROR_NOT_SUPPORTED for a file without one.
GgufVocabulary ReadGgufVocabulary(const GgufFile& file);

// 'tokenizer.ggml.<name>_token_id'. An id outside the vocabulary is common in published files and counts as not there.
std::optional<uint32_t> GgufSpecialId(const GgufMetadata& metadata, const char* name, size_t tokens);

}  // namespace owml::text
