// Tables of the GGUF value types and ggml element types.
// Called by the GGUF reader and by listings.
#include "formats/gguf_types.h"

#include <array>
#include <cstddef>

namespace owml {
namespace {

struct ValueRow {
  std::string_view name;
  uint8_t bytes;
};

constexpr std::array<ValueRow, 13> kValueRows = {{{"uint8", 1},
                                                  {"int8", 1},
                                                  {"uint16", 2},
                                                  {"int16", 2},
                                                  {"uint32", 4},
                                                  {"int32", 4},
                                                  {"float32", 4},
                                                  {"bool", 1},
                                                  {"string", 0},
                                                  {"array", 0},
                                                  {"uint64", 8},
                                                  {"int64", 8},
                                                  {"float64", 8}}};

// Block layouts: a 32-value block of the _0 and _1 kinds, a 256-value super-block of the _K, IQ and TQ kinds.
constexpr std::array<GgmlTypeInfo, 35> kTypes = {{{GgmlType::kF32, "f32", 1, 4},
                                                  {GgmlType::kF16, "f16", 1, 2},
                                                  {GgmlType::kQ4_0, "q4_0", 32, 18},
                                                  {GgmlType::kQ4_1, "q4_1", 32, 20},
                                                  {GgmlType::kQ5_0, "q5_0", 32, 22},
                                                  {GgmlType::kQ5_1, "q5_1", 32, 24},
                                                  {GgmlType::kQ8_0, "q8_0", 32, 34},
                                                  {GgmlType::kQ8_1, "q8_1", 32, 36},
                                                  {GgmlType::kQ2_K, "q2_K", 256, 84},
                                                  {GgmlType::kQ3_K, "q3_K", 256, 110},
                                                  {GgmlType::kQ4_K, "q4_K", 256, 144},
                                                  {GgmlType::kQ5_K, "q5_K", 256, 176},
                                                  {GgmlType::kQ6_K, "q6_K", 256, 210},
                                                  {GgmlType::kQ8_K, "q8_K", 256, 292},
                                                  {GgmlType::kIQ2_XXS, "iq2_xxs", 256, 66},
                                                  {GgmlType::kIQ2_XS, "iq2_xs", 256, 74},
                                                  {GgmlType::kIQ3_XXS, "iq3_xxs", 256, 98},
                                                  {GgmlType::kIQ1_S, "iq1_s", 256, 50},
                                                  {GgmlType::kIQ4_NL, "iq4_nl", 32, 18},
                                                  {GgmlType::kIQ3_S, "iq3_s", 256, 110},
                                                  {GgmlType::kIQ2_S, "iq2_s", 256, 82},
                                                  {GgmlType::kIQ4_XS, "iq4_xs", 256, 136},
                                                  {GgmlType::kI8, "i8", 1, 1},
                                                  {GgmlType::kI16, "i16", 1, 2},
                                                  {GgmlType::kI32, "i32", 1, 4},
                                                  {GgmlType::kI64, "i64", 1, 8},
                                                  {GgmlType::kF64, "f64", 1, 8},
                                                  {GgmlType::kIQ1_M, "iq1_m", 256, 56},
                                                  {GgmlType::kBF16, "bf16", 1, 2},
                                                  {GgmlType::kTQ1_0, "tq1_0", 256, 54},
                                                  {GgmlType::kTQ2_0, "tq2_0", 256, 66},
                                                  {GgmlType::kMXFP4, "mxfp4", 32, 17},
                                                  {GgmlType::kNVFP4, "nvfp4", 64, 36},
                                                  {GgmlType::kQ1_0, "q1_0", 128, 18},
                                                  {GgmlType::kQ2_0, "q2_0", 64, 18}}};

struct RemovedRow {
  uint32_t number;
  std::string_view name;
};

constexpr std::array<RemovedRow, 8> kRemoved = {{{4, "q4_2"},
                                                 {5, "q4_3"},
                                                 {31, "q4_0_4_4"},
                                                 {32, "q4_0_4_8"},
                                                 {33, "q4_0_8_8"},
                                                 {36, "iq4_nl_4_4"},
                                                 {37, "iq4_nl_4_8"},
                                                 {38, "iq4_nl_8_8"}}};

}  // namespace

uint64_t ByteSize(GgufValueType type) { return kValueRows[static_cast<size_t>(type)].bytes; }

std::string_view Name(GgufValueType type) { return kValueRows[static_cast<size_t>(type)].name; }

const GgmlTypeInfo* FindGgmlType(uint32_t number) {
  for (const GgmlTypeInfo& info : kTypes) {
    if (static_cast<uint32_t>(info.type) == number) return &info;
  }
  return nullptr;
}

const GgmlTypeInfo& InfoOf(GgmlType type) { return *FindGgmlType(static_cast<uint32_t>(type)); }

std::string DescribeGgmlType(uint32_t number) {
  if (const GgmlTypeInfo* info = FindGgmlType(number)) return std::string(info->name);
  for (const RemovedRow& row : kRemoved) {
    if (row.number == number) {
      return std::to_string(number) + " (" + std::string(row.name) + ", removed from the format)";
    }
  }
  return std::to_string(number) + " (unknown)";
}

}  // namespace owml
