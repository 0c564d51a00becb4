// Options of the command line that set how a stage is built, the same for every verb that builds one.
// Used by bench, generate and chat; the values go into StageSettings.
#pragma once

#include <CLI/CLI.hpp>

#include "model_session.h"

namespace owml::cli {

// -t and --kv-cache.
void AddStageOptions(CLI::App& verb, StageSettings& settings);

// The word that --kv-cache takes; "default" where an engine names no type.
const char* NameOf(OWML_KV_CACHE_TYPE type);

}  // namespace owml::cli
