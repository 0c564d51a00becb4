// Random numbers as a function of a seed and a position: the same on every machine, in whatever order they are asked
// for. Used by the token sampler; drafts that are taken back cost no numbers.
#pragma once

#include <array>
#include <cstdint>

namespace owml {

// The counter-based generator Philox 4x32 with 10 rounds (Salmon et al., SC 2011).
std::array<uint32_t, 4> Philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) noexcept;

class CounterRandom {
 public:
  explicit CounterRandom(uint64_t seed) noexcept : seed_(seed) {}

  // 53 random bits as a number in [0, 1).
  double Uniform(uint64_t position) const noexcept;

 private:
  uint64_t seed_;
};

}  // namespace owml
