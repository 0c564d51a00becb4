// See stage_options.h.
// Types of the cache are named as in GGUF files.
#include "stage_options.h"

#include <array>
#include <string>
#include <vector>

namespace owml::cli {
namespace {

struct KvCacheName {
  const char* name;
  OWML_KV_CACHE_TYPE type;
};

constexpr std::array<KvCacheName, 5> kKvCacheNames = {{{"default", OWML_KV_CACHE_TYPE_DEFAULT},
                                                       {"f16", OWML_KV_CACHE_TYPE_F16},
                                                       {"bf16", OWML_KV_CACHE_TYPE_BF16},
                                                       {"q8_0", OWML_KV_CACHE_TYPE_Q8_0},
                                                       {"f32", OWML_KV_CACHE_TYPE_F32}}};

}  // namespace

void AddStageOptions(CLI::App& verb, StageSettings& settings) {
  verb.add_option("-t,--threads", settings.threads, "Threads; 0 = all that the process may use")
      ->check(CLI::Range(0u, 4096u))
      ->envname("OWML_THREADS")
      ->capture_default_str();
  std::vector<std::string> words;
  for (const KvCacheName& each : kKvCacheNames) words.push_back(each.name);
  const auto take = [&settings](const std::string& word) {
    for (const KvCacheName& each : kKvCacheNames) {
      if (word == each.name) settings.kv_cache = each.type;
    }
  };
  verb.add_option_function<std::string>("--kv-cache", take,
                                        "Type of the kept keys and values: f16, bf16, q8_0, f32, or default, the "
                                        "engine's choice for the model")
      ->check(CLI::IsMember(words));
}

const char* NameOf(OWML_KV_CACHE_TYPE type) {
  for (const KvCacheName& each : kKvCacheNames) {
    if (each.type == type) return each.name;
  }
  return "default";
}

}  // namespace owml::cli
