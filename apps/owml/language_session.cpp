// Token tensors as the stage wants them; the context is kept between calls.
// See language_session.h.
#include "language_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/half.h"
#include "failure.h"

namespace owml::cli {

LanguageSession::LanguageSession(const std::string& model_path, const StageSettings& settings)
    : model_(model_path, settings) {
  ComPtr<IWinMLStageSchema> schema;
  Check(model_.stage()->QueryInterface(IID_PPV_ARGS(schema.GetAddressOf())), "reading the schema");
  WINML_TENSOR_DESC desc = {};
  Check(schema->GetInputTensorDesc(0, &desc), "reading the schema");
  token_type_ = static_cast<DType>(desc.dataType);
  token_rank_ = desc.dimensionCount;
  if ((token_type_ != DType::kInt32 && token_type_ != DType::kInt64) || token_rank_ < 1 || token_rank_ > 2) {
    throw Failure("the model takes no token ids in input 0; this command needs a language model", E_INVALIDARG);
  }
  if (!model_.state() || FAILED(model_.state()->GetSequenceCapacity(&capacity_))) capacity_ = 0;
  Check(model_.stage()->RequestOutput(0), "requesting logits");
}

void LanguageSession::Evaluate(const uint32_t* tokens, size_t count) {
  Dims dims(token_rank_, 1);
  dims.back() = count;
  ComPtr<IWinMLTensor> tensor;
  if (token_type_ == DType::kInt32) {
    tensor = model_.MakeTensor(DType::kInt32, dims, tokens, count * sizeof(uint32_t));
  } else {
    const std::vector<int64_t> wide(tokens, tokens + count);
    tensor = model_.MakeTensor(DType::kInt64, dims, wide.data(), count * sizeof(int64_t));
  }
  Check(model_.stage()->BindInput(0, tensor.Get()), "binding tokens");
  model_.Run();
  context_.insert(context_.end(), tokens, tokens + count);
}

size_t LanguageSession::KeepPrefix(const std::vector<uint32_t>& tokens) {
  if (tokens.empty()) throw Failure("the prompt is empty", E_INVALIDARG);
  if (capacity_ && tokens.size() >= capacity_) {
    throw Failure(fmt::format("the prompt has {} tokens, the context holds {}; --context N makes it larger",
                              tokens.size(), capacity_),
                  HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER));
  }
  size_t keep = static_cast<size_t>(
      std::mismatch(context_.begin(), context_.end(), tokens.begin(), tokens.end()).first - context_.begin());
  keep = std::min(keep, tokens.size() - 1);
  if (keep < context_.size()) {
    if (keep > 0 && model_.state() && SUCCEEDED(model_.state()->RewindTo(keep))) {
      context_.resize(keep);
    } else {
      Reset();
      keep = 0;
    }
  }
  return keep;
}

void LanguageSession::Prefill(const std::vector<uint32_t>& tokens) {
  const size_t kept = KeepPrefix(tokens);
  Evaluate(tokens.data() + kept, tokens.size() - kept);
}

void LanguageSession::Append(uint32_t token) { Evaluate(&token, 1); }

void LanguageSession::Reset() {
  model_.Reset();
  context_.clear();
}

std::vector<float> LanguageSession::Logits() const {
  ComPtr<IWinMLTensor> tensor;
  Check(model_.stage()->GetOutput(0, tensor.GetAddressOf()), "reading logits");
  const ReadLock lock(tensor.Get());
  if (lock.dims().empty()) throw Failure("the model's output 0 is a scalar, not logits");
  const size_t width = static_cast<size_t>(lock.dims().back());
  const size_t rows = width ? static_cast<size_t>(ElementCount(lock.dims()).value_or(0)) / width : 0;
  if (rows == 0) throw Failure("the model gave no logits");
  std::vector<float> row(width);
  if (lock.dtype() == DType::kFloat32) {
    const float* all = reinterpret_cast<const float*>(lock.data());
    std::copy_n(all + (rows - 1) * width, width, row.begin());
  } else if (lock.dtype() == DType::kFloat16) {
    const uint16_t* all = reinterpret_cast<const uint16_t*>(lock.data());
    std::transform(all + (rows - 1) * width, all + rows * width, row.begin(), HalfToFloat);
  } else {
    throw Failure(fmt::format("the model's logits are {}, not float32 or float16", Name(lock.dtype())));
  }
  return row;
}

}  // namespace owml::cli
