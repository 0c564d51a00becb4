// An object with the three tensor factories, as an execution target has them, and short ways to make and read tensors.
// Used by the tests of src/tensor.
#pragma once

#include <WinMLRuntime.h>
#include <WinMLTensorFactory.h>
#include <gtest/gtest.h>
#include <openwinml/error.h>

#include <cstring>
#include <string>
#include <vector>

#include "com/com_ptr.h"
#include "com/implements.h"
#include "tensor/raw_tensor_factory.h"
#include "tensor/tensor_processor_factory.h"
#include "tensor/text_tensor_factory.h"

namespace owml::test {

inline constexpr HRESULT kLocked = HRESULT_FROM_WIN32(ERROR_LOCKED);
inline constexpr HRESULT kNotSupported = HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED);

class FactoryObject final : public Implements<FactoryObject, RawTensorFactoryMethods, TextTensorFactoryMethods,
                                              TensorProcessorFactoryMethods> {};

class TensorTest : public testing::Test {
 protected:
  TensorTest() {
    const ComPtr<FactoryObject> object = Make<FactoryObject>();
    IUnknown* unknown = static_cast<RawTensorFactoryMethods*>(object.Get());
    raw_ = Query<IWinMLRawTensorFactory>(unknown);
    text_ = Query<IWinMLTextTensorFactory>(unknown);
    processors_ = Query<IWinMLTensorProcessorFactory>(unknown);
  }

  ComPtr<IWinMLRawTensorFactory> raw_;
  ComPtr<IWinMLTextTensorFactory> text_;
  ComPtr<IWinMLTensorProcessorFactory> processors_;
};

// A descriptor with its extents.
struct Shape {
  WINML_TENSOR_DATA_TYPE type;
  std::vector<UINT64> dims;

  WINML_TENSOR_DESC desc() const { return {type, static_cast<UINT32>(dims.size()), dims.data()}; }
};

// The code and a sentence that holds `words`.
inline void ExpectError(HRESULT wanted, HRESULT result, const std::string& words) {
  EXPECT_EQ(wanted, result);
  EXPECT_NE(openwinml::LastErrorMessage().find(words), std::string::npos)
      << "no \"" << words << "\" in \"" << openwinml::LastErrorMessage() << "\"";
}

template <class T>
ComPtr<IWinMLTensor> NewTensor(WINML_TENSOR_DATA_TYPE type, std::vector<UINT64> dims, const std::vector<T>& values) {
  const Shape shape = {type, std::move(dims)};
  const WINML_TENSOR_DESC desc = shape.desc();
  return CreateTensor(&desc, values.data(), values.size() * sizeof(T));
}

inline ComPtr<IWinMLTensor> Int32(std::vector<UINT64> dims, const std::vector<int32_t>& values) {
  return NewTensor(WINML_TENSOR_DATA_TYPE_INT32, std::move(dims), values);
}
inline ComPtr<IWinMLTensor> Int64(std::vector<UINT64> dims, const std::vector<int64_t>& values) {
  return NewTensor(WINML_TENSOR_DATA_TYPE_INT64, std::move(dims), values);
}
inline ComPtr<IWinMLTensor> Float32(std::vector<UINT64> dims, const std::vector<float>& values) {
  return NewTensor(WINML_TENSOR_DATA_TYPE_FLOAT32, std::move(dims), values);
}
inline ComPtr<IWinMLTensor> Float16(std::vector<UINT64> dims, const std::vector<uint16_t>& values) {
  return NewTensor(WINML_TENSOR_DATA_TYPE_FLOAT16, std::move(dims), values);
}

inline ComPtr<IWinMLTensorDataLock> LockOf(IWinMLTensor* tensor, WINML_TENSOR_LOCK_MODE mode) {
  ComPtr<IWinMLTensorDataLock> lock;
  EXPECT_EQ(S_OK, tensor->Lock(mode, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf()));
  return lock;
}

inline HRESULT TryLock(IWinMLTensor* tensor, WINML_TENSOR_LOCK_MODE mode) {
  ComPtr<IWinMLTensorDataLock> lock;
  return tensor->Lock(mode, WINML_TENSOR_LOCK_FLAG_NONE, lock.GetAddressOf());
}

inline BYTE* DataOf(IWinMLTensorDataLock* lock, UINT64* size = nullptr) {
  BYTE* data = nullptr;
  UINT64 bytes = 0;
  EXPECT_EQ(S_OK, lock->GetData(&data, &bytes));
  if (size) *size = bytes;
  return data;
}

// All elements, through the public lock.
template <class T>
std::vector<T> Contents(IWinMLTensor* tensor) {
  const ComPtr<IWinMLTensorDataLock> lock = LockOf(tensor, WINML_TENSOR_LOCK_MODE_READ);
  if (!lock) return {};
  UINT64 size = 0;
  const BYTE* data = DataOf(lock.Get(), &size);
  std::vector<T> values(size / sizeof(T));
  if (size > 0) std::memcpy(values.data(), data, values.size() * sizeof(T));
  return values;
}

inline std::vector<UINT64> DimsOf(IWinMLTensor* tensor) {
  WINML_TENSOR_DESC desc = {};
  EXPECT_EQ(S_OK, tensor->GetDesc(&desc));
  return {desc.dimensions, desc.dimensions + desc.dimensionCount};
}

}  // namespace owml::test
