// NumPy .npy files: read for `owml run --input`, written for `--output`.
// Format 1.0 to 3.0, C order, little-endian; files are untrusted.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace owml::cli {

struct NpyArray {
  DType dtype = DType::kUndefined;
  Dims dims;
  std::vector<std::byte> data;
};

// Throws Failure naming the file and what is wrong with it: magic, header, type, Fortran order, size.
NpyArray ReadNpy(const std::filesystem::path& path);

// What .npy has no name for: bfloat16 as the uint16 with the same bits, int4 as int8, uint4 as uint8.
DType StoredType(DType dtype);

// The array as a tensor of `dtype`, when it is stored the way WriteNpy stores that type; else the array as it is.
// Throws Failure for a value that four bits cannot hold.
NpyArray Restore(NpyArray array, DType dtype, const std::filesystem::path& path);

void WriteNpy(const std::filesystem::path& path, DType dtype, const Dims& dims, std::span<const std::byte> data);

}  // namespace owml::cli
