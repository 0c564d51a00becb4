// What a token of a GGUF language model costs: multiplications in a prompt, bytes in generation.
// Called by `owml bench`, which holds rates against the machine's limits.
#pragma once

#include <cstdint>
#include <string>

namespace owml::cli {

struct ModelCost {
  uint64_t operations = 0;  // multiplications and additions of the layers' matrices, without embedding and head
  uint64_t bytes = 0;       // of the tensors that a token reads: of an embedding that is not the head only a row
};

// All shards. Throws Error for a file that is not GGUF or is damaged.
ModelCost CostOfToken(const std::string& path);

}  // namespace owml::cli
