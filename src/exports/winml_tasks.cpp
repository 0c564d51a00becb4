// WinMLCreateTasks.
// The root of libwinml_tasks.so.
#include <WinMLTasks.h>

#include "com/guard.h"
#include "tasks/tasks.h"

HRESULT STDMETHODCALLTYPE WinMLCreateTasks(IWinMLRuntime* runtime, REFIID interfaceId, void** tasks) noexcept {
  return owml::Guard("WinMLCreateTasks", [&]() -> HRESULT {
    owml::RequireOut(tasks, "tasks");
    owml::RequirePointer(runtime, "runtime");
    const HRESULT result = owml::MakeTasks(runtime)->QueryInterface(interfaceId, tasks);
    owml::Require(SUCCEEDED(result), result, "this build has no task with the interface that was asked for");
    return result;
  });
}
