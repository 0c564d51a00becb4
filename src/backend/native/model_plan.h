// What a decoder of the transformer family is: sizes, how positions turn keys, which steps its layers have. Written by
// the file of its architecture, read by the loader of weights and the forward pass.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace owml::native {

// Which numbers of a head rotate together: neighbours, or one of each half.
enum class RopeOrder { kPairs, kHalves };

// Tensors that divide the angles of each pair: none, "rope_freqs", or "rope_factors_short" and "_long".
enum class RopeFactors { kNone, kFrequencies, kShortAndLong };

// Angles by position, for the layers that share them.
struct RopePlan {
  double base = 10000;
  double divisor = 1;    // of positions
  double magnitude = 1;  // of cosines and sines
  // YaRN divides only angles that turn less than `yarn_slow` times within the original context, those that turn more
  // than `yarn_fast` times not at all.
  bool yarn = false;
  double yarn_fast = 32;
  double yarn_slow = 1;
};

enum class Activation { kSilu, kGelu };

struct LayerPlan {
  uint32_t window = 0;  // positions that a token sees, itself included; 0 = all
  uint32_t rope = 0;    // index into ModelPlan::ropes
};

struct ModelPlan {
  std::string label;  // of the file, for messages
  std::string architecture;
  uint32_t width = 0;  // D
  uint32_t heads = 0;  // H
  uint32_t kv_heads = 0;
  uint32_t head_width = 0;    // d
  uint32_t feed_forward = 0;  // F
  uint64_t vocabulary = 0;
  float epsilon = 0;  // of the norms
  std::optional<uint64_t> context;
  std::vector<LayerPlan> layers;

  uint32_t rotated = 0;  // of head_width, even
  RopeOrder rope_order = RopeOrder::kPairs;
  RopeFactors rope_factors = RopeFactors::kNone;
  std::vector<RopePlan> ropes;
  uint64_t original_context = 0;  // before positions were stretched; 0 where the file does not tell

  Activation activation = Activation::kSilu;
  bool gate_in_up = false;  // the first half of the matrix "up" is the gate
  bool head_norms = false;  // of every query and key
  bool post_norms = false;  // of what attention and feed-forward add to the stream

  float embedding_scale = 1;
  float query_scale = 1;     // before scores
  float score_cap = 0;       // 0 = none
  float residual_scale = 1;  // of what attention and feed-forward add to the stream
  float logit_scale = 1;
  float logit_cap = 0;  // 0 = none

  uint32_t query_width() const { return heads * head_width; }
  uint32_t kv_width() const { return kv_heads * head_width; }
  uint32_t group() const { return heads / kv_heads; }
};

}  // namespace owml::native
