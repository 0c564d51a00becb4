// Metadata of the architecture "llama" to parameters.
// Every key of the architecture must be known, so that none is ignored.
#include "backend/native/llama_parameters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/error.h"
#include "formats/bad_data.h"

namespace owml::native {
namespace {

constexpr std::string_view kPrefix = "llama.";
constexpr uint32_t kMaxExtent = 1u << 24;
constexpr uint32_t kMaxLayers = 4096;
constexpr uint32_t kMaxHeads = 1u << 15;

constexpr std::array<std::string_view, 20> kKnownKeys = {
    "block_count",
    "context_length",
    "embedding_length",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "attention.causal",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scale_linear",
    "rope.scaling.original_context_length",
    "rope.scaling.finetuned",
    "vocab_size",
    "expert_count",
    "expert_used_count",
};

class Reader {
 public:
  explicit Reader(const GgufFile& file) : file_(file), metadata_(file.metadata()) {}

  LlamaParameters Read() {
    const std::string_view architecture = metadata_.RequireString("general.architecture");
    if (architecture != "llama") NotSupported("has the architecture " + Quoted(architecture));
    CheckKeys();
    LlamaParameters p;
    p.label = file_.label();
    p.layers = Extent("block_count", kMaxLayers);
    p.width = Extent("embedding_length", kMaxExtent);
    p.feed_forward = Extent("feed_forward_length", kMaxExtent);
    p.heads = Extent("attention.head_count", kMaxHeads);
    p.kv_heads = Find("attention.head_count_kv") ? Extent("attention.head_count_kv", kMaxHeads) : p.heads;
    if (p.heads % p.kv_heads != 0) {
      Bad("attention.head_count_kv", std::to_string(p.kv_heads),
          "it must divide the " + std::to_string(p.heads) + " heads");
    }
    p.head_width = HeadWidth(p);
    p.rotated = Find("rope.dimension_count") ? Extent("rope.dimension_count", kMaxHeads) : p.head_width;
    if (p.rotated % 2 != 0 || p.rotated > p.head_width) {
      Bad("rope.dimension_count", std::to_string(p.rotated),
          "it must be even and at most the head size " + std::to_string(p.head_width));
    }
    const double epsilon = metadata_.FindFloat(Key("attention.layer_norm_rms_epsilon")).value_or(NAN);
    if (!(epsilon >= 0 && epsilon < 1)) {
      Bad("attention.layer_norm_rms_epsilon", std::to_string(epsilon), "it must be there and at least 0, below 1");
    }
    p.epsilon = static_cast<float>(epsilon);
    p.rope_base = Positive("rope.freq_base", 10000);
    p.rope_scale = RopeScale();
    p.context = metadata_.FindUInt64(Key("context_length"));
    if (p.context == uint64_t{0}) p.context.reset();
    if (!metadata_.FindBool(Key("attention.causal")).value_or(true)) NotSupported("has attention that is not causal");
    p.vocabulary = Vocabulary();
    return p;
  }

 private:
  static std::string Key(std::string_view name) { return std::string(kPrefix) + std::string(name); }
  const GgufValue* Find(std::string_view name) const { return metadata_.Find(Key(name)); }

  [[noreturn]] void NotSupported(const std::string& what) const {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                file_.label() + " " + what + ", which the native engine does not run; OWML_ENGINE=llama may");
  }
  [[noreturn]] void Bad(std::string_view name, const std::string& value, const std::string& rule) const {
    ThrowBadData(file_.label(), "'" + Key(name) + "' is " + value + "; " + rule);
  }

  void CheckKeys() const {
    for (const GgufEntry& entry : metadata_.entries()) {
      if (!entry.key.starts_with(kPrefix)) continue;
      const std::string_view name = entry.key.substr(kPrefix.size());
      if (std::find(kKnownKeys.begin(), kKnownKeys.end(), name) == kKnownKeys.end()) {
        NotSupported("has the key " + Quoted(entry.key));
      }
      if (entry.value.is_array()) NotSupported("has different values of " + Quoted(entry.key) + " for its layers");
    }
    if (metadata_.FindUInt32(Key("expert_count")).value_or(0) > 0) NotSupported("is a mixture of experts");
  }

  uint32_t Extent(std::string_view name, uint32_t highest) const {
    const uint32_t value = metadata_.RequireUInt32(Key(name));
    if (value == 0 || value > highest) {
      Bad(name, std::to_string(value), "it must be between 1 and " + std::to_string(highest));
    }
    return value;
  }

  uint32_t HeadWidth(const LlamaParameters& p) const {
    const uint32_t share = p.width / p.heads;
    const uint32_t key = Find("attention.key_length") ? Extent("attention.key_length", kMaxHeads) : share;
    const uint32_t value = Find("attention.value_length") ? Extent("attention.value_length", kMaxHeads) : share;
    if (key != value) NotSupported("has keys of " + std::to_string(key) + " and values of " + std::to_string(value));
    if (key == 0 || key > kMaxHeads || uint64_t{key} * p.heads > kMaxExtent) {
      Bad("attention.head_count", std::to_string(p.heads), "it gives a head size of " + std::to_string(key));
    }
    return key;
  }

  double Positive(std::string_view name, double otherwise) const {
    const double value = metadata_.FindFloat(Key(name)).value_or(otherwise);
    if (!(value > 0 && std::isfinite(value))) Bad(name, std::to_string(value), "it must be a positive number");
    return value;
  }

  double RopeScale() const {
    const std::string_view type = metadata_.FindString(Key("rope.scaling.type")).value_or("linear");
    if (type == "none") return 1;
    if (type != "linear") NotSupported("has positions scaled by " + Quoted(type));
    return Positive("rope.scaling.factor", Positive("rope.scale_linear", 1));
  }

  uint64_t Vocabulary() const {
    const GgufTensor* embedding = file_.FindTensor("token_embd.weight");
    if (const auto tokens = metadata_.FindStrings("tokenizer.ggml.tokens")) return tokens->size();
    if (const auto size = metadata_.FindUInt64(Key("vocab_size"))) return *size;
    return embedding ? embedding->dims[1] : 0;
  }

  const GgufFile& file_;
  const GgufMetadata& metadata_;
};

}  // namespace

LlamaParameters ReadLlamaParameters(const GgufFile& file) { return Reader(file).Read(); }

}  // namespace owml::native
