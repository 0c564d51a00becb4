// Schema, checks and result memory of the token ports.
// See token_ports.h.
#include "backend/token_ports.h"

#include "base/error.h"

namespace owml {

void RequireStepFits(std::span<const int32_t> tokens, std::span<const float> logits, uint32_t width,
                     uint64_t row_stride) {
  if (tokens.size() > width) {
    throw Error(E_INVALIDARG,
                std::to_string(tokens.size()) + " tokens are more than the " + std::to_string(width) + " of one step");
  }
  if (logits.size() / row_stride < tokens.size()) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), std::to_string(tokens.size()) + " rows of " +
                                                                   std::to_string(row_stride) + " logits do not fit " +
                                                                   std::to_string(logits.size()) + " elements");
  }
}

// Spec-open: one int32 row of tokens, and logits of the last position only.
TokenPorts::TokenPorts(uint64_t vocabulary_size) {
  schema_.inputs.push_back({"tokens", DType::kInt32, {1, kFreeDimension}, {"", "sequence"}});
  schema_.outputs.push_back({"logits", DType::kFloat32, {1, 1, vocabulary_size}, {"", "", ""}});
}

std::span<const int32_t> TokenPorts::TokensOf(std::span<const InputValue> inputs) const {
  const InputValue& input = inputs[0];
  if (!input.bound) throw Error(E_INVALIDARG, "input 0 ('tokens') has no tensor");
  const TensorSpec& spec = schema_.inputs[0];
  const TensorView& view = input.view;
  if (view.dtype != spec.dtype || !Matches(spec.dims, view.dims)) {
    throw Error(E_INVALIDARG, "input 0 ('tokens') is " + ToString(view.dtype, view.dims) + "; it must be " +
                                  ToString(spec.dtype, spec.dims));
  }
  return {reinterpret_cast<const int32_t*>(view.data), static_cast<size_t>(view.bytes / sizeof(int32_t))};
}

float* TokenPorts::LogitsOf(const OutputValue& output, TensorBuffer* made) {
  if (!output.wanted) return nullptr;
  const TensorSpec& spec = schema_.outputs[0];
  if (output.destination) {
    const TensorView& view = *output.destination;
    if (view.dtype != spec.dtype || view.dims != spec.dims) {
      throw Error(E_INVALIDARG, "output 0 ('logits') is bound to " + ToString(view.dtype, view.dims) + "; it must be " +
                                    ToString(spec.dtype, spec.dims));
    }
    return reinterpret_cast<float*>(view.data);
  }
  if (!row_ || row_.use_count() > 1) row_ = std::make_shared<std::vector<float>>(spec.dims.back());
  made->view.dtype = spec.dtype;
  made->view.dims = spec.dims;
  made->view.data = reinterpret_cast<std::byte*>(row_->data());
  made->view.bytes = row_->size() * sizeof(float);
  made->owner = row_;
  return row_->data();
}

}  // namespace owml
