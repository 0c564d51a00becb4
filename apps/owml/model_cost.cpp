// From the tensor tables alone.
// See model_cost.h.
#include "model_cost.h"

#include "formats/gguf_shards.h"

namespace owml::cli {

ModelCost CostOfToken(const std::string& path) {
  const GgufModelFiles model = OpenGgufModel(path);
  ModelCost cost;
  uint64_t embedding = 0;
  bool has_head = false;
  for (const GgufFile& file : model.files) {
    for (const GgufTensor& tensor : file.tensors()) {
      cost.bytes += tensor.data.size();
      if (tensor.rank > 1 && tensor.name.starts_with("blk.")) cost.operations += 2 * tensor.ElementCount();
      if (tensor.name == "token_embd.weight") embedding = tensor.data.size();
      has_head |= tensor.name == "output.weight";
    }
  }
  if (has_head) cost.bytes -= embedding;
  return cost;
}

}  // namespace owml::cli
