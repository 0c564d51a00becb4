// The backend that runs GGUF models through llama.cpp.
// Registered in src/exports/; nothing else outside this folder includes it.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace owml {

// Starts llama.cpp at the first Load or Devices. A build without it gives a backend whose Load answers
// ERROR_NOT_SUPPORTED.
std::shared_ptr<const Backend> MakeLlamaBackend();

}  // namespace owml
