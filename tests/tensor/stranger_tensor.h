// A tensor as an application writes it, with nothing of ours in it, and knobs that make it lie.
// Used by the tests of tensor access and of the runtime.
#pragma once

#include <WinMLTensor.h>
#include <wrl/client.h>

#include <atomic>
#include <cstring>
#include <vector>

namespace owml::test {

// What the stranger answers; the defaults are honest.
struct StrangerConduct {
  HRESULT desc_result = S_OK;
  HRESULT lock_result = S_OK;  // a lock without flags
  HRESULT data_result = S_OK;
  HRESULT commit_result = S_OK;
  bool needs_synchronization = false;  // like a device tensor: staged copy, published by Commit
  bool forgets_lock = false;           // Lock succeeds with null
  bool leaves_rubbish = false;         // a failing Lock writes into its out pointer
  bool null_data = false;
  bool null_dimensions = false;
  int64_t size_error = 0;  // added to the byte size that GetData tells
  bool grows = false;      // every GetDesc tells a larger first extent
};

class StrangerTensor final : public IWinMLTensor {
 public:
  StrangerTensor(WINML_TENSOR_DATA_TYPE type, std::vector<UINT64> dims, std::vector<BYTE> bytes,
                 StrangerConduct conduct = {})
      : type_(type), dims_(std::move(dims)), bytes_(std::move(bytes)), conduct_(conduct) {}

  HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
    if (!object) return E_POINTER;
    *object = nullptr;
    if (iid != __uuidof(IUnknown) && iid != __uuidof(IWinMLTensor)) return E_NOINTERFACE;
    *object = static_cast<IWinMLTensor*>(this);
    AddRef();
    return S_OK;
  }
  ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
  ULONG STDMETHODCALLTYPE Release() override {
    const ULONG left = --references_;
    if (left == 0) delete this;
    return left;
  }

  HRESULT STDMETHODCALLTYPE GetDesc(WINML_TENSOR_DESC* desc) override {
    if (conduct_.grows) ++dims_.at(0);
    *desc = {type_, rank_ ? rank_ : static_cast<UINT32>(dims_.size()),
             conduct_.null_dimensions ? nullptr : dims_.data()};
    return conduct_.desc_result;
  }

  HRESULT STDMETHODCALLTYPE Lock(WINML_TENSOR_LOCK_MODE mode, WINML_TENSOR_LOCK_FLAGS flags,
                                 IWinMLTensorDataLock** lock) override {
    *lock = nullptr;
    ++lock_calls;
    last_mode = mode;
    if (FAILED(conduct_.lock_result)) {
      if (conduct_.leaves_rubbish) *lock = reinterpret_cast<IWinMLTensorDataLock*>(uintptr_t{0x10});
      return conduct_.lock_result;
    }
    if (conduct_.forgets_lock) return S_OK;
    if (conduct_.needs_synchronization && flags == WINML_TENSOR_LOCK_FLAG_NONE) {
      return HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);
    }
    *lock = new DataLock(this);
    return S_OK;
  }

  const std::vector<BYTE>& bytes() const { return bytes_; }
  void set_rank(UINT32 rank) { rank_ = rank; }  // what GetDesc tells, whatever the extents are
  ULONG references() const { return references_; }

  int lock_calls = 0;
  int open_locks = 0;
  int commits = 0;
  WINML_TENSOR_LOCK_MODE last_mode = WINML_TENSOR_LOCK_MODE_READ;

 private:
  ~StrangerTensor() = default;

  // Direct, or over a copy that only Commit writes back. Does not keep the tensor alive: the API leaves that open.
  class DataLock final : public IWinMLTensorSynchronizedDataLock {
   public:
    explicit DataLock(StrangerTensor* tensor) : tensor_(tensor), staged_(tensor->bytes_) { ++tensor_->open_locks; }

    HRESULT STDMETHODCALLTYPE QueryInterface(REFIID iid, void** object) override {
      *object = nullptr;
      const bool known = iid == __uuidof(IUnknown) || iid == __uuidof(IWinMLTensorDataLock) ||
                         (staged() && iid == __uuidof(IWinMLTensorSynchronizedDataLock));
      if (!known) return E_NOINTERFACE;
      *object = static_cast<IWinMLTensorSynchronizedDataLock*>(this);
      AddRef();
      return S_OK;
    }
    ULONG STDMETHODCALLTYPE AddRef() override { return ++references_; }
    ULONG STDMETHODCALLTYPE Release() override {
      const ULONG left = --references_;
      if (left == 0) delete this;
      return left;
    }
    HRESULT STDMETHODCALLTYPE GetData(BYTE** data, UINT64* size) override {
      std::vector<BYTE>& bytes = staged() ? staged_ : tensor_->bytes_;
      *data = tensor_->conduct_.null_data ? nullptr : bytes.data();
      *size = static_cast<UINT64>(static_cast<int64_t>(bytes.size()) + tensor_->conduct_.size_error);
      return tensor_->conduct_.data_result;
    }
    HRESULT STDMETHODCALLTYPE Commit() override {
      if (FAILED(tensor_->conduct_.commit_result)) return tensor_->conduct_.commit_result;
      ++tensor_->commits;
      tensor_->bytes_ = staged_;
      return S_OK;
    }

   private:
    ~DataLock() { --tensor_->open_locks; }
    bool staged() const { return tensor_->conduct_.needs_synchronization; }

    StrangerTensor* tensor_;
    std::vector<BYTE> staged_;
    ULONG references_ = 1;
  };

  std::atomic<ULONG> references_{1};
  WINML_TENSOR_DATA_TYPE type_;
  std::vector<UINT64> dims_;
  UINT32 rank_ = 0;
  std::vector<BYTE> bytes_;
  StrangerConduct conduct_;
};

// One reference, held by the answer. `values` become the bytes.
template <class T>
Microsoft::WRL::ComPtr<StrangerTensor> NewStranger(WINML_TENSOR_DATA_TYPE type, std::vector<UINT64> dims,
                                                   const std::vector<T>& values, StrangerConduct conduct = {}) {
  std::vector<BYTE> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  Microsoft::WRL::ComPtr<StrangerTensor> tensor;
  tensor.Attach(new StrangerTensor(type, std::move(dims), std::move(bytes), conduct));
  return tensor;
}

}  // namespace owml::test
