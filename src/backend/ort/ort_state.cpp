// State pairs: what their axes mean, where their memory is, how the position moves.
// Spec-open: how tokens are counted. An integer input 0 (ids) counts its last axis; another one (hidden states) its
// last but one.
#include "backend/ort/ort_state.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace owml {
namespace {

// Spec-open: the one spelling that the published models use.
constexpr char kPositionInput[] = "past_seq_len";

// Inputs by which a caller tells a decoder where its tokens go; with one of them rows beyond the position are not
// looked at.
constexpr const char* kPositionNames[] = {kPositionInput, "position_id", "position_ids", "cache_position"};

constexpr size_t kSequenceAxis = 2;
constexpr size_t kCacheRank = 4;

bool IsPositionType(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

std::string Input(const OrtPorts& ports, uint32_t index) { return PortName("input", index, ports.specs[index].name); }

}  // namespace

void CheckStatePairs(std::span<const StatePair> pairs, const OrtPorts& inputs, const OrtPorts& outputs) {
  std::vector<bool> used_inputs(inputs.specs.size());
  std::vector<bool> used_outputs(outputs.specs.size());
  for (const StatePair& pair : pairs) {
    const std::string name =
        "the state pair of input " + std::to_string(pair.input) + " and output " + std::to_string(pair.output);
    if (pair.input >= inputs.specs.size() || pair.output >= outputs.specs.size()) {
      throw Error(E_INVALIDARG, name + ": the model has " + std::to_string(inputs.specs.size()) + " inputs and " +
                                    std::to_string(outputs.specs.size()) + " outputs");
    }
    if (used_inputs[pair.input] || used_outputs[pair.output]) {
      throw Error(E_INVALIDARG, name + ": one of them is in another pair already");
    }
    used_inputs[pair.input] = true;
    used_outputs[pair.output] = true;
    const TensorSpec& in = inputs.specs[pair.input];
    const TensorSpec& out = outputs.specs[pair.output];
    bool fits = in.dtype == out.dtype;
    if (inputs.has_shape[pair.input] && outputs.has_shape[pair.output]) {
      fits = fits && in.dims.size() == out.dims.size();
      for (size_t axis = 0; fits && axis < in.dims.size(); ++axis) {
        fits = in.dims[axis] == out.dims[axis] || in.dims[axis] == kFreeDimension || out.dims[axis] == kFreeDimension;
      }
    }
    if (!fits) {
      throw Error(E_INVALIDARG,
                  name + ": they differ, " + ToString(in.dtype, in.dims) + " and " + ToString(out.dtype, out.dims));
    }
  }
}

bool OrtState::Tensor::grows() const { return std::find(rules.begin(), rules.end(), AxisRule::kGrows) != rules.end(); }

OrtState::OrtState(const OrtPorts& inputs, const OrtPorts& outputs, const SessionOptions& options)
    : inputs_(inputs),
      outputs_(outputs),
      input_pairs_(inputs.specs.size(), -1),
      output_pairs_(outputs.specs.size(), -1),
      capacity_(options.sequence_capacity_hint) {
  for (const StatePair& pair : options.state_pairs) {
    input_pairs_[pair.input] = output_pairs_[pair.output] = static_cast<int32_t>(tensors_.size());
    tensors_.push_back(MakeTensor(pair, capacity_));
  }
  FindPositionInput();
  FindCapacity();
  for (Tensor& tensor : tensors_) {
    if (const auto dims = StartShape(tensor, capacity_, {})) Allocate(tensor, *dims);
  }
}

OrtState::Tensor OrtState::MakeTensor(const StatePair& pair, uint64_t capacity) const {
  const TensorSpec& in = inputs_.specs[pair.input];
  const TensorSpec& out = outputs_.specs[pair.output];
  if (!inputs_.has_shape[pair.input]) {
    throw Error(E_INVALIDARG,
                Input(inputs_, pair.input) + " declares no rank, so its state cannot be kept by the runtime");
  }
  Tensor tensor;
  tensor.pair = pair;
  tensor.dtype = in.dtype;
  tensor.declared = in.dims;
  for (size_t axis = 0; axis < in.dims.size(); ++axis) {
    const bool out_known = outputs_.has_shape[pair.output];
    if (in.dims[axis] == kFreeDimension && out_known && out.dims[axis] != kFreeDimension)
      tensor.declared[axis] = out.dims[axis];
    const std::string out_name = out_known ? out.dim_names[axis] : std::string();
    const bool same_name = !in.dim_names[axis].empty() && in.dim_names[axis] == out_name;
    const bool unnamed = in.dim_names[axis].empty() && out_name.empty();
    AxisRule rule = AxisRule::kGrows;
    if (tensor.declared[axis] != kFreeDimension) {
      rule = AxisRule::kFixed;
    } else if (in.dims.size() == kCacheRank && axis == kSequenceAxis && (same_name || (unnamed && capacity != 0))) {
      rule = AxisRule::kCapacity;
    } else if (same_name || axis == 0) {
      rule = AxisRule::kFromInput;
    }
    tensor.rules.push_back(rule);
  }
  return tensor;
}

void OrtState::FindPositionInput() {
  for (size_t i = 1; i < inputs_.specs.size(); ++i) {
    const TensorSpec& spec = inputs_.specs[i];
    if (!IsPositionType(spec.dtype) || input_pairs_[i] >= 0) continue;
    if (std::find(std::begin(kPositionNames), std::end(kPositionNames), spec.name) != std::end(kPositionNames))
      addressed_ = true;
    Dims dims = spec.dims;
    std::replace(dims.begin(), dims.end(), kFreeDimension, uint64_t{1});
    if (spec.name != kPositionInput || ElementCount(dims) != 1) continue;
    position_input_ = static_cast<int64_t>(i);
    position_value_.Point(
        {spec.dtype, dims, position_bytes_, spec.dtype == DType::kInt32 ? sizeof(int32_t) : sizeof(int64_t)});
  }
  for (const Tensor& tensor : tensors_) addressed_ = addressed_ && !tensor.grows();
}

void OrtState::FindCapacity() {
  for (const Tensor& tensor : tensors_) {
    if (tensor.declared.size() != kCacheRank || tensor.rules[kSequenceAxis] != AxisRule::kFixed) continue;
    const uint64_t extent = tensor.declared[kSequenceAxis];
    fixed_capacity_ = fixed_capacity_ ? std::min(fixed_capacity_, extent) : extent;
  }
  if (fixed_capacity_) capacity_ = fixed_capacity_;
}

std::optional<Dims> OrtState::StartShape(const Tensor& tensor, uint64_t capacity,
                                         std::span<const InputValue> inputs) const {
  Dims dims = tensor.declared;
  const std::vector<std::string>& names = inputs_.specs[tensor.pair.input].dim_names;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    switch (tensor.rules[axis]) {
      case AxisRule::kFixed:
        break;
      case AxisRule::kCapacity:
        if (!capacity) return std::nullopt;
        dims[axis] = capacity;
        break;
      case AxisRule::kGrows:
        dims[axis] = 0;
        break;
      case AxisRule::kFromInput: {
        if (inputs.empty()) return std::nullopt;
        for (size_t i = 0; i < inputs.size() && dims[axis] == kFreeDimension; ++i) {
          const std::vector<std::string>& candidates = inputs_.specs[i].dim_names;
          for (size_t a = 0; inputs[i].bound && a < candidates.size() && a < inputs[i].view.dims.size(); ++a) {
            if (!names[axis].empty() && candidates[a] == names[axis]) dims[axis] = inputs[i].view.dims[a];
          }
        }
        if (dims[axis] == kFreeDimension && axis == 0) dims[axis] = 1;
        if (dims[axis] == kFreeDimension) return std::nullopt;
        break;
      }
    }
  }
  return dims;
}

