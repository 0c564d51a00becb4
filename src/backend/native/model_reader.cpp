// Metadata of a decoder to its plan.
// Numbers are checked here once, so that what follows may multiply them.
#include "backend/native/model_reader.h"

#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "formats/bad_data.h"

namespace owml::native {
namespace {

constexpr uint32_t kMaxExtent = 1u << 24;
constexpr uint32_t kMaxLayers = 512;
constexpr uint32_t kMaxHeads = 1u << 15;
constexpr uint32_t kMaxPositions = 1u << 30;
// Their reciprocals are the smallest, so that floats hold what is made of them.
constexpr double kMaxFactor = 1e6;
constexpr double kMaxPositive = 1e12;

std::string Text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g", number);
  return text;
}

std::string Between(double most) { return "between " + Text(1 / most) + " and " + Text(most); }

}  // namespace

ModelReader::ModelReader(const GgufFile& file)
    : file_(file), metadata_(file.metadata()), architecture_(metadata_.RequireString("general.architecture")) {}

void ModelReader::NotSupported(const std::string& what) const {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              file_.label() + " " + what + ", which the native engine does not run");
}

void ModelReader::Bad(std::string_view name, const std::string& value, const std::string& rule) const {
  ThrowBadData(file_.label(), "'" + Key(name) + "' is " + value + "; " + rule);
}

const GgufValue* ModelReader::Find(std::string_view name) {
  const GgufValue* value = metadata_.Find(Key(name));
  if (value) read_.insert(Key(name));
  return value;
}

void ModelReader::RequireAllRead() const {
  for (const GgufEntry& entry : metadata_.entries()) {
    if (!entry.key.starts_with(architecture_ + ".")) continue;
    if (!read_.contains(std::string(entry.key))) NotSupported("has the key " + Quoted(entry.key));
  }
}

uint32_t ModelReader::Extent(std::string_view name, uint32_t highest) {
  if (const GgufValue* found = Find(name); found && found->is_array()) {
    NotSupported("has different values of " + Quoted(Key(name)) + " for its layers");
  }
  const uint32_t value = metadata_.RequireUInt32(Key(name));
  if (value == 0 || value > highest) {
    Bad(name, std::to_string(value), "it must be between 1 and " + std::to_string(highest));
  }
  return value;
}

std::optional<double> ModelReader::FindFloat(std::string_view name) {
  Find(name);
  return metadata_.FindFloat(Key(name));
}

double ModelReader::Positive(std::string_view name, double otherwise) {
  const double value = FindFloat(name).value_or(otherwise);
  if (!(value >= 1 / kMaxPositive && value <= kMaxPositive)) {
    Bad(name, Text(value), "it must be a positive number " + Between(kMaxPositive));
  }
  return value;
}

float ModelReader::Factor(std::string_view name, float otherwise) {
  const double value = FindFloat(name).value_or(0);
  if (value == 0) return otherwise;
  if (!(std::abs(value) >= 1 / kMaxFactor && std::abs(value) <= kMaxFactor)) {
    Bad(name, Text(value), "it must be 0 for none, or of a size " + Between(kMaxFactor));
  }
  return static_cast<float>(value);
}

bool ModelReader::Bool(std::string_view name, bool otherwise) {
  Find(name);
  return metadata_.FindBool(Key(name)).value_or(otherwise);
}

uint32_t ModelReader::Window() {
  constexpr std::string_view kName = "attention.sliding_window";
  Find(kName);
  const uint64_t window = metadata_.FindUInt64(Key(kName)).value_or(0);
  if (window > kMaxPositions) {
    Bad(kName, std::to_string(window), "it must be at most " + std::to_string(kMaxPositions));
  }
  return static_cast<uint32_t>(window);
}

std::vector<bool> ModelReader::WindowedLayers(size_t layers, uint32_t cycle) {
  constexpr std::string_view kName = "attention.sliding_window_pattern";
  std::vector<bool> windowed(layers);
  const GgufValue* pattern = Find(kName);
  if (pattern && pattern->is_array()) {
    if (pattern->count != layers) {
      Bad(kName, "a list of " + std::to_string(pattern->count), "there are " + std::to_string(layers) + " layers");
    }
    for (size_t i = 0; i < layers; ++i) {
      const GgufValue element = pattern->Element(i);
      const auto number = element.AsUnsigned();
      const auto word = element.AsBool();
      if (!number && !word) Bad(kName, pattern->TypeName(), "its values must be bool or whole numbers");
      windowed[i] = word ? *word : *number != 0;
    }
    return windowed;
  }
  if (pattern) cycle = metadata_.RequireUInt32(Key(kName));
  if (cycle > kMaxLayers) Bad(kName, std::to_string(cycle), "it must be at most " + std::to_string(kMaxLayers));
  for (size_t i = 0; i < layers; ++i) windowed[i] = cycle == 0 || i % cycle + 1 < cycle;
  return windowed;
}

