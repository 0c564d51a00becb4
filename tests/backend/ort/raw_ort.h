// ONNX Runtime driven by hand, with copies everywhere: what our sessions must agree with.
// Used by the decoder and concurrency tests and by nothing else.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/ort/ort_fixture.h"
#include "backend/ort/ort_handles.h"
#include "backend/ort/ort_schema.h"
#include "backend/ort/ort_tensor.h"

namespace owml::test {

class RawModel {
 public:
  explicit RawModel(const std::string& path, const std::string& save_as_ort = "") {
    const OrtLibrary& library = LoadedOrtLibrary();
    auto options = Adopt<OrtSessionOptionsPtr>(Ort().CreateSessionOptions, "options");
    if (!save_as_ort.empty()) {
      Check(Ort().SetOptimizedModelFilePath(options.get(), save_as_ort.c_str()), "save");
      Check(Ort().AddSessionConfigEntry(options.get(), "session.save_model_format", "ORT"), "save");
    }
    session_ = Adopt<OrtSessionPtr>(
        [&](OrtSession** out) { return Ort().CreateSession(library.environment, path.c_str(), options.get(), out); },
        "session");
    inputs_ = ReadInputs(session_.get(), path).specs;
    outputs_ = ReadOutputs(session_.get(), path).specs;
  }

  const std::vector<TensorSpec>& inputs() const { return inputs_; }

  // A zero tensor for an input of fixed shape.
  HostTensor ZeroInput(size_t index) const { return Zeros(inputs_[index].dtype, inputs_[index].dims); }

  // All outputs, as copies.
  std::vector<HostTensor> Run(const std::vector<HostTensor>& inputs) const {
    std::vector<OrtValueSlot> slots(inputs.size());
    std::vector<const OrtValue*> values;
    std::vector<const char*> names;
    for (size_t i = 0; i < inputs.size(); ++i) {
      slots[i].Point(inputs[i].view);
      values.push_back(slots[i].get());
      names.push_back(inputs_[i].name.c_str());
    }
    std::vector<const char*> output_names;
    for (const TensorSpec& spec : outputs_) output_names.push_back(spec.name.c_str());
    std::vector<OrtValue*> results(outputs_.size());
    Check(Ort().Run(session_.get(), nullptr, names.data(), values.data(), values.size(), output_names.data(),
                    results.size(), results.data()),
          "raw run");
    std::vector<HostTensor> outputs;
    for (OrtValue* result : results) {
      const OrtValuePtr owner(result);
      const TensorView view = ViewOf(result);
      outputs.push_back(Tensor(view.dtype, view.dims, std::vector<std::byte>(view.data, view.data + view.bytes)));
    }
    return outputs;
  }

 private:
  OrtSessionPtr session_;
  std::vector<TensorSpec> inputs_;
  std::vector<TensorSpec> outputs_;
};

// The loop of a decoder whose caches are the last inputs and outputs, run by hand.
class RawDecoder {
 public:
  RawDecoder(const std::string& path, size_t first_cache, std::vector<HostTensor> caches)
      : model_(path), first_cache_(first_cache), caches_(std::move(caches)) {}

  // `front`: the inputs before the caches. The first output.
  HostTensor Step(std::vector<HostTensor> front) {
    EXPECT_EQ(front.size(), first_cache_);
    front.insert(front.end(), caches_.begin(), caches_.end());
    std::vector<HostTensor> outputs = model_.Run(front);
    caches_.assign(outputs.begin() + 1, outputs.end());
    return outputs[0];
  }

  const std::vector<HostTensor>& caches() const { return caches_; }
  void set_caches(std::vector<HostTensor> caches) { caches_ = std::move(caches); }
  const RawModel& model() const { return model_; }

 private:
  RawModel model_;
  size_t first_cache_;
  std::vector<HostTensor> caches_;
};

}  // namespace owml::test
