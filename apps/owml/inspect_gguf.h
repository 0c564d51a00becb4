// `owml inspect` of a GGUF model: the whole model, also where it lies in several files.
// Called by inspect.cpp.
#pragma once

#include <string>

namespace owml::cli {

// `path` is the model's file, or its first shard. Throws as OpenGgufModel.
void InspectGguf(const std::string& path, bool as_json);

}  // namespace owml::cli
