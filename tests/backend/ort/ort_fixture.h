// Loads and runs small ONNX models through the backend contract.
// Used by every test of this folder.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/backend.h"
#include "backend/ort/ort_backend.h"
#include "base/error.h"

namespace owml::test {

// A tensor with its own memory.
struct HostTensor {
  TensorView view;
  std::shared_ptr<std::vector<std::byte>> memory;

  template <typename T>
  std::vector<T> Values() const {
    std::vector<T> values(static_cast<size_t>(view.bytes) / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), view.data, values.size() * sizeof(T));
    return values;
  }
};

template <typename T>
HostTensor Tensor(DType dtype, Dims dims, const std::vector<T>& values) {
  HostTensor tensor;
  tensor.memory = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(tensor.memory->data(), values.data(), tensor.memory->size());
  tensor.view = {dtype, std::move(dims), tensor.memory->data(), tensor.memory->size()};
  return tensor;
}

inline HostTensor Floats(Dims dims, const std::vector<float>& values) {
  return Tensor(DType::kFloat32, std::move(dims), values);
}
inline HostTensor Ints(Dims dims, const std::vector<int64_t>& values) {
  return Tensor(DType::kInt64, std::move(dims), values);
}
inline HostTensor Zeros(DType dtype, const Dims& dims) {
  return Tensor(dtype, dims, std::vector<std::byte>(static_cast<size_t>(*ByteSize(dtype, dims))));
}

inline InputValue Bound(const HostTensor& tensor) { return {true, tensor.view}; }
inline OutputValue Wanted() { return {true, std::nullopt, {}}; }
inline OutputValue Into(const HostTensor& tensor) { return {true, tensor.view, {}}; }

template <typename T>
std::vector<T> ValuesOf(const TensorView& view) {
  std::vector<T> values(static_cast<size_t>(view.bytes) / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), view.data, values.size() * sizeof(T));
  return values;
}

inline ModelSource Buffer(const std::string& bytes) {
  auto copy = std::make_shared<std::string>(bytes);
  ModelSource source;
  source.bytes = std::as_bytes(std::span(*copy));
  source.owner = copy;
  return source;
}

inline ModelSource File(const std::filesystem::path& path) {
  ModelSource source;
  source.path = path;
  return source;
}

inline std::shared_ptr<const BackendModel> Load(const ModelSource& source, ModelFormat format = ModelFormat::kOnnx) {
  return MakeOrtBackend()->Load(source, format);
}

inline std::unique_ptr<BackendSession> Session(const std::string& bytes, const SessionOptions& options = {}) {
  return Load(Buffer(bytes))->CreateSession(options);
}

// The error that `call` throws; fails the test when there is none.
inline std::pair<HRESULT, std::string> ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  ADD_FAILURE() << "no error";
  return {S_OK, ""};
}

// Runs with every input bound and the outputs as given.
inline void RunWith(BackendSession& session, const std::vector<InputValue>& inputs, std::vector<OutputValue>& outputs) {
  session.Run(inputs, outputs);
}

// The first output, left to the backend.
inline TensorBuffer FirstOutput(BackendSession& session, const std::vector<InputValue>& inputs) {
  std::vector<OutputValue> outputs(session.schema().outputs.size());
  outputs[0] = Wanted();
  session.Run(inputs, outputs);
  return outputs[0].produced;
}

}  // namespace owml::test
