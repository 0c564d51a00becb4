// The checked files of one GGUF model in a form that llama.cpp can open: what was checked is what will be opened, even
// when a file is replaced on disk meanwhile. Made by the llama.cpp backend and by the quantizer.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "formats/gguf.h"

struct llama_model;
struct llama_model_params;

namespace owml {

class LlamaArtifact {
 public:
  // `path` is the model or its first shard; the other shards are found beside it. Throws the errors of OpenGgufModel
  // and of CheckModelForLlama.
  static std::shared_ptr<const LlamaArtifact> OpenFile(const std::filesystem::path& path);

  // `bytes` are copied. A shard of a larger model is ERROR_NOT_SUPPORTED.
  static std::shared_ptr<const LlamaArtifact> OpenBuffer(std::span<const std::byte> bytes);

  ~LlamaArtifact();
  LlamaArtifact(const LlamaArtifact&) = delete;
  LlamaArtifact& operator=(const LlamaArtifact&) = delete;

  // For messages: the path in quotes, or "the model buffer".
  const std::string& label() const { return label_; }

  // The first shard, which carries the metadata of the whole model.
  const GgufFile& gguf() const { return files_.front(); }

  // A model of llama.cpp, which may be used longer than the artifact; never null. Throws ERROR_INVALID_DATA with
  // llama.cpp's reason, E_OUTOFMEMORY.
  std::shared_ptr<llama_model> LoadModel(const llama_model_params& params) const;

 private:
  explicit LlamaArtifact(std::string label) : label_(std::move(label)) {}

  // Takes the descriptor over.
  void Add(int descriptor, const std::string& label);

  std::string label_;
  std::vector<int> descriptors_;
  std::vector<std::string> descriptor_paths_;
  std::vector<std::shared_ptr<const void>> maps_;
  std::vector<GgufFile> files_;  // over the maps
};

// Throws ERROR_INVALID_DATA when a file of this model, which LoadModel gave, was found cut short: what was computed
// last may come from zeros.
void RequireWholeFiles(const std::shared_ptr<llama_model>& model, const std::string& label);

}  // namespace owml
