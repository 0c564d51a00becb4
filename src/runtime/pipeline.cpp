// IWinMLPipeline and its asynchronous sides, which a CPU pipeline offers and refuses.
// See pipeline.h.
#include "runtime/pipeline.h"

#include <openwinml/pipeline_best_tokens.h>

#include <string>

#include "com/guard.h"
#include "com/implements.h"
#include "runtime/run.h"

namespace owml {
namespace {

// Spec-open: the two asynchronous interfaces are always there; capabilities NONE and the refusal tell that they do not
// work.
class Pipeline final : public Implements<Pipeline, IWinMLPipeline, IWinMLPipelineExecution,
                                         IWinMLPipelineIterationExecution, IOwmlPipelineBestTokens> {
 public:
  explicit Pipeline(std::shared_ptr<PipelineCore> core) : core_(std::move(core)) {}

  // Settled by Build, before which nobody has this object.
  bool OffersInterface(REFIID iid) const noexcept {
    return max_best() != 0 || !IsEqualGUID(iid, __uuidof(IOwmlPipelineBestTokens));
  }

  HRESULT STDMETHODCALLTYPE Run() noexcept override {
    return Guard("IWinMLPipeline::Run", [&] { RunPipeline(*core_); });
  }

  HRESULT STDMETHODCALLTYPE ResetExecutionState() noexcept override {
    return Guard("IWinMLPipeline::ResetExecutionState", [&] { ResetPipeline(*core_); });
  }

  HRESULT STDMETHODCALLTYPE GetCapabilities(WINML_PIPELINE_EXECUTION_CAPABILITIES* capabilities) noexcept override {
    return Guard("IWinMLPipelineExecution::GetCapabilities", [&] {
      RequirePointer(capabilities, "capabilities");
      *capabilities = WINML_PIPELINE_EXECUTION_CAPABILITY_NONE;
    });
  }

  HRESULT STDMETHODCALLTYPE Submit(IWinMLFence*, IWinMLFence** completionFence) noexcept override {
    return Guard("IWinMLPipelineExecution::Submit", [&] {
      RequireOut(completionFence, "completionFence");
      RefuseSubmission();
    });
  }

  HRESULT STDMETHODCALLTYPE SubmitIterations(UINT32 iterationCount, IWinMLFence*,
                                             IWinMLFence** completionFence) noexcept override {
    return Guard("IWinMLPipelineIterationExecution::SubmitIterations", [&] {
      RequireOut(completionFence, "completionFence");
      Require(iterationCount != 0, E_INVALIDARG, "iterationCount is 0");
      RefuseSubmission();
    });
  }

  HRESULT STDMETHODCALLTYPE GetMaxBestTokenCount(UINT32* count) noexcept override {
    return Guard("IOwmlPipelineBestTokens::GetMaxBestTokenCount", [&] {
      RequireOut(count, "count");
      *count = max_best();
    });
  }

  HRESULT STDMETHODCALLTYPE RunForBestTokens(UINT32 bestCount, OWML_TOKEN_LOGIT* best) noexcept override {
    return Guard("IOwmlPipelineBestTokens::RunForBestTokens", [&] {
      RequirePointer(best, "best");
      if (bestCount == 0 || bestCount > max_best()) {
        throw Error(E_INVALIDARG,
                    "bestCount is " + std::to_string(bestCount) + "; a run gives 1 to " + std::to_string(max_best()));
      }
      RunForBest(*core_, {best, bestCount});
    });
  }

 private:
  uint32_t max_best() const noexcept { return core_->plan.max_best; }

  [[noreturn]] void RefuseSubmission() {
    const ExclusiveUse use(*core_);
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
                "the pipeline runs on the CPU and has no device timeline; use Run");
  }

  const std::shared_ptr<PipelineCore> core_;
};

}  // namespace

ComPtr<IWinMLPipeline> MakePipeline(std::shared_ptr<PipelineCore> core) { return Make<Pipeline>(std::move(core)); }

}  // namespace owml
