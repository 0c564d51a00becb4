// Start of llama.cpp: hooks, the CPU module with the best score, families from OWML_LLAMA_BACKENDS.
// Reached through LlamaLibrary::Get().
#include "backend/llama/llama_library.h"

#include <dlfcn.h>
#include <ggml-backend.h>
#include <llama.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "backend/llama/llama_families.h"
#include "base/error.h"
#include "base/log.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

// GGML_BACKEND_API_VERSION is in no public header of ggml; a module of another version is also refused when it is
// loaded.
constexpr uint32_t kBackendApiVersion = 2;

LlamaCoreIdentity CoreIdentity() {
  LlamaCoreIdentity core;
#if defined(__x86_64__)
  core.architecture = "x64";
#elif defined(__aarch64__)
  core.architecture = "arm64";
#endif
  core.commit = OWML_LLAMA_COMMIT;
  core.build = OWML_LLAMA_BUILD;
  core.backend_api_version = kBackendApiVersion;
  core.runtime_contract = "linux-glibc";  // Spec-open: "hybrid-crt" names Windows' C runtime
  return core;
}

// CPU modules lie in a folder beside the ggml library that this process uses, in the build tree and in an installation
// alike.
std::filesystem::path CpuModuleFolder() {
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(&ggml_backend_load), &info) || !info.dli_fname) return {};
  return std::filesystem::path(info.dli_fname).parent_path() / "owml-ggml-backends";
}

// How well a module fits this processor; 0 = not at all.
int Score(const std::filesystem::path& module) {
  const std::unique_ptr<void, int (*)(void*)> handle(dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL), dlclose);
  if (!handle) {
    Log(OWML_LOG_LEVEL_WARNING, "llama", "cannot load '" + module.string() + "': " + dlerror());
    return 0;
  }
  const auto score = reinterpret_cast<int (*)()>(dlsym(handle.get(), "ggml_backend_score"));
  return score ? score() : 1;
}

void LoadCpuModule() {
  if (ggml_backend_dev_by_type(GGML_BACKEND_DEVICE_TYPE_CPU)) return;
  const std::filesystem::path folder = CpuModuleFolder();
  std::filesystem::path best;
  int best_score = 0;
  std::error_code error;
  for (auto it = std::filesystem::directory_iterator(folder, error);
       !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    const std::string file = it->path().filename().string();
    if (!file.starts_with("libggml-cpu") || it->path().extension() != ".so") continue;
    const int score = Score(it->path());
    if (score > best_score) {
      best_score = score;
      best = it->path();
    }
  }
  if (best.empty()) {
    throw Error(
        HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
        "the llama.cpp engine is not usable here: no CPU module that fits this processor in '" + folder.string() + "'");
  }
  Log(OWML_LOG_LEVEL_DEBUG, "llama", "CPU module '" + best.string() + "', score " + std::to_string(best_score));
  if (!ggml_backend_load(best.c_str())) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the llama.cpp engine cannot load '" + best.string() + "'");
  }
}

void LoadFamilies() {
  const char* root = std::getenv("OWML_LLAMA_BACKENDS");
  if (!root || !*root) return;
  LlamaFamilies families;
  try {
    families = FindLlamaFamilies(root, CoreIdentity());
  } catch (const Error& error) {
    Log(OWML_LOG_LEVEL_WARNING, "llama", std::string("OWML_LLAMA_BACKENDS: ") + error.what());
    return;
  }
  for (const auto& family : families.rejected) {
    Log(OWML_LOG_LEVEL_WARNING, "llama",
        "the backend family in '" + family.folder.string() + "' is rejected: " + family.reason);
  }
  for (const auto& family : families.accepted) {
    const LlamaErrorLines lines;
    bool loaded = false;
    try {
      loaded = ggml_backend_load(family.module.c_str()) != nullptr;
    } catch (const LlamaAssertion&) {
    }
    Log(loaded ? OWML_LOG_LEVEL_INFO : OWML_LOG_LEVEL_WARNING, "llama",
        "the backend family '" + family.name + "' is " + (loaded ? "loaded" : "unusable: " + lines.Reason()));
  }
}

std::vector<Device> FindDevices() {
  std::vector<Device> devices;
  for (size_t i = 0; i < ggml_backend_dev_count(); ++i) {
    const ggml_backend_dev_t device = ggml_backend_dev_get(i);
    const auto type = ggml_backend_dev_type(device);
    if (type != GGML_BACKEND_DEVICE_TYPE_GPU && type != GGML_BACKEND_DEVICE_TYPE_IGPU) continue;
    Device found;
    found.kind = DeviceKind::kGpu;
    found.id = ggml_backend_dev_name(device);
    found.name = ggml_backend_dev_description(device);
    found.integrated = type == GGML_BACKEND_DEVICE_TYPE_IGPU;
    devices.push_back(std::move(found));
  }
  return devices;
}

}  // namespace

LlamaLibrary::LlamaLibrary() : name_(std::string("llama.cpp ") + llama_version()) {
  InstallLlamaHooks();
  LoadCpuModule();
  LoadFamilies();
  llama_backend_init();
  devices_ = FindDevices();
}

const LlamaLibrary& LlamaLibrary::Get() {
  static const LlamaLibrary library;  // a constructor that throws runs again at the next call
  return library;
}

}  // namespace owml
