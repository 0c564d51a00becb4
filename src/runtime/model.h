// The handle of a loaded artifact, with its declared schema and, for ONNX, its names.
// Made by IWinMLRuntime::LoadModelFrom*; a model stage takes the artifact from it.
#pragma once

#include <WinMLRuntime.h>

#include <memory>

#include "backend/model.h"
#include "com/com_ptr.h"

namespace owml {

ComPtr<IWinMLModel> MakeModel(std::shared_ptr<const BackendModel> artifact);

// The artifact of one of our models, or null for an application's object.
std::shared_ptr<const BackendModel> ArtifactOf(IWinMLModel* model);

}  // namespace owml
