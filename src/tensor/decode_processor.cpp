// Schema, checks, locks and outputs around a decode step.
// All locks are held before anything is written, so that a failing call leaves every tensor as it was.
#include "tensor/decode_processor.h"

#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "com/guard.h"
#include "com/implements.h"

namespace owml {
namespace {

void RequireType(const TensorType& wanted, DType dtype, const Dims& dims, const std::string& what) {
  if (dtype != wanted.dtype || dims != wanted.dims) {
    throw Error(E_INVALIDARG, what + " is " + ToString(dtype, dims) + ", not " + ToString(wanted.dtype, wanted.dims));
  }
}

class DecodeProcessor final : public Implements<DecodeProcessor, IWinMLProcessor> {
 public:
  DecodeProcessor(std::vector<TensorType> inputs, std::vector<StateTensor> states, DecodeStep step)
      : inputs_(std::move(inputs)), states_(std::move(states)), step_(std::move(step)) {}

  HRESULT STDMETHODCALLTYPE GetInputCount(UINT32* count) noexcept override {
    return Guard("IWinMLProcessor::GetInputCount", [&] {
      RequireOut(count, "count");
      *count = static_cast<UINT32>(inputs_.size());
    });
  }

  HRESULT STDMETHODCALLTYPE GetInputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept override {
    return Guard("IWinMLProcessor::GetInputTensorDesc", [&] {
      RequireOut(desc, "desc");
      RequireIndex(index, inputs_.size());
      *desc = ToTensorDesc(inputs_[index].dtype, inputs_[index].dims);
    });
  }

  HRESULT STDMETHODCALLTYPE GetOutputCount(UINT32* count) noexcept override {
    return Guard("IWinMLProcessor::GetOutputCount", [&] {
      RequireOut(count, "count");
      *count = static_cast<UINT32>(states_.size());
    });
  }

  HRESULT STDMETHODCALLTYPE GetOutputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept override {
    return Guard("IWinMLProcessor::GetOutputTensorDesc", [&] {
      RequireOut(desc, "desc");
      RequireIndex(index, states_.size());
      *desc = ToTensorDesc(states_[index].type.dtype, states_[index].type.dims);
    });
  }

  HRESULT STDMETHODCALLTYPE Execute(UINT32 inputCount, IWinMLTensor** inputs, UINT32 outputCount,
                                    IWinMLTensor** outputs) noexcept override {
    return Guard("IWinMLProcessor::Execute", [&] {
      RequireCount("inputCount", inputCount, inputs_.size());
      RequireCount("outputCount", outputCount, states_.size());
      RequirePointer(inputs, "inputs");
      RequirePointer(outputs, "outputs");
      RunStep({inputs, inputCount}, {outputs, outputCount});
      for (size_t i = 0; i < states_.size(); ++i) {
        if (!outputs[i]) outputs[i] = AddedRef(states_[i].tensor.Get());
      }
    });
  }

 private:
  static void RequireIndex(uint32_t index, size_t count) {
    if (index >= count) {
      throw Error(E_INVALIDARG, "index is " + std::to_string(index) + ", there are " + std::to_string(count));
    }
  }
  static void RequireCount(const char* name, uint32_t count, size_t wanted) {
    if (count != wanted) {
      throw Error(E_INVALIDARG, std::string(name) + " is " + std::to_string(count) + ", not " + std::to_string(wanted));
    }
  }

  void RunStep(std::span<IWinMLTensor* const> inputs, std::span<IWinMLTensor* const> outputs) {
    std::vector<TensorAccess> reads, states, copies;
    std::vector<size_t> copied;  // states that a given output receives too
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || SameObject(outputs[i], states_[i].tensor.Get())) continue;
      DType dtype;
      Dims dims;
      const std::string what = "output " + std::to_string(i);
      ReadTensorDesc(outputs[i], what.c_str(), &dtype, &dims);
      RequireType(states_[i].type, dtype, dims, what);
      copied.push_back(i);
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::string what = "input " + std::to_string(i);
      reads.emplace_back(inputs[i], AccessMode::kRead, what.c_str());
      RequireType(inputs_[i], reads.back().view().dtype, reads.back().view().dims, what);
    }
    for (const StateTensor& state : states_) {
      states.emplace_back(state.tensor.Get(), state.mode, state.name);
      RequireType(state.type, states.back().view().dtype, states.back().view().dims, state.name);
    }
    for (const size_t i : copied) {
      const std::string what = "output " + std::to_string(i);
      copies.emplace_back(outputs[i], AccessMode::kWrite, what.c_str());
      RequireType(states_[i].type, copies.back().view().dtype, copies.back().view().dims, what);
    }

    step_(Views(reads), Views(states));

    for (size_t n = 0; n < copied.size(); ++n) {
      const TensorView& from = states[copied[n]].view();
      if (from.bytes > 0) std::memcpy(copies[n].view().data, from.data, static_cast<size_t>(from.bytes));
    }
    for (TensorAccess& access : states) access.Commit();
    for (TensorAccess& access : copies) access.Commit();
  }

  static std::vector<const TensorView*> Views(const std::vector<TensorAccess>& accesses) {
    std::vector<const TensorView*> views;
    for (const TensorAccess& access : accesses) views.push_back(&access.view());
    return views;
  }

  const std::vector<TensorType> inputs_;
  const std::vector<StateTensor> states_;
  const DecodeStep step_;
};

}  // namespace

StateTensor ReadStateTensor(IWinMLTensor* tensor, const char* name, AccessMode mode) {
  StateTensor state = {name, tensor, {}, mode};
  ReadTensorDesc(tensor, name, &state.type.dtype, &state.type.dims);
  return state;
}

ComPtr<IWinMLProcessor> MakeDecodeProcessor(std::vector<TensorType> inputs, std::vector<StateTensor> states,
                                            DecodeStep step) {
  for (size_t i = 0; i < states.size(); ++i) {
    for (size_t j = i + 1; j < states.size(); ++j) {
      if (SameObject(states[i].tensor.Get(), states[j].tensor.Get())) {
        throw Error(E_INVALIDARG, std::string(states[i].name) + " and " + states[j].name + " are the same tensor");
      }
    }
  }
  return Make<DecodeProcessor>(std::move(inputs), std::move(states), std::move(step));
}

void RequireVocabularySize(uint32_t vocabulary_size) {
  if (vocabulary_size == 0 || vocabulary_size > static_cast<uint32_t>(std::numeric_limits<int32_t>::max())) {
    throw Error(E_INVALIDARG, "vocabularySize is " + std::to_string(vocabulary_size) + ", not 1 to 2147483647");
  }
}

void RequireIndexScalar(const StateTensor& state, bool allow_int64) {
  const bool type_fits = state.type.dtype == DType::kInt32 || (allow_int64 && state.type.dtype == DType::kInt64);
  if (!type_fits || ElementCount(state.type.dims) != 1u) {
    throw Error(E_INVALIDARG, std::string(state.name) + " is " + ToString(state.type.dtype, state.type.dims) +
                                  ", not one element of int32" + (allow_int64 ? " or int64" : ""));
  }
}

}  // namespace owml
