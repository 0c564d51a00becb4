// Scoped access to the bytes of any IWinMLTensor, ours or an application's, for the length of a run.
// Used by the runtime around every stage and by tensor factories.
#pragma once

#include <WinMLTensor.h>

#include "base/tensor_view.h"
#include "com/com_ptr.h"

namespace owml {

struct HostTensorAccess;

enum class AccessMode { kRead, kWrite, kReadWrite };

// Holds the lock until it is destroyed. Our host tensors are locked without an allocation; others through their Lock
// method, first plain, then with ALLOW_SYNCHRONIZED_CPU_ACCESS when they answer ERROR_NOT_SUPPORTED.
class TensorAccess {
 public:
  // Throws ERROR_LOCKED on a conflicting lock, E_ACCESSDENIED for writing a read-only view, E_INVALIDARG for a stranger
  // whose descriptor or data are malformed (unknown type, rank, free extent, null data, too few bytes), or what a
  // stranger's methods answer; the sentence starts with `what`.
  TensorAccess(IWinMLTensor* tensor, AccessMode mode, const char* what);
  ~TensorAccess();
  TensorAccess(TensorAccess&& other) noexcept;
  TensorAccess& operator=(TensorAccess&&) = delete;

  // Bytes may be at any alignment: a tensor can be a view of the caller's buffer. Valid as long as this object.
  const TensorView& view() const;

  // Publishes what was written to a synchronized stranger; nothing to do for direct memory. Throws what Commit answers.
  void Commit();

 private:
  void LockStranger(IWinMLTensor* tensor, const char* what);

  ComPtr<HostTensorAccess> host_;  // ours only; the rest is for strangers
  ComPtr<IWinMLTensor> stranger_;  // outlives its lock
  ComPtr<IWinMLTensorDataLock> lock_;
  AccessMode mode_;
  bool synchronized_ = false;  // the lock may be a staged copy
  TensorView stranger_view_;
};

// Type and shape of any tensor, checked: known type, rank at most kMaxRank, every extent concrete, byte size within 64
// bits. Throws E_INVALIDARG, or what GetDesc answers; the sentence starts with `what`.
void ReadTensorDesc(IWinMLTensor* tensor, const char* what, DType* dtype, Dims* dims);

}  // namespace owml
