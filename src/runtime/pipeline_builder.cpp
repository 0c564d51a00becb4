// IWinMLPipelineBuilder over a PipelineCore that is not built yet.
// See pipeline_builder.h.
#include "runtime/pipeline_builder.h"

#include "com/guard.h"
#include "com/implements.h"
#include "com/wide.h"
#include "runtime/build.h"
#include "runtime/execution_target.h"
#include "runtime/model.h"
#include "runtime/pipeline.h"
#include "runtime/run_processor.h"
#include "runtime/stage.h"

namespace owml {
namespace {

// Spec-open: only a successful Build consumes the builder; after a failed one it may be corrected and built again.
class PipelineBuilder final : public Implements<PipelineBuilder, IWinMLPipelineBuilder> {
 public:
  HRESULT STDMETHODCALLTYPE AddModelStage(IWinMLModel* model, IWinMLExecutionTarget* target, LPCWSTR debugName,
                                          IWinMLStage** stage) noexcept override {
    return Guard("IWinMLPipelineBuilder::AddModelStage", [&] {
      RequireOut(stage, "stage");
      RequirePointer(model, "model");
      const Placement* placement = PlacementOf(target);
      std::shared_ptr<const BackendModel> artifact = ArtifactOf(model);
      std::unique_ptr<StageNode> node;
      const std::lock_guard lock(mutex_);
      node = MakeNode(target, placement, debugName);
      Require(artifact != nullptr, E_INVALIDARG, node->label + ": the model was not loaded by this runtime library");
      node->model = std::move(artifact);
      *stage = Add(node);
    });
  }

  HRESULT STDMETHODCALLTYPE AddProcessorStage(IWinMLProcessor* processor, IWinMLExecutionTarget* target,
                                              LPCWSTR debugName, IWinMLStage** stage) noexcept override {
    return Guard("IWinMLPipelineBuilder::AddProcessorStage", [&] {
      RequireOut(stage, "stage");
      RequirePointer(processor, "processor");
      const Placement* placement = PlacementOf(target);
      std::unique_ptr<StageNode> node;
      {
        const std::lock_guard lock(mutex_);
        node = MakeNode(target, placement, debugName);
      }
      Require(!placement || placement->kind == DeviceKind::kCpu, E_INVALIDARG,
              node->label + ": processors run on the CPU, the target is another device");
      node->processor = processor;
      node->processor_schema = CaptureProcessorSchema(processor, node->label);
      const std::lock_guard lock(mutex_);
      RequireOpen();
      *stage = Add(node);
    });
  }

  HRESULT STDMETHODCALLTYPE Connect(IWinMLStage* sourceStage, UINT32 sourceOutputIndex, IWinMLStage* targetStage,
                                    UINT32 targetInputIndex) noexcept override {
    return Guard("IWinMLPipelineBuilder::Connect",
                 [&] { AddEdge(sourceStage, sourceOutputIndex, targetStage, targetInputIndex, &Graph::Connect); });
  }

  HRESULT STDMETHODCALLTYPE ConnectNextIteration(IWinMLStage* sourceStage, UINT32 sourceOutputIndex,
                                                 IWinMLStage* targetStage, UINT32 targetInputIndex) noexcept override {
    return Guard("IWinMLPipelineBuilder::ConnectNextIteration", [&] {
      AddEdge(sourceStage, sourceOutputIndex, targetStage, targetInputIndex, &Graph::ConnectNextIteration);
    });
  }

  HRESULT STDMETHODCALLTYPE Build(IWinMLPipeline** pipeline) noexcept override {
    return Guard("IWinMLPipelineBuilder::Build", [&] {
      RequireOut(pipeline, "pipeline");
      const BuildGate gate(*this);  // not the lock: bound tensors may be the application's code
      ComPtr<IWinMLPipeline> built = MakePipeline(gate.core());
      BuildPipeline(*gate.core());
      *pipeline = built.Detach();
      const std::lock_guard lock(mutex_);
      core_.reset();
    });
  }

