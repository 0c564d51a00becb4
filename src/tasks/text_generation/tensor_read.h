// Reads any IWinMLTensor through its public interface; every answer of a stranger is checked.
// Used for logits and sampled tokens.
#pragma once

#include <WinMLTensor.h>

#include "base/shape.h"
#include "com/com_ptr.h"

namespace owml {

// Element type and extents from a descriptor that some object gave; free extents are kept. Throws E_INVALIDARG for an
// unknown type, too many axes or null dimensions; the sentence starts with `what`.
struct TensorForm {
  DType dtype = DType::kUndefined;
  Dims dims;
};
TensorForm ParseTensorForm(const WINML_TENSOR_DESC& desc, const char* what);

// Holds a read lock while it lives.
class TensorRead {
 public:
  // Throws E_INVALIDARG for malformed answers, or what the tensor's methods answer; the sentence starts with `what`.
  TensorRead(IWinMLTensor* tensor, const char* what);
  TensorRead(TensorRead&&) noexcept = default;

  const TensorForm& form() const { return form_; }
  uint64_t element_count() const { return elements_; }

  // At any alignment; at least the bytes of form().
  const BYTE* data() const { return data_; }

 private:
  ComPtr<IWinMLTensor> tensor_;  // outlives its lock
  ComPtr<IWinMLTensorDataLock> lock_;
  TensorForm form_;
  uint64_t elements_ = 0;
  const BYTE* data_ = nullptr;
};

}  // namespace owml
