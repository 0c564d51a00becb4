// Tensors that ONNX Runtime and we share without a copy.
// Used by ort_session.cpp and ort_state.cpp.
#pragma once

#include <onnxruntime_c_api.h>

#include "backend/ort/ort_handles.h"
#include "base/tensor_view.h"

namespace owml {

// An OrtValue over memory of somebody else, made anew only when the memory or the shape changed.
class OrtValueSlot {
 public:
  // True when the value that is there stands for `view`.
  bool Holds(const TensorView& view) const {
    return value_ && view.data == data_ && view.dtype == dtype_ && view.dims == dims_;
  }
  // `view` must have passed CheckTensor.
  void Point(const TensorView& view);
  OrtValue* get() const { return value_.get(); }

 private:
  OrtValuePtr value_;
  std::byte* data_ = nullptr;
  DType dtype_ = DType::kUndefined;
  Dims dims_;
};

// A tensor in ONNX Runtime's own memory, all bytes zero. E_OUTOFMEMORY.
OrtValuePtr MakeZeroTensor(DType dtype, const Dims& dims);

// What `value` holds; the view is valid as long as the value. Throws ERROR_NOT_SUPPORTED for what is no tensor of a
// known type.
TensorView ViewOf(OrtValue* value);

// The same, owning the value.
TensorBuffer Share(OrtValuePtr value);

}  // namespace owml
