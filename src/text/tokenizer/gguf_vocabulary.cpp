// The columns under 'tokenizer.ggml', checked, and what old files leave out.
// Called by the reader of GGUF tokenizers.
#include "text/tokenizer/gguf_vocabulary.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/error.h"
#include "formats/bad_data.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

class VocabularyReader {
 public:
  explicit VocabularyReader(const GgufFile& file) : file_(file), metadata_(file.metadata()) {}

  GgufVocabulary Read() {
    const bool absent = !metadata_.Find("tokenizer.ggml.model");
    result_.kind = absent ? "none" : metadata_.RequireString("tokenizer.ggml.model");
    if (result_.kind == "none" || result_.kind == "no_vocab") {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), file_.label() + " carries no tokenizer");
    }
    ReadTokens();
    ReadTypes();
    ReadScores();
    ReadIds();
    return std::move(result_);
  }

 private:
  using Type = GgufVocabulary::Type;

  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(file_.label(), sentence); }

  void ReadTokens() {
    const std::optional<GgufStrings> tokens = metadata_.FindStrings("tokenizer.ggml.tokens");
    if (!tokens) Bad("'tokenizer.ggml.tokens' is missing");
    if (tokens->size() == 0 || tokens->size() > UINT32_MAX / 2) {
      Bad("'tokenizer.ggml.tokens' holds " + std::to_string(tokens->size()) + " tokens");
    }
    result_.tokens.assign(tokens->begin(), tokens->end());
    for (uint32_t id = 0; id < result_.tokens.size(); ++id) {
      if (!IsValidUtf8(result_.tokens[id]))
        Bad("token " + std::to_string(id) + ", " + Quoted(result_.tokens[id]) + ", is not well-formed UTF-8");
    }
  }

  const GgufValue* Parallel(const char* key) const {
    const GgufValue* value = metadata_.Find(key);
    if (!value) return nullptr;
    if (!value->is_array() || value->element_type == GgufValueType::kString ||
        value->element_type == GgufValueType::kArray) {
      Bad(std::string("'") + key + "' has type " + value->TypeName() + "; it must be an array of numbers");
    }
    if (value->count < result_.tokens.size()) {
      Bad(std::string("'") + key + "' has " + std::to_string(value->count) + " elements for " +
          std::to_string(result_.tokens.size()) + " tokens");
    }
    return value;
  }

  void ReadTypes() {
    result_.types.assign(result_.tokens.size(), Type::kNormal);
    const GgufValue* value = Parallel("tokenizer.ggml.token_type");
    if (!value) return;
    for (uint32_t id = 0; id < result_.tokens.size(); ++id) {
      const std::optional<int64_t> type = value->Element(id).AsSigned();
      result_.types[id] = type && *type >= 1 && *type <= 6 ? static_cast<Type>(*type) : Type::kUnused;
    }
  }

  void ReadScores() {
    result_.scores.assign(result_.tokens.size(), 0.0f);
    const GgufValue* value = Parallel("tokenizer.ggml.scores");
    if (!value) return;
    for (uint32_t id = 0; id < result_.tokens.size(); ++id) {
      const GgufValue element = value->Element(id);
      const std::optional<int64_t> whole = element.AsSigned();
      const double score = whole ? static_cast<double>(*whole) : element.AsFloat().value_or(std::nan(""));
      if (!std::isfinite(score)) Bad("the score of token " + std::to_string(id) + " is not finite");
      result_.scores[id] = score;
    }
  }

  void ReadIds() {
    result_.bos = SpecialId("bos");
    result_.eos = SpecialId("eos");
    result_.unknown = SpecialId("unknown");
    result_.separator = SpecialId("seperator");  // spelled so in the format
    for (uint32_t id = 0; id < result_.tokens.size(); ++id) result_.ids.emplace(result_.tokens[id], id);
    const auto absent = [this](const char* name) {
      return !metadata_.Find("tokenizer.ggml." + std::string(name) + "_token_id");
    };
    // What the kinds of old files without these keys mean, where such tokens are there.
    const auto presume = [&](std::optional<uint32_t>* id, const char* name,
                             std::initializer_list<std::string_view> texts) {
      for (const std::string_view text : texts) {
        const auto found = result_.ids.find(text);
        if (!*id && absent(name) && found != result_.ids.end()) *id = found->second;
      }
    };
    if (result_.kind == "llama") {
      presume(&result_.bos, "bos", {"<s>"});
      presume(&result_.eos, "eos", {"</s>"});
      presume(&result_.unknown, "unknown", {"<unk>"});
    } else if (result_.kind == "bert") {
      presume(&result_.bos, "bos", {"[CLS]"});
      presume(&result_.unknown, "unknown", {"[UNK]"});
      presume(&result_.separator, "seperator", {"[SEP]"});
    } else if (result_.kind == "t5") {
      presume(&result_.eos, "eos", {"</s>"});
      presume(&result_.unknown, "unknown", {"<unk>"});
    }
  }

  std::optional<uint32_t> SpecialId(const char* name) const {
    return GgufSpecialId(metadata_, name, result_.tokens.size());
  }

  const GgufFile& file_;
  const GgufMetadata& metadata_;
  GgufVocabulary result_;
};

}  // namespace

std::optional<uint32_t> GgufVocabulary::Find(std::string_view text) const {
  const auto found = ids.find(text);
  return found == ids.end() ? std::nullopt : std::optional(found->second);
}

GgufVocabulary ReadGgufVocabulary(const GgufFile& file) { return VocabularyReader(file).Read(); }

std::optional<uint32_t> GgufSpecialId(const GgufMetadata& metadata, const char* name, size_t tokens) {
  const std::optional<uint32_t> id = metadata.FindUInt32("tokenizer.ggml." + std::string(name) + "_token_id");
  return id && *id < tokens ? id : std::nullopt;
}

}  // namespace owml::text
