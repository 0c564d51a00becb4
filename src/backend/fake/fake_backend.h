// A backend whose models do what a test's script says: any schema, any function, any failure, a token counter as state.
// Used by tests of the runtime; never part of a library that is installed.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>

#include "backend/backend.h"
#include "base/error.h"

namespace owml {

// Writes every output of one run. `outputs` has a view for each output, wanted or not.
using FakeFunction = std::function<void(std::span<const InputValue> inputs, std::span<const TensorView> outputs)>;

// The script of a model, shared with the test, which may change it between calls and read back what happened.
struct FakeScript {
  Schema schema;                // of the model; free extents of an output take those of input 0, axis by axis
  std::optional<Schema> built;  // of its sessions, where Build changes it
  bool declares_schema = true;
  bool onnx = true;
  std::vector<uint32_t> fed_inputs;  // the session feeds them itself
  FakeFunction compute;              // zeros when empty

  // A token counter: every run adds the element count of input 0. Without one, the session has no sequence state.
  bool stateful = false;
  uint64_t capacity = 16;
  std::optional<uint64_t> declared_capacity;
  uint32_t step_width = 0;  // 0 = no speculative operations
  uint32_t vocabulary = 4;
  uint32_t draft_tokens = 0;  // ProposeDraftTokens gives pending + 1, pending + 2, ...

  std::shared_ptr<ProfiledRuns> profile;  // null: the session cannot tell

  uint32_t best_tokens = 0;  // most that RunForBest gives: token 7 with 0.5, 8 with -0.5, ...; 0 = it cannot

  bool refuses_batch_size = false;  // as a backend without that option

  // Failures; S_OK = none.
  std::atomic<HRESULT> create_result{S_OK};
  std::atomic<HRESULT> run_result{S_OK};  // after the outputs have been computed and dropped
  std::atomic<HRESULT> reset_result{S_OK};
  std::atomic<HRESULT> step_result{S_OK};

  // Called inside every run, before anything else.
  std::function<void()> during_run;

  // What happened. The mutex is for sessions on several threads; a test reads when they are done.
  std::mutex mutex;
  std::vector<SessionOptions> created_with;
  std::atomic<int> runs{0};
  std::atomic<int> resets{0};
  std::atomic<int> live_sessions{0};
  std::vector<bool> last_wanted;  // outputs of the last run
};

std::shared_ptr<const BackendModel> MakeFakeModel(std::shared_ptr<FakeScript> script);

// Takes every format and gives models of `script`.
class FakeBackend final : public Backend {
 public:
  explicit FakeBackend(std::shared_ptr<FakeScript> script, std::vector<Device> devices = {})
      : script_(std::move(script)), devices_(std::move(devices)) {}

  std::string_view name() const override { return "fake"; }
  bool Handles(ModelFormat) const override { return true; }
  std::shared_ptr<const BackendModel> Load(const ModelSource&, ModelFormat) const override {
    return MakeFakeModel(script_);
  }
  std::vector<Device> Devices() const override { return devices_; }

 private:
  std::shared_ptr<FakeScript> script_;
  std::vector<Device> devices_;
};

}  // namespace owml
