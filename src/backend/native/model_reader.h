// The metadata of a GGUF file as architectures read it: checked numbers, and a refusal of every key of the architecture
// that nobody asked for, so that none is ignored. Used by the files in architectures/.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend/native/model_plan.h"
#include "formats/gguf.h"

namespace owml::native {

class ModelReader {
 public:
  // `file` must outlive the reader.
  explicit ModelReader(const GgufFile& file);

  const std::string& architecture() const { return architecture_; }

  // What every decoder has: sizes, norms, one rope with its scaling for all layers, no windows.
  ModelPlan Decoder();

  // Keys are named without the architecture. Absent keys give `otherwise` or nothing; what cannot be throws
  // ERROR_INVALID_DATA.
  std::optional<double> FindFloat(std::string_view name);
  double Positive(std::string_view name, double otherwise);
  // A multiplier: finite, not near zero. Zero in the file means that there is none.
  float Factor(std::string_view name, float otherwise);
  bool Bool(std::string_view name, bool otherwise);
  // attention.sliding_window, 0 where there is none.
  uint32_t Window();
  // Which layers have the window: attention.sliding_window_pattern as a list, or as the number n of a cycle whose last
  // layer sees everything.
  std::vector<bool> WindowedLayers(size_t layers, uint32_t cycle);

  // Throws ERROR_NOT_SUPPORTED for a key of the architecture that was not read.
  void RequireAllRead() const;

  [[noreturn]] void NotSupported(const std::string& what) const;

 private:
  std::string Key(std::string_view name) const { return architecture_ + "." + std::string(name); }
  const GgufValue* Find(std::string_view name);
  uint32_t Extent(std::string_view name, uint32_t highest);
  uint32_t HeadWidth(const ModelPlan& plan);
  RopePlan Rope(const ModelPlan& plan);
  uint64_t Vocabulary();
  [[noreturn]] void Bad(std::string_view name, const std::string& value, const std::string& rule) const;

  const GgufFile& file_;
  const GgufMetadata& metadata_;
  std::string architecture_;
  std::set<std::string> read_;
};

}  // namespace owml::native
