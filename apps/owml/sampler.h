// Picks the next token from a row of logits for `owml generate` and `owml chat`.
// Greedy at temperature 0; else top-k, then temperature, then top-p, then a draw by a 64-bit seed.
#pragma once

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace owml::cli {

struct SamplerSettings {
  float temperature = 0;  // 0 = greedy
  uint32_t top_k = 0;     // 0 = off
  float top_p = 1;
  uint64_t seed = 0;
};

class Sampler {
 public:
  explicit Sampler(const SamplerSettings& settings) : settings_(settings), generator_(settings.seed) {}

  // Ties go to the lowest id. Throws Failure when no logit is finite.
  uint32_t Pick(std::span<const float> logits);

 private:
  SamplerSettings settings_;
  std::mt19937_64 generator_;
  std::vector<std::pair<float, uint32_t>> candidates_;
};

}  // namespace owml::cli
