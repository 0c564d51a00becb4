// A weight matrix in panels, ready for the kernels.
// Made by the loader of weights, read by the forward pass.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "backend/native/model_tensors.h"
#include "backend/native/thread_pool.h"
#include "formats/gguf.h"
#include "kernels/kernels.h"

namespace owml::native {

struct PackedMatrix {
  kernels::WeightType type = kernels::WeightType::kF32;
  size_t rows = 0;     // outputs
  size_t columns = 0;  // inputs
  const std::byte* panels = nullptr;

  bool quantized() const { return kernels::IsQuantized(type); }
  size_t panel_bytes() const { return kernels::PanelBytes(type, columns); }
  uint64_t bytes() const { return kernels::PanelCount(rows) * panel_bytes(); }
  const std::byte* panel(size_t index) const { return panels + index * panel_bytes(); }
};

// Nothing for an element type without kernels.
std::optional<kernels::WeightType> WeightTypeOf(GgmlType type);

// The shape and type of some rows of a tensor with two dimensions, without panels.
PackedMatrix UnpackedMatrix(const TensorPart& rows);

// Packs into `memory` of bytes(). Throws ERROR_INVALID_DATA naming `label` and the tensor when a number in it is NaN or
// infinite.
void Pack(const TensorPart& rows, const std::string& label, ThreadPool& pool, std::byte* memory, PackedMatrix* matrix);

// The same refusal for rows that are read as they lie in the file.
void CheckFinite(const TensorPart& rows, const std::string& label, ThreadPool& pool);

}  // namespace owml::native
