// IWinMLTasks. A task family that is not built is absent: QueryInterface for its factory answers E_NOINTERFACE.
// See tasks.h.
#include "tasks/tasks.h"

#include <utility>

#include "com/guard.h"
#include "com/implements.h"
#include "tasks/cancellation_source.h"
#include "tasks/chat_completion/factory.h"
#include "tasks/text_generation/factory.h"

namespace owml {
namespace {

class Tasks final : public Implements<Tasks, IWinMLTasks, IWinMLTaskRuntimeIdentity, TextGenerationFactoryMethods,
                                      ChatCompletionFactoryMethods> {
 public:
  explicit Tasks(ComPtr<IWinMLRuntime> runtime) : runtime_(std::move(runtime)) {}

  // Of both interfaces: the signatures are the same.
  HRESULT STDMETHODCALLTYPE GetRuntime(IWinMLRuntime** runtime) noexcept override {
    return Guard("IWinMLTasks::GetRuntime", [&] {
      RequireOut(runtime, "runtime");
      *runtime = AddedRef(runtime_.Get());
    });
  }

  HRESULT STDMETHODCALLTYPE CreateCancellationSource(IWinMLCancellationSource** source) noexcept override {
    return Guard("IWinMLTasks::CreateCancellationSource", [&] {
      RequireOut(source, "source");
      *source = MakeCancellationSource().Detach();
    });
  }

 private:
  IWinMLRuntime* runtime() const noexcept override { return runtime_.Get(); }

  const ComPtr<IWinMLRuntime> runtime_;
};

}  // namespace

ComPtr<IWinMLTasks> MakeTasks(IWinMLRuntime* runtime) { return Make<Tasks>(ComPtr<IWinMLRuntime>(runtime)); }

}  // namespace owml
