// Added families of llama.cpp backends: folders that hold one ggml-<family> module and its manifest, and the rules by
// which a family is accepted. Called once by llama_library.cpp; knows nothing of llama.cpp itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace owml {

// What a family must have been built for.
struct LlamaCoreIdentity {
  std::string architecture;  // "x64", "arm64"
  std::string commit;        // lower-case hexadecimal, perhaps shortened
  uint32_t build = 0;
  uint32_t backend_api_version = 0;
  std::string runtime_contract;
};

struct LlamaFamily {
  std::string name;
  std::filesystem::path module;
};

struct RejectedLlamaFamily {
  std::filesystem::path folder;
  std::string reason;  // one sentence
};

struct LlamaFamilies {
  std::vector<LlamaFamily> accepted;  // by name
  std::vector<RejectedLlamaFamily> rejected;
};

// Looks at every folder in `root`. Throws Error only when `root` itself cannot be read.
LlamaFamilies FindLlamaFamilies(const std::filesystem::path& root, const LlamaCoreIdentity& core);

// Reads one folder; throws Error with the reason of a rejection.
LlamaFamily CheckLlamaFamily(const std::filesystem::path& folder, const LlamaCoreIdentity& core);

}  // namespace owml