void OrtState::Allocate(Tensor& tensor, const Dims& dims) {
  OrtValuePtr current = MakeZeroTensor(tensor.dtype, dims);
  OrtValuePtr next = tensor.grows() ? nullptr : MakeZeroTensor(tensor.dtype, dims);
  tensor.current = std::move(current);
  tensor.next = std::move(next);
}

uint64_t OrtState::TokensOf(std::span<const InputValue> inputs) const {
  if (inputs.empty() || !inputs[0].bound) return 0;  // the session refuses the run for the unbound input
  const TensorView& view = inputs[0].view;
  const size_t from_the_end = IsPositionType(view.dtype) ? 1 : 2;
  return view.dims.size() < from_the_end ? 1 : view.dims[view.dims.size() - from_the_end];
}

void OrtState::BeginRun(std::span<const InputValue> inputs) {
  for (const Tensor& tensor : tensors_) {
    if (inputs[tensor.pair.input].bound) {
      throw Error(E_INVALIDARG, Input(inputs_, tensor.pair.input) +
                                    " is state that the runtime keeps; bind nothing to it, or set caller-owned state");
    }
  }
  pending_tokens_ = TokensOf(inputs);
  if (capacity_ && (position_ > capacity_ || pending_tokens_ > capacity_ - position_)) {
    throw Error(HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
                std::to_string(pending_tokens_) + " tokens at position " + std::to_string(position_) +
                    " do not fit into the sequence capacity of " + std::to_string(capacity_));
  }
  for (Tensor& tensor : tensors_) {
    if (tensor.current) continue;
    const auto dims = StartShape(tensor, capacity_, inputs);
    if (!dims) {
      throw Error(E_INVALIDARG, Input(inputs_, tensor.pair.input) + " is state of open shape " +
                                    ToString(tensor.declared) + "; set a sequence capacity or a dimension override");
    }
    Allocate(tensor, *dims);
  }
  if (position_input_ < 0) return;
  if (inputs_.specs[static_cast<size_t>(position_input_)].dtype == DType::kInt32) {
    if (position_ > static_cast<uint64_t>(INT32_MAX)) throw Error(E_FAIL, "the position exceeds 32 bits");
    const int32_t value = static_cast<int32_t>(position_);
    std::memcpy(position_bytes_, &value, sizeof value);
  } else {
    std::memcpy(position_bytes_, &position_, sizeof position_);
  }
}

