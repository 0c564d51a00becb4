// Element type and rank follow the stage's schema; storage comes from the token target.
// See token_input.h.
#include "tasks/text_generation/token_input.h"

#include <utility>

#include "com/guard.h"
#include "tasks/text_generation/tensor_read.h"

namespace owml {

TokenInput::TokenInput(IWinMLStage* stage, UINT32 index, IWinMLExecutionTarget* target, std::string label)
    : stage_(stage), index_(index), factory_(Query<IWinMLRawTensorFactory>(target)), label_(std::move(label)) {
  Require(factory_ != nullptr, E_INVALIDARG, "the token target makes no tensors (IWinMLRawTensorFactory)");
  const auto schema = Query<IWinMLStageSchema>(stage);
  Require(schema != nullptr, E_INVALIDARG, label_ + ": the stage does not tell its inputs (IWinMLStageSchema)");
  WINML_TENSOR_DESC desc = {};
  ClearThreadError();
  CheckResult(schema->GetInputTensorDesc(index, &desc), label_.c_str(), "IWinMLStageSchema::GetInputTensorDesc");
  const TensorForm form = ParseTensorForm(desc, label_.c_str());
  const size_t rank = form.dims.size();
  const bool integer = form.dtype == DType::kInt32 || form.dtype == DType::kInt64;
  const bool one_row = rank == 1 || (rank == 2 && (form.dims[0] == 1 || form.dims[0] == kFreeDimension));
  Require(integer && one_row && form.dims.back() != 0, E_INVALIDARG,
          label_ + " is " + ToString(form.dtype, form.dims) + "; token ids are int32 or int64, [n] or [1, n]");
  dtype_ = form.dtype;
  rank_ = static_cast<uint32_t>(rank);
  fixed_length_ = form.dims.back() == kFreeDimension ? 0 : form.dims.back();
}

void TokenInput::Bind(std::span<const uint32_t> tokens) {
  const UINT64 dims[2] = {rank_ == 2 ? 1 : tokens.size(), tokens.size()};
  const WINML_TENSOR_DESC desc = {static_cast<WINML_TENSOR_DATA_TYPE>(dtype_), rank_, dims};
  const void* data = tokens.data();  // ids are below 2^31 here, so that their bits are those of an int32
  UINT64 bytes = tokens.size_bytes();
  if (dtype_ == DType::kInt64) {
    wide_.assign(tokens.begin(), tokens.end());
    data = wide_.data();
    bytes = wide_.size() * sizeof(int64_t);
  }
  ComPtr<IWinMLTensor> tensor;
  ClearThreadError();
  CheckResult(factory_->CreateTensor(&desc, data, bytes, tensor.GetAddressOf()), "the token target",
              "IWinMLRawTensorFactory::CreateTensor");
  ClearThreadError();
  CheckResult(stage_->BindInput(index_, tensor.Get()), label_.c_str(), "IWinMLStage::BindInput");
  bound_ = true;
}

void TokenInput::Unbind() noexcept {
  if (bound_) stage_->BindInput(index_, nullptr);
  bound_ = false;
}

}  // namespace owml
