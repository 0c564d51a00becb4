// Looking the folder up in the environment.
#include "base/cache_folder.h"

#include <cstdlib>

namespace owml {
namespace {

std::optional<std::filesystem::path> AbsolutePath(const char* variable) {
  const char* value = std::getenv(variable);
  if (!value || !std::filesystem::path(value).is_absolute()) return std::nullopt;
  return std::filesystem::path(value);
}

}  // namespace

std::optional<std::filesystem::path> UserCacheFolder() {
  if (auto folder = AbsolutePath("OWML_CACHE_DIR")) return folder;
  if (auto folder = AbsolutePath("XDG_CACHE_HOME")) return *folder / "openwinml";
  if (auto folder = AbsolutePath("HOME")) return *folder / ".cache" / "openwinml";
  return std::nullopt;
}

}  // namespace owml
