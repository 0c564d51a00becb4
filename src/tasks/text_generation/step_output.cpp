// Logits are used where they lie when they are aligned floats; the lock is held as long.
// See step_output.h.
#include "tasks/text_generation/step_output.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "base/half.h"
#include "com/guard.h"

namespace owml {
namespace {

bool IsLogitsType(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool IsTokenType(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

uint16_t Load16(const BYTE* at) {
  uint16_t bits;
  std::memcpy(&bits, at, sizeof bits);
  return bits;
}

float BFloat16ToFloat(uint16_t bits) { return std::bit_cast<float>(uint32_t{bits} << 16); }

}  // namespace

StepOutput::StepOutput(IWinMLStage* stage, UINT32 index, WINML_TEXT_GENERATION_OUTPUT_KIND kind, std::string label)
    : stage_(stage), index_(index), kind_(kind), label_(std::move(label)) {
  const auto schema = Query<IWinMLStageSchema>(stage);
  Require(schema != nullptr, E_INVALIDARG, label_ + ": the stage does not tell its outputs (IWinMLStageSchema)");
  WINML_TENSOR_DESC desc = {};
  ClearThreadError();
  CheckResult(schema->GetOutputTensorDesc(index, &desc), label_.c_str(), "IWinMLStageSchema::GetOutputTensorDesc");
  const TensorForm form = ParseTensorForm(desc, label_.c_str());
  if (kind == WINML_TEXT_GENERATION_OUTPUT_KIND_SAMPLED_TOKEN) {
    Require(IsTokenType(form.dtype), E_INVALIDARG,
            label_ + " is " + ToString(form.dtype, form.dims) + "; sampled tokens are int32 or int64");
    return;
  }
  Require(IsLogitsType(form.dtype) && !form.dims.empty() && form.dims.back() != 0, E_INVALIDARG,
          label_ + " is " + ToString(form.dtype, form.dims) + "; logits are float32, float16 or bfloat16 rows");
  vocabulary_size_ = form.dims.back() == kFreeDimension ? 0 : form.dims.back();
}

void StepOutput::Publish() {
  ComPtr<IWinMLTensor> published;
  const HRESULT result = stage_->GetOutput(index_, published.GetAddressOf());
  if (result != HRESULT_FROM_WIN32(ERROR_NOT_FOUND)) return;  // bound or requested; a run tells the rest
  ClearThreadError();
  CheckResult(stage_->RequestOutput(index_), label_.c_str(), "IWinMLStage::RequestOutput");
  requested_ = true;
}

void StepOutput::Withdraw() noexcept {
  if (requested_) stage_->ResetOutput(index_);
  requested_ = false;
}

TensorRead StepOutput::Read() const {
  ComPtr<IWinMLTensor> tensor;
  ClearThreadError();
  CheckResult(stage_->GetOutput(index_, tensor.GetAddressOf()), label_.c_str(), "IWinMLStage::GetOutput");
  Require(tensor != nullptr, E_UNEXPECTED, label_ + ": IWinMLStage::GetOutput succeeded without a tensor");
  TensorRead read(tensor.Get(), label_.c_str());
  Require(read.element_count() != 0, E_UNEXPECTED, label_ + " came out empty");
  return read;
}

std::span<const float> StepOutput::ReadLogits() {
  row_.reset();
  row_.emplace(Read());
  const TensorForm& form = row_->form();
  // For every token: sentences are built for errors only.
  if (!IsLogitsType(form.dtype) || form.dims.empty()) {
    throw Error(E_UNEXPECTED, label_ + " came out as " + ToString(form.dtype, form.dims) + ", not as rows of logits");
  }
  const size_t width = static_cast<size_t>(form.dims.back());
  if (vocabulary_size_ != 0 && width != vocabulary_size_) {
    throw Error(E_UNEXPECTED, label_ + " came out with " + std::to_string(width) + " logits a row instead of " +
                                  std::to_string(vocabulary_size_));
  }
  if (width > UINT32_MAX) throw Error(E_UNEXPECTED, label_ + " has more logits than there are token ids");
  const size_t first = static_cast<size_t>(row_->element_count()) - width;
  const BYTE* from = row_->data() + first * static_cast<size_t>(BytesPerElement(form.dtype));
  if (form.dtype == DType::kFloat32 && reinterpret_cast<uintptr_t>(from) % alignof(float) == 0) {
    return {reinterpret_cast<const float*>(from), width};
  }
  converted_.resize(width);
  if (form.dtype == DType::kFloat32) {
    std::memcpy(converted_.data(), from, width * sizeof(float));
  } else {
    const auto convert = form.dtype == DType::kFloat16 ? HalfToFloat : BFloat16ToFloat;
    for (size_t i = 0; i < width; ++i) converted_[i] = convert(Load16(from + i * sizeof(uint16_t)));
  }
  return converted_;
}

uint32_t StepOutput::ReadToken() {
  const TensorRead read = Read();
  const TensorForm& form = read.form();
  if (!IsTokenType(form.dtype)) {
    throw Error(E_UNEXPECTED, label_ + " came out as " + ToString(form.dtype, form.dims) + ", not as token ids");
  }
  const size_t last = static_cast<size_t>(read.element_count()) - 1;
  int64_t token = 0;
  if (form.dtype == DType::kInt32) {
    int32_t narrow;
    std::memcpy(&narrow, read.data() + last * sizeof narrow, sizeof narrow);
    token = narrow;
  } else {
    std::memcpy(&token, read.data() + last * sizeof token, sizeof token);
  }
  if (token < 0 || token > INT32_MAX) {
    throw Error(E_UNEXPECTED, label_ + " gave the token id " + std::to_string(token));
  }
  return static_cast<uint32_t>(token);
}

}  // namespace owml
