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

// bfloat16 is written as uint16, packed 4-bit types as their bytes (uint8, one dimension): .npy knows neither.
void WriteNpy(const std::filesystem::path& path, DType dtype, const Dims& dims, std::span<const std::byte> data);

}  // namespace owml::cli