uint32_t ModelReader::HeadWidth(const ModelPlan& plan) {
  const uint32_t share = plan.width / plan.heads;
  const uint32_t key = Find("attention.key_length") ? Extent("attention.key_length", kMaxHeads) : share;
  const uint32_t value = Find("attention.value_length") ? Extent("attention.value_length", kMaxHeads) : share;
  if (key != value) NotSupported("has keys of " + std::to_string(key) + " and values of " + std::to_string(value));
  if (key == 0 || key > kMaxHeads || uint64_t{key} * plan.heads > kMaxExtent) {
    Bad("attention.head_count", std::to_string(plan.heads), "it gives a head size of " + std::to_string(key));
  }
  return key;
}

RopePlan ModelReader::Rope(const ModelPlan& plan) {
  RopePlan rope;
  rope.base = Positive("rope.freq_base", 10000);
  rope.magnitude = Positive("rope.scaling.attn_factor", 1);
  Find("rope.scaling.type");
  const std::string_view type = metadata_.FindString(Key("rope.scaling.type")).value_or("linear");
  // Files write 0 for no scaling.
  const double old_factor = FindFloat("rope.scale_linear").value_or(0);
  const double factor = FindFloat("rope.scaling.factor").value_or(old_factor);
  if (!(factor == 0 || (factor >= 1 / kMaxFactor && factor <= kMaxFactor))) {
    Bad("rope.scaling.factor", Text(factor), "it must be 0 for none, or " + Between(kMaxFactor));
  }
  if (factor > 0) rope.divisor = factor;
  if (type == "none") {
    rope.divisor = 1;
  } else if (type == "yarn") {
    rope.yarn = true;
    rope.yarn_fast = Positive("rope.scaling.yarn_beta_fast", rope.yarn_fast);
    rope.yarn_slow = Positive("rope.scaling.yarn_beta_slow", rope.yarn_slow);
    if (rope.divisor > 1) rope.magnitude *= 1 + 0.1 * std::log(rope.divisor);
    if (plan.original_context == 0) Bad("context_length", "missing", "YaRN needs a context");
  } else if (type != "linear" && type != "longrope") {
    NotSupported("has positions scaled by " + Quoted(type));
  }
  return rope;
}

uint64_t ModelReader::Vocabulary() {
  Find("vocab_size");
  const GgufTensor* embedding = file_.FindTensor("token_embd.weight");
  if (const auto tokens = metadata_.FindStrings("tokenizer.ggml.tokens")) return tokens->size();
  if (const auto size = metadata_.FindUInt64(Key("vocab_size"))) return *size;
  return embedding ? embedding->dims[1] : 0;
}

ModelPlan ModelReader::Decoder() {
  ModelPlan plan;
  plan.label = file_.label();
  plan.architecture = architecture_;
  Find("expert_used_count");
  Find("expert_count");
  if (metadata_.FindUInt32(Key("expert_count")).value_or(0) > 0) NotSupported("is a mixture of experts");
  if (!Bool("attention.causal", true)) NotSupported("has attention that is not causal");
  Find("tensor_data_layout");  // how a converter read its source

  plan.layers.resize(Extent("block_count", kMaxLayers));
  plan.width = Extent("embedding_length", kMaxExtent);
  plan.feed_forward = Extent("feed_forward_length", kMaxExtent);
  plan.heads = Extent("attention.head_count", kMaxHeads);
  plan.kv_heads = Find("attention.head_count_kv") ? Extent("attention.head_count_kv", kMaxHeads) : plan.heads;
  if (plan.heads % plan.kv_heads != 0) {
    Bad("attention.head_count_kv", std::to_string(plan.kv_heads),
        "it must divide the " + std::to_string(plan.heads) + " heads");
  }
  plan.head_width = HeadWidth(plan);
  plan.query_scale = 1.0f / std::sqrt(static_cast<float>(plan.head_width));
  plan.rotated = Find("rope.dimension_count") ? Extent("rope.dimension_count", kMaxHeads) : plan.head_width;
  if (plan.rotated % 2 != 0 || plan.rotated > plan.head_width) {
    Bad("rope.dimension_count", std::to_string(plan.rotated),
        "it must be even and at most the head size " + std::to_string(plan.head_width));
  }
  const double epsilon = FindFloat("attention.layer_norm_rms_epsilon").value_or(NAN);
  if (!(epsilon >= 0 && epsilon < 1)) {
    Bad("attention.layer_norm_rms_epsilon", Text(epsilon), "it must be there and at least 0, below 1");
  }
  plan.epsilon = static_cast<float>(epsilon);

  Find("context_length");
  plan.context = metadata_.FindUInt64(Key("context_length"));
  if (plan.context == uint64_t{0}) plan.context.reset();
  if (plan.context > kMaxPositions) {
    Bad("context_length", std::to_string(*plan.context), "it must be at most " + std::to_string(kMaxPositions));
  }
  Find("rope.scaling.original_context_length");
  plan.original_context = metadata_.FindUInt32(Key("rope.scaling.original_context_length"))
                              .value_or(static_cast<uint32_t>(plan.context.value_or(0)));
  Find("rope.scaling.finetuned");
  plan.ropes = {Rope(plan)};
  plan.vocabulary = Vocabulary();
  if (plan.vocabulary > kMaxExtent) {
    ThrowBadData(file_.label(), "it has a vocabulary of " + std::to_string(plan.vocabulary) + " tokens; at most " +
                                    std::to_string(kMaxExtent) + " are possible");
  }
  return plan;
}

}  // namespace owml::native
