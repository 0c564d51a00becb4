// Where this user's cache is.
// Used by whatever keeps files between runs, and by `owml cache`.
#pragma once

#include <filesystem>
#include <optional>

namespace owml {

// OWML_CACHE_DIR, else XDG_CACHE_HOME/openwinml, else HOME/.cache/openwinml; nothing where none of these is set.
// Relative values count as not set, as the XDG specification says. The folder need not exist.
std::optional<std::filesystem::path> UserCacheFolder();

}  // namespace owml
