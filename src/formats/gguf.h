// A GGUF file, versions 2 and 3, read over its bytes: header, metadata, tensor list, data section. Nothing is copied.
// Called by GGUF backends, tokenizers, `owml inspect` and the shard lookup; every size is checked against the bytes
// that are there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf_metadata.h"
#include "formats/gguf_types.h"

namespace owml {

inline constexpr uint32_t kGgufMaxDims = 4;
// Longest tensor name in bytes: the format allows 64, ggml keeps a terminating zero in as many.
inline constexpr uint64_t kGgufMaxTensorName = 63;
inline constexpr uint32_t kGgufDefaultAlignment = 32;
// Spec-open: the format names no upper bound; a page of the largest common size is far above what any writer uses.
inline constexpr uint32_t kGgufMaxAlignment = 1u << 16;

// Extents as stored: the first one is the contiguous row.
struct GgufTensor {
  std::string_view name;
  GgmlType type = GgmlType::kF32;
  uint32_t rank = 0;
  std::array<uint64_t, kGgufMaxDims> dims = {1, 1, 1, 1};
  uint64_t offset = 0;  // from the start of the data section
  std::span<const std::byte> data;

  uint64_t ElementCount() const { return dims[0] * dims[1] * dims[2] * dims[3]; }
  // "[576, 49152]".
  std::string ShapeText() const;
};

class GgufFile {
 public:
  // Throws ERROR_INVALID_DATA with a sentence. `bytes` must outlive the result and all views taken from it.
  static GgufFile Parse(std::span<const std::byte> bytes, std::string label);

  const std::string& label() const { return label_; }
  uint32_t version() const { return version_; }
  uint32_t alignment() const { return alignment_; }
  uint64_t data_offset() const { return data_offset_; }
  const GgufMetadata& metadata() const { return metadata_; }

  // In file order.
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* FindTensor(std::string_view name) const;

 private:
  friend class GgufParser;

  std::string label_;
  uint32_t version_ = 0;
  uint32_t alignment_ = kGgufDefaultAlignment;
  uint64_t data_offset_ = 0;
  GgufMetadata metadata_;
  std::vector<GgufTensor> tensors_;
  std::vector<uint32_t> by_name_;  // indices into tensors_, sorted by name
};

}  // namespace owml
