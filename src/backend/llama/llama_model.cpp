// Loading and placing of GGUF models.
// A load without weights shows at once whether llama.cpp takes the file; Build reads the weights.
#include "backend/llama/llama_model.h"

#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backend/llama/llama_library.h"
#include "backend/llama/llama_session.h"
#include "base/error.h"
#include "llama/llama_artifact.h"

namespace owml {
namespace {

[[noreturn]] void NotSupported(const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), sentence);
}

llama_model_params ParamsFor(std::array<ggml_backend_dev_t, 2>* devices) {
  llama_model_params params = llama_model_default_params();
  params.devices = devices->data();
  params.split_mode = LLAMA_SPLIT_MODE_NONE;
  params.n_gpu_layers = (*devices)[0] ? -1 : 0;
  params.progress_callback = [](float, void*) { return true; };
  return params;
}

void RequireDecoder(const LlamaArtifact& artifact) {
  const GgufMetadata& metadata = artifact.gguf().metadata();
  if (artifact.gguf().tensors().empty() && metadata.FindUInt32("split.count").value_or(1) <= 1) {
    NotSupported(artifact.label() + " holds a vocabulary and no weights; it can be used as a tokenizer only");
  }
  const std::string architecture(metadata.RequireString("general.architecture"));
  if (!metadata.FindBool(architecture + ".attention.causal").value_or(true)) {
    NotSupported(artifact.label() + " does not continue text: its attention is not causal ('" + architecture + "')");
  }
}

}  // namespace

LlamaModel::LlamaModel(const LlamaLibrary& library, std::shared_ptr<const LlamaArtifact> artifact)
    : library_(library), artifact_(std::move(artifact)) {
  RequireDecoder(*artifact_);
  std::array<ggml_backend_dev_t, 2> cpu_only = {nullptr, nullptr};
  llama_model_params params = ParamsFor(&cpu_only);
  params.no_alloc = true;
  params.load_mode = LLAMA_LOAD_MODE_NONE;
  const auto model = artifact_->LoadModel(params);
  if (llama_model_has_encoder(model.get()) || !llama_model_has_decoder(model.get())) {
    NotSupported(artifact_->label() + " has an encoder; only decoder models can be stages");
  }
  if (llama_model_is_diffusion(model.get()))
    NotSupported(artifact_->label() + " is a diffusion model; it does not continue text");
  if (llama_vocab_n_tokens(llama_model_get_vocab(model.get())) <= 0)
    NotSupported(artifact_->label() + " has no vocabulary");

  facts_.label = artifact_->label();
  if (const int32_t declared = llama_model_n_ctx_train(model.get()); declared > 0) facts_.declared_capacity = declared;
  facts_.prediction_layers = static_cast<uint32_t>(std::max(0, llama_model_n_layer_nextn(model.get())));
}

LlamaModel::~LlamaModel() = default;

std::unique_ptr<BackendSession> LlamaModel::CreateSession(const SessionOptions& options) const {
  LlamaSettings settings = ResolveLlamaSettings(options, facts_);
  if (options.device == DeviceKind::kGpu) {
    for (const Device& device : library_.devices()) {
      if (options.device_id.empty() || device.id == options.device_id) {
        settings.device = device.id;
        break;
      }
    }
    if (settings.device.empty()) {
      NotSupported(facts_.label + " cannot run on a GPU here: no llama.cpp backend family offers " +
                   (options.device_id.empty() ? "one" : "the device '" + options.device_id + "'"));
    }
  }
  return std::make_unique<LlamaSession>(WeightsOn(settings.device), settings, facts_, library_.name());
}

std::shared_ptr<llama_model> LlamaModel::WeightsOn(const std::string& device) const {
  const std::lock_guard lock(mutex_);
  std::weak_ptr<llama_model>& known = weights_[device];
  if (auto model = known.lock()) return model;
  std::array<ggml_backend_dev_t, 2> devices = {device.empty() ? nullptr : ggml_backend_dev_by_name(device.c_str()),
                                               nullptr};
  auto model = artifact_->LoadModel(ParamsFor(&devices));
  known = model;
  return model;
}

}  // namespace owml
