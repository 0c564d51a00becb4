// Checks of metadata and tensors ahead of llama.cpp.
// Key names, numbers and conditions follow its loader; shapes it compares itself are left to it.
#include "formats/gguf_llama_check.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bad_data.h"

namespace owml {
namespace {

// Far above any model; keeps products of two of them inside 32 bits, as llama.cpp multiplies them.
constexpr uint32_t kMaxHeads = 1u << 15;
constexpr uint32_t kMaxHeadSize = 1u << 15;
constexpr uint32_t kMaxWidth = 1u << 24;

class LlamaCheck {
 public:
  explicit LlamaCheck(const GgufFile& file) : file_(file), metadata_(file.metadata()) {}

  void Model(std::span<const GgufFile> files) {
    Architecture();
    // A projector or other companion has no decoder: llama.cpp refuses it by itself, with its own list of
    // architectures.
    Sizes();
    Heads();
    Experts();
    Floats();
    Vocabulary();
    VocabularySize();
    for (const GgufFile& file : files) Tensors(file);
  }

 private:
  void Vocabulary() {
    const std::string_view kind = metadata_.RequireString("tokenizer.ggml.model");
    metadata_.FindString("tokenizer.ggml.pre");
    metadata_.FindString("tokenizer.chat_template");
    if (kind == "none" || kind == "no_vocab") return;
    const std::optional<GgufStrings> tokens = metadata_.FindStrings("tokenizer.ggml.tokens");
    if (!tokens) Bad("the metadata key 'tokenizer.ggml.tokens' is missing");
    if (tokens->size() == 0) Bad("'tokenizer.ggml.tokens' is empty");
    if (tokens->size() > static_cast<uint64_t>(INT32_MAX)) {
      Bad("'tokenizer.ggml.tokens' has " + std::to_string(tokens->size()) + " entries; token ids have 31 bits");
    }
    UniqueTokens(*tokens);
    ParallelArray("tokenizer.ggml.scores", {GgufValueType::kFloat32, GgufValueType::kInt32}, tokens->size());
    ParallelArray("tokenizer.ggml.token_type", {GgufValueType::kInt32}, tokens->size());
    metadata_.FindStrings("tokenizer.ggml.merges");
    PlainArray("tokenizer.ggml.suppress_tokens", {GgufValueType::kInt32});
    PlainArray("tokenizer.ggml.precompiled_charsmap", {GgufValueType::kInt8, GgufValueType::kUInt8});
    SpecialTokens();
  }

  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(file_.label(), sentence); }

  std::string Key(std::string_view name) const { return architecture_ + "." + std::string(name); }

  [[noreturn]] void BadValue(const std::string& key, const std::string& value, const std::string& rule) const {
    Bad("'" + key + "' is " + value + "; " + rule);
  }

