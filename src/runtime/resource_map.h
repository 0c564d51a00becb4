// The application's resource map as the backends see it.
// Made at model load; lives as long as the model, and keeps the application's reader alive.
#pragma once

#include <WinMLRuntime.h>

#include <memory>

#include "backend/model.h"

namespace owml {

// Null for a null reader. Every answer of the reader is checked when a backend asks.
std::shared_ptr<const ResourceMap> AdaptResourceMap(IWinMLResourceMapReader* reader);

}  // namespace owml
