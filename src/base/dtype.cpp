// Sizes and names of element types.
// Called by shape arithmetic, schemas and messages.
#include "base/dtype.h"

#include <array>
#include <cstddef>

namespace owml {
namespace {

struct Row {
  std::string_view name;
  int bits;
};

constexpr std::array<Row, 16> kRows = {{{"undefined", 8},
                                        {"float32", 32},
                                        {"float16", 16},
                                        {"bfloat16", 16},
                                        {"int8", 8},
                                        {"uint8", 8},
                                        {"int16", 16},
                                        {"uint16", 16},
                                        {"int32", 32},
                                        {"uint32", 32},
                                        {"int64", 64},
                                        {"uint64", 64},
                                        {"float64", 64},
                                        {"bool", 8},
                                        {"int4", 4},
                                        {"uint4", 4}}};

}  // namespace

int BitsPerElement(DType dtype) { return kRows[static_cast<size_t>(dtype)].bits; }

int BytesPerElement(DType dtype) { return BitsPerElement(dtype) / 8; }

std::string_view Name(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

}  // namespace owml
