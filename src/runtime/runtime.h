// The entry object: loads models, makes targets and builders.
// Made by src/exports from the list of backends.
#pragma once

#include <WinMLRuntime.h>

#include <memory>

#include "backend/registry.h"
#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLRuntime> MakeRuntime(std::shared_ptr<const Registry> registry);

}  // namespace owml
