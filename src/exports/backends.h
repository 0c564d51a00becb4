// The backends of this build, in order of preference.
// Listed in backends.cpp; a backend that is not built is a stub of its own folder.
#pragma once

#include <memory>
#include <vector>

#include "backend/backend.h"
#include "backend/registry.h"

namespace owml {

std::vector<std::shared_ptr<const Backend>> BuiltBackends();

// Shared by all Runtime objects of the process; backends find their libraries when they are first needed.
std::shared_ptr<const Registry> ProcessRegistry();

}  // namespace owml
