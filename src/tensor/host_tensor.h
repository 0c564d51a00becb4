// Tensors in CPU memory: owned, borrowed from the caller, or kept alive by whoever made the bytes (a backend's output).
// Made by the factories, the runtime and processors.
#pragma once

#include <WinMLTensor.h>

#include "base/tensor_view.h"
#include "com/com_ptr.h"

namespace owml {

// Zeroed, 64-byte aligned storage. Throws E_INVALIDARG for a free extent or an overflowing size, std::bad_alloc.
ComPtr<IWinMLTensor> MakeHostTensor(DType dtype, const Dims& dims);

// A tensor over existing memory, without a copy. `read_only` refuses write locks and in-place operations
// (E_ACCESSDENIED).
ComPtr<IWinMLTensor> MakeHostTensor(TensorBuffer buffer, bool read_only);

}  // namespace owml
