// Random weights in any type that the engine knows.
// Used by the tests of this folder and for the seeds of the fuzz corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "backend/native/packed_matrix.h"
#include "kernels/weight_blocks.h"
#include "support/gguf_writer.h"

namespace owml::test {

// Scale and, where the type has one, minimum of blocks whose values lie around zero, about +-0.25.
inline std::vector<float> TypicalScales(kernels::WeightType type) {
  using kernels::WeightType;
  switch (type) {
    case WeightType::kQ8_0:
    case WeightType::kIQ4_NL:
      return {0.002f};
    case WeightType::kQ4_1:
      return {0.03f, -0.225f};
    case WeightType::kQ5_0:
      return {0.015f};
    case WeightType::kQ5_1:
      return {0.015f, -0.23f};
    case WeightType::kQ2_K:
      return {0.015f, 0.02f};
    case WeightType::kQ3_K:
      return {0.004f};
    case WeightType::kQ4_K:
      return {0.0008f, 0.006f};
    case WeightType::kQ5_K:
      return {0.0004f, 0.006f};
    case WeightType::kQ6_K:
      return {0.0001f};
    default:
      return {0.03f};
  }
}

// `count` weights as blocks of `type`.
inline std::string RandomWeights(GgmlType type, uint64_t count, std::mt19937& random) {
  const kernels::WeightType kind = native::WeightTypeOf(type).value();
  const auto uniform = [&random] { return static_cast<float>(random() >> 8) / 16777216.0f - 0.5f; };
  std::string bytes;
  for (uint64_t i = 0; i < count; i += kernels::BlockValues(kind)) {
    std::string block;
    for (size_t j = 0; j < kernels::BlockBytes(kind); ++j) block += static_cast<char>(random() >> 11);
    auto* at = reinterpret_cast<std::byte*>(block.data());
    const std::vector<size_t> places = ScalePlaces(kind);
    if (kind == kernels::WeightType::kF16) {
      SetScale(kind, at, 0, 0.5f * uniform());
    } else if (!kernels::IsQuantized(kind)) {
      const std::string value = GgufWriter::Little(0.5f * uniform());
      block = value.substr(4 - kernels::BlockBytes(kind));
    } else {
      for (size_t j = 0; j < places.size(); ++j) {
        SetScale(kind, at, places[j], TypicalScales(kind)[j] * (1 + 0.3f * uniform()));
      }
    }
    bytes += block;
  }
  return bytes;
}

}  // namespace owml::test
