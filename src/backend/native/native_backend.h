// The backend that runs GGUF models with our own kernels on the CPU.
// Registered in src/exports/; nothing else outside this folder includes it.
#pragma once

#include <memory>

#include "backend/backend.h"

namespace owml {

std::shared_ptr<const Backend> MakeNativeBackend();

}  // namespace owml