 private:
  // Holds the builder shut for the length of a Build.
  class BuildGate {
   public:
    explicit BuildGate(PipelineBuilder& builder) : builder_(builder) {
      const std::lock_guard lock(builder.mutex_);
      builder.RequireOpen();
      core_ = builder.core_;
      builder.building_ = true;
    }
    ~BuildGate() {
      const std::lock_guard lock(builder_.mutex_);
      builder_.building_ = false;
    }
    BuildGate(const BuildGate&) = delete;
    BuildGate& operator=(const BuildGate&) = delete;

    const std::shared_ptr<PipelineCore>& core() const { return core_; }

   private:
    PipelineBuilder& builder_;
    std::shared_ptr<PipelineCore> core_;
  };

  void RequireOpen() const {
    Require(core_ != nullptr, E_NOT_VALID_STATE, "the builder has built its pipeline; make a new one");
    Require(!building_, HRESULT_FROM_WIN32(ERROR_BUSY), "Build is going on");
  }

  static std::string LabelOf(const StageNode& node) {
    return node.debug_name.empty() ? "stage " + std::to_string(node.number) : "stage '" + ToUtf8(node.debug_name) + "'";
  }

  std::unique_ptr<StageNode> MakeNode(IWinMLExecutionTarget* target, const Placement* placement,
                                      LPCWSTR debug_name) const {
    RequireOpen();
    auto node = std::make_unique<StageNode>();
    node->number = core_->stages.size();
    if (debug_name) node->debug_name = debug_name;
    node->label = LabelOf(*node);
    Require(!target || placement, E_INVALIDARG, node->label + ": the target was not made by this runtime library");
    node->target = target;
    return node;
  }

  // Handle first, so that nothing is left behind when memory ends. Others may have been added since MakeNode.
  IWinMLStage* Add(std::unique_ptr<StageNode>& node) {
    node->number = core_->stages.size();
    node->label = LabelOf(*node);
    ComPtr<IWinMLStage> handle = MakeStage(StageRef{core_, node.get()});
    const std::lock_guard lock(core_->mutex);
    core_->stages.push_back(nullptr);
    try {
      core_->graph.AddStage(node->label);
    } catch (...) {
      core_->stages.pop_back();
      throw;
    }
    core_->stages.back() = std::move(node);
    return handle.Detach();
  }

  const StageNode& OwnNode(const StageRef* ref, const char* name) const {
    Require(ref && ref->core == core_, E_INVALIDARG, std::string(name) + " was not added to this builder");
    return *ref->node;
  }

  static void RequireKnownIndex(const StageNode& node, const std::vector<TensorSpec>& specs, const char* side,
                                UINT32 index) {
    Require(index < specs.size(), E_INVALIDARG,
            SlotLabel(side, index, node) + " does not exist; the stage has " + std::to_string(specs.size()));
  }

  void AddEdge(IWinMLStage* source_stage, UINT32 output, IWinMLStage* target_stage, UINT32 input,
               void (Graph::*add)(const Edge&)) {
    RequirePointer(source_stage, "sourceStage");
    RequirePointer(target_stage, "targetStage");
    const StageRef* source_ref = StageOf(source_stage);
    const StageRef* target_ref = StageOf(target_stage);
    const std::lock_guard lock(mutex_);
    RequireOpen();
    const StageNode& source = OwnNode(source_ref, "sourceStage");
    const StageNode& target = OwnNode(target_ref, "targetStage");
    if (const Schema* schema = source.schema()) RequireKnownIndex(source, schema->outputs, "output", output);
    if (const Schema* schema = target.schema()) RequireKnownIndex(target, schema->inputs, "input", input);
    const std::lock_guard core_lock(core_->mutex);
    (core_->graph.*add)(Edge{source.number, output, target.number, input});
  }

  // Covers what follows and the adding to the core; taken before the core's. No foreign code runs under it, so that
  // objects of the application may call the builder back.
  std::mutex mutex_;
  bool building_ = false;                                                  // a Build is going on
  std::shared_ptr<PipelineCore> core_ = std::make_shared<PipelineCore>();  // null once built
};

}  // namespace

ComPtr<IWinMLPipelineBuilder> MakePipelineBuilder() { return Make<PipelineBuilder>(); }

}  // namespace owml