OrtValue* OrtState::InputFor(uint32_t input) const {
  const int32_t pair = input_pairs_[input];
  return pair >= 0 ? tensors_[static_cast<size_t>(pair)].current.get() : position_value_.get();
}

OrtValue* OrtState::OutputFor(uint32_t output) const {
  return tensors_[static_cast<size_t>(output_pairs_[output])].next.get();
}

void OrtState::TakeOutput(uint32_t output, OrtValuePtr value) {
  tensors_[static_cast<size_t>(output_pairs_[output])].next = std::move(value);
}

void OrtState::EndRun() noexcept {
  for (Tensor& tensor : tensors_) {
    std::swap(tensor.current, tensor.next);
    if (tensor.grows()) tensor.next.reset();
  }
  position_ += pending_tokens_;
}

void OrtState::Reset() {
  for (Tensor& tensor : tensors_) {
    if (!tensor.current) continue;
    const auto dims = StartShape(tensor, capacity_, {});
    if (!dims || tensor.grows()) {
      tensor.current.reset();
      tensor.next.reset();
      if (dims) Allocate(tensor, *dims);
      continue;
    }
    const TensorView view = ViewOf(tensor.current.get());
    if (view.bytes) std::memset(view.data, 0, static_cast<size_t>(view.bytes));
  }
  position_ = 0;
}

uint64_t OrtState::capacity() const {
  for (const Tensor& tensor : tensors_) {
    const bool waits =
        !capacity_ && std::find(tensor.rules.begin(), tensor.rules.end(), AxisRule::kCapacity) != tensor.rules.end();
    if (waits) {
      throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                  Input(inputs_, tensor.pair.input) + " leaves the sequence capacity open and none was set");
    }
  }
  return capacity_;
}

void OrtState::RewindTo(uint64_t position) {
  if (position == position_) return;
  if (position > position_) {
    throw Error(E_INVALIDARG, "cannot rewind to position " + std::to_string(position) + ": the sequence has " +
                                  std::to_string(position_) + " tokens");
  }
  if (position == 0) {
    Reset();
  } else if (addressed_) {
    position_ = position;
  } else {
    Truncate(position);
  }
}

// Every state tensor must be one that has grown by exactly one row for each token.
void OrtState::Truncate(uint64_t position) {
  std::vector<OrtValuePtr> shorter;
  for (const Tensor& tensor : tensors_) {
    const auto axis = static_cast<size_t>(std::find(tensor.rules.begin(), tensor.rules.end(), AxisRule::kGrows) -
                                          tensor.rules.begin());
    const TensorView from = tensor.current ? ViewOf(tensor.current.get()) : TensorView{};
    const size_t element = static_cast<size_t>(BytesPerElement(tensor.dtype));
    if (axis >= from.dims.size() || from.dims[axis] != position_ || element == 0) {
      throw Error(E_INVALIDARG, "cannot rewind to position " + std::to_string(position) + ": the state in " +
                                    Input(inputs_, tensor.pair.input) + " cannot be cut there; position 0 is possible");
    }
    Dims dims = from.dims;
    dims[axis] = position;
    shorter.push_back(MakeZeroTensor(tensor.dtype, dims));
    const TensorView to = ViewOf(shorter.back().get());
    const uint64_t outer = *ElementCount(std::span(dims).first(axis));
    const uint64_t row = *ElementCount(std::span(dims).subspan(axis + 1)) * element;
    for (uint64_t i = 0; i < outer; ++i) {
      std::memcpy(to.data + i * position * row, from.data + i * position_ * row, static_cast<size_t>(position * row));
    }
  }
  for (size_t i = 0; i < tensors_.size(); ++i) tensors_[i].current = std::move(shorter[i]);
  position_ = position;
}

void OrtState::SetCapacity(uint64_t capacity) {
  if (capacity == 0) throw Error(E_INVALIDARG, "a sequence capacity of 0 is not possible");
  if (fixed_capacity_ && capacity > fixed_capacity_) {
    throw Error(E_INVALIDARG, "the model holds " + std::to_string(fixed_capacity_) +
                                  " positions; the capacity cannot be " + std::to_string(capacity));
  }
  const bool follows = fixed_capacity_ || std::any_of(tensors_.begin(), tensors_.end(), [](const Tensor& tensor) {
                         return tensor.grows() || std::find(tensor.rules.begin(), tensor.rules.end(),
                                                            AxisRule::kCapacity) != tensor.rules.end();
                       });
  if (!follows)
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the state of this model has no sequence capacity");

  // New memory first: a refusal leaves the state as it was.
  std::vector<Tensor> resized;
  for (const Tensor& tensor : tensors_) {
    Tensor fresh = MakeTensor(tensor.pair, capacity);
    if (const auto dims = StartShape(fresh, capacity, {})) Allocate(fresh, *dims);
    resized.push_back(std::move(fresh));
  }
  tensors_ = std::move(resized);
  capacity_ = capacity;
  position_ = 0;
}

}  // namespace owml