  void Architecture() {
    const std::string_view name = metadata_.RequireString("general.architecture");
    const bool plain = !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
             c == '.';
    });
    if (!plain) Bad("'general.architecture' is " + Quoted(name) + ", which cannot be the name of an architecture");
    architecture_ = name;
  }

  // The number under a key that llama.cpp reads as exactly uint32.
  std::optional<uint32_t> RequireUInt32Type(const std::string& key) const {
    const GgufValue* value = metadata_.Find(key);
    if (!value) return std::nullopt;
    if (value->type != GgufValueType::kUInt32) {
      Bad("'" + key + "' has type " + value->TypeName() + "; it must be uint32");
    }
    return static_cast<uint32_t>(*value->AsUnsigned());
  }

  std::optional<uint32_t> UInt32(std::string_view name) const { return RequireUInt32Type(Key(name)); }

  uint32_t InRange(std::string_view name, uint32_t low, uint32_t high) const {
    const std::optional<uint32_t> value = UInt32(name);
    if (!value) Bad("the metadata key '" + Key(name) + "' is missing");
    if (*value < low || *value > high) {
      BadValue(Key(name), std::to_string(*value),
               "it must be between " + std::to_string(low) + " and " + std::to_string(high));
    }
    return *value;
  }

  void Sizes() {
    const std::string key = Key("block_count");
    blocks_ = InRange("block_count", 1, UINT32_MAX);
    if (blocks_ > kLlamaMaxLayers) {
      BadValue(key, std::to_string(blocks_), "llama.cpp has room for " + std::to_string(kLlamaMaxLayers) + " layers");
    }
    InRange("context_length", 1, INT32_MAX);
    width_ = InRange("embedding_length", 1, kMaxWidth);
    if (const auto predicted = UInt32("nextn_predict_layers"); predicted && *predicted >= blocks_) {
      BadValue(Key("nextn_predict_layers"), std::to_string(*predicted),
               "it must be less than '" + key + "', " + std::to_string(blocks_));
    }
    if (const auto pooling = UInt32("pooling_type"); pooling && *pooling > 4 && *pooling != UINT32_MAX) {
      BadValue(Key("pooling_type"), std::to_string(*pooling), "0 to 4 are known");
    }
    PerLayer("feed_forward_length", kMaxWidth);
  }

  // One number for all layers or an array with one for each; empty when the key is absent.
  std::vector<uint32_t> PerLayer(std::string_view name, uint32_t highest) const {
    const std::string key = Key(name);
    const GgufValue* value = metadata_.Find(key);
    if (!value) return {};
    std::vector<uint32_t> numbers;
    if (!value->is_array()) {
      numbers.assign(blocks_, *UInt32(name));
    } else {
      if (value->element_type != GgufValueType::kUInt32 && value->element_type != GgufValueType::kInt32) {
        Bad("'" + key + "' is an " + value->TypeName() + "; it must be a uint32 or an array of them");
      }
      if (value->count != blocks_) {
        Bad("'" + key + "' has " + std::to_string(value->count) + " elements for " + std::to_string(blocks_) +
            " layers");
      }
      for (uint64_t i = 0; i < value->count; ++i) {
        const GgufValue element = value->Element(i);
        if (*element.AsSigned() < 0) BadValue(key, std::to_string(*element.AsSigned()), "it must not be negative");
        numbers.push_back(static_cast<uint32_t>(*element.AsUnsigned()));
      }
    }
    for (const uint32_t number : numbers) {
      if (number > highest)
        BadValue(key, std::to_string(number), "at most " + std::to_string(highest) + " is accepted");
    }
    return numbers;
  }

  void Heads() {
    const std::vector<uint32_t> heads = PerLayer("attention.head_count", kMaxHeads);
    std::vector<uint32_t> kv_heads = PerLayer("attention.head_count_kv", kMaxHeads);
    if (heads.empty()) {
      if (!kv_heads.empty())
        Bad("'" + Key("attention.head_count_kv") + "' is there without '" + Key("attention.head_count") + "'");
      return;  // a recurrent model without attention
    }
    for (size_t i = 0; i < kv_heads.size(); ++i) {
      if (kv_heads[i] && heads[i] % kv_heads[i] != 0) {
        BadValue(Key("attention.head_count_kv"), std::to_string(kv_heads[i]),
                 "it must divide '" + Key("attention.head_count") + "', " + std::to_string(heads[i]) + ", in layer " +
                     std::to_string(i));
      }
    }
    if (heads[0] == 0) return;
    first_heads_ = heads[0];
    const uint32_t even_share = width_ / heads[0];
    const uint32_t key_length = HeadSize("attention.key_length", even_share);
    HeadSize("attention.value_length", even_share);
    HeadSize("attention.key_length_swa", key_length);
    HeadSize("attention.value_length_swa", key_length);
    for (const std::string_view name : {"rope.dimension_count", "rope.dimension_count_swa"}) {
      const std::optional<uint32_t> rotated = UInt32(name);
      if (rotated && (*rotated % 2 != 0 || *rotated > kMaxHeadSize)) {
        BadValue(Key(name), std::to_string(*rotated), "it must be even and at most " + std::to_string(kMaxHeadSize));
      }
    }
    if (const std::optional<uint32_t> rotated = UInt32("rope.dimension_count"); rotated && *rotated > key_length) {
      BadValue(Key("rope.dimension_count"), std::to_string(*rotated),
               "it must not exceed the head size " + std::to_string(key_length));
    }
    const GgufValue* sections = metadata_.Find(Key("rope.dimension_sections"));
    if (sections && sections->is_array() && sections->count > 4) {
      Bad("'" + Key("rope.dimension_sections") + "' has " + std::to_string(sections->count) +
          " elements; at most 4 are allowed");
    }
  }

  uint32_t HeadSize(std::string_view name, uint32_t otherwise) const {
    const std::optional<uint32_t> stated = UInt32(name);
    const uint32_t size = stated.value_or(otherwise);
    if (size == 0 || size > kMaxHeadSize) {
      if (stated) BadValue(Key(name), std::to_string(size), "it must be between 1 and " + std::to_string(kMaxHeadSize));
      BadValue(Key("attention.head_count"), std::to_string(first_heads_),
               "with '" + Key("embedding_length") + "' " + std::to_string(width_) + " it gives a head size of " +
                   std::to_string(size));
    }
    return size;
  }

  void Experts() {
    const uint32_t experts = UInt32("expert_count").value_or(0);
    if (experts > kLlamaMaxExperts) {
      BadValue(Key("expert_count"), std::to_string(experts),
               "llama.cpp has room for " + std::to_string(kLlamaMaxExperts));
    }
    const std::vector<uint32_t> per_layer = PerLayer("expert_used_count", UINT32_MAX);
    const uint32_t used = per_layer.empty() ? 0 : *std::max_element(per_layer.begin(), per_layer.end());
    if (used > experts || (experts > 0 && used == 0)) {
      BadValue(Key("expert_used_count"), std::to_string(used), "there are " + std::to_string(experts) + " experts");
    }
    const uint32_t groups = UInt32("expert_group_count").value_or(0);
    const uint32_t groups_used = UInt32("expert_group_used_count").value_or(0);
    const bool fits = groups == 0 || (experts > 0 && groups < experts);
    if (!fits || (groups > 1 && (experts % groups != 0 || groups_used == 0 || groups_used >= groups))) {
      BadValue(Key("expert_group_count"), std::to_string(groups),
               "it does not go with " + std::to_string(experts) + " experts and " + std::to_string(groups_used) +
                   " groups in use");
    }
  }

  void Floats() {
    for (const std::string_view name :
         {"attention.layer_norm_rms_epsilon", "attention.layer_norm_epsilon", "attention.group_norm_epsilon"}) {
      const std::optional<double> epsilon = metadata_.FindFloat(Key(name));
      if (epsilon && !(std::isfinite(*epsilon) && *epsilon >= 0)) {
        BadValue(Key(name), std::to_string(*epsilon), "it must be a number that is not negative");
      }
    }
    for (const std::string_view name : {"rope.freq_base", "rope.freq_base_swa"}) {
      const std::optional<double> base = metadata_.FindFloat(Key(name));
      if (base && !(std::isfinite(*base) && *base > 0))
        BadValue(Key(name), std::to_string(*base), "it must be a positive number");
    }
    for (const std::string_view name : {"rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor"}) {
      const std::optional<double> factor = metadata_.FindFloat(Key(name));
      if (factor && !std::isfinite(*factor)) BadValue(Key(name), std::to_string(*factor), "it must be finite");
    }
    const std::optional<std::string_view> scaling = metadata_.FindString(Key("rope.scaling.type"));
    if (scaling && *scaling != "none" && *scaling != "linear" && *scaling != "yarn" && *scaling != "longrope") {
      BadValue(Key("rope.scaling.type"), Quoted(*scaling), "none, linear, yarn and longrope are known");
    }
  }

  void UniqueTokens(const GgufStrings& tokens) const {
    std::vector<std::string_view> sorted(tokens.begin(), tokens.end());
    std::sort(sorted.begin(), sorted.end());
    for (size_t i = 1; i < sorted.size(); ++i) {
      // Empty tokens get distinct names inside llama.cpp.
      if (!sorted[i].empty() && sorted[i] == sorted[i - 1]) {
        Bad("'tokenizer.ggml.tokens' holds " + Quoted(sorted[i]) + " twice");
      }
    }
    if (!sorted.empty() && sorted.back().size() > static_cast<size_t>(INT32_MAX))
      Bad("a token has more than 2^31 bytes");
  }

  void PlainArray(const std::string& key, std::initializer_list<GgufValueType> allowed) const {
    const GgufValue* value = metadata_.Find(key);
    if (!value) return;
    if (value->is_array() && std::find(allowed.begin(), allowed.end(), value->element_type) != allowed.end()) return;
    std::string names;
    for (const GgufValueType type : allowed) names += (names.empty() ? "" : " or ") + std::string(Name(type));
    Bad("'" + key + "' has type " + value->TypeName() + "; it must be an array of " + names);
  }

  void ParallelArray(const std::string& key, std::initializer_list<GgufValueType> allowed, uint64_t tokens) const {
    PlainArray(key, allowed);
    const GgufValue* value = metadata_.Find(key);
    if (value && value->count < tokens) {
      Bad("'" + key + "' has " + std::to_string(value->count) + " elements for " + std::to_string(tokens) + " tokens");
    }
  }

  // An id outside the vocabulary is common in published files; llama.cpp warns and uses its default.
  void SpecialTokens() const {
    for (const std::string_view name : {"bos", "eos", "eot", "eom", "unknown", "seperator", "padding", "mask",
                                        "fim_pre", "fim_suf", "fim_mid", "fim_pad", "fim_rep", "fim_sep"}) {
      RequireUInt32Type("tokenizer.ggml." + std::string(name) + "_token_id");
    }
    for (const std::string_view key :
         {"tokenizer.ggml.add_bos_token", "tokenizer.ggml.add_eos_token", "tokenizer.ggml.add_sep_token",
          "tokenizer.ggml.add_space_prefix", "tokenizer.ggml.remove_extra_whitespaces"}) {
      metadata_.FindBool(key);
    }
  }

  // Without a token list llama.cpp makes as many dummy tokens as the key announces.
  void VocabularySize() const {
    const std::optional<uint32_t> announced = UInt32("vocab_size");
    if (!announced) return;
    const uint64_t most = std::max<uint64_t>(1u << 20, file_.tensors().empty() ? 0 : LargestExtent());
    if (*announced > most) BadValue(Key("vocab_size"), std::to_string(*announced), "no tensor has so many rows");
  }

  uint64_t LargestExtent() const {
    uint64_t largest = 0;
    for (const GgufTensor& tensor : file_.tensors()) {
      for (uint32_t d = 0; d < tensor.rank; ++d) largest = std::max(largest, tensor.dims[d]);
    }
    return largest;
  }

  static bool EndsWith(std::string_view text, std::string_view end) {
    return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
  }

  static void Tensors(const GgufFile& file) {
    uint64_t expected = 0;
    for (const GgufTensor& tensor : file.tensors()) {
      const std::string what = "tensor " + Quoted(tensor.name);
      const std::string type(InfoOf(tensor.type).name);
      if (tensor.offset != expected) {
        ThrowBadData(file.label(), what + " starts at offset " + std::to_string(tensor.offset) +
                                       " of the data section; llama.cpp needs the tensors packed in order, so " +
                                       std::to_string(expected));
      }
      const uint64_t mask = uint64_t{file.alignment()} - 1;
      expected = (tensor.offset + tensor.data.size() + mask) & ~mask;
      if (tensor.rank == 0 || tensor.data.empty())
        ThrowBadData(file.label(), what + " with the shape " + tensor.ShapeText() + " holds nothing");

      // Its kernels have no code for these as weights and end the process.
      switch (tensor.type) {
        case GgmlType::kQ8_1:
        case GgmlType::kQ8_K:
        case GgmlType::kI8:
        case GgmlType::kI16:
        case GgmlType::kI64:
        case GgmlType::kF64:
          ThrowBadData(file.label(), what + " has the element type " + type + ", with which llama.cpp cannot compute");
        default:
          break;
      }
      const bool added = EndsWith(tensor.name, "norm.weight") || EndsWith(tensor.name, ".bias");
      if (added && tensor.type != GgmlType::kF32) {
        ThrowBadData(file.label(), what + " has the element type " + type + "; norms and biases must be f32");
      }
    }
  }

  const GgufFile& file_;
  const GgufMetadata& metadata_;
  std::string architecture_;
  uint32_t blocks_ = 0;
  uint32_t width_ = 0;
  uint32_t first_heads_ = 0;  // of layer 0
};

}  // namespace

void CheckModelForLlama(std::span<const GgufFile> files) {
  if (!files.empty()) LlamaCheck(files[0]).Model(files);
}

}  // namespace owml
