// The numbers of the GGUF format: kinds of metadata values and element types of tensors with their block sizes.
// Used by the GGUF reader, its checks, and whatever lists a file's tensors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace owml {

enum class GgufValueType : uint32_t {
  kUInt8 = 0,
  kInt8 = 1,
  kUInt16 = 2,
  kInt16 = 3,
  kUInt32 = 4,
  kInt32 = 5,
  kFloat32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kUInt64 = 10,
  kInt64 = 11,
  kFloat64 = 12,
};

constexpr bool IsKnownGgufValueType(uint32_t value) { return value <= 12; }

// Bytes of one value; 0 for strings and arrays, whose size the file tells.
uint64_t ByteSize(GgufValueType type);

// "uint32", "string", ...
std::string_view Name(GgufValueType type);

// Numbers of ggml's tensor element types, as they stand in files.
enum class GgmlType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ8_1 = 9,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kQ8_K = 15,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kI8 = 24,
  kI16 = 25,
  kI32 = 26,
  kI64 = 27,
  kF64 = 28,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
  kNVFP4 = 40,
  kQ1_0 = 41,
  kQ2_0 = 42,
};

// A row of a tensor is stored in blocks of `block_elements` values, each of `block_bytes` bytes.
struct GgmlTypeInfo {
  GgmlType type;
  std::string_view name;
  uint32_t block_elements;
  uint32_t block_bytes;
};

// Nothing for a number that is unknown or whose type was removed from the format.
const GgmlTypeInfo* FindGgmlType(uint32_t number);

// Of a type from the enumeration.
const GgmlTypeInfo& InfoOf(GgmlType type);

// For messages about any number: "q4_K", "31 (q4_0_4_4, removed from the format)", "77 (unknown)".
std::string DescribeGgmlType(uint32_t number);

}  // namespace owml
