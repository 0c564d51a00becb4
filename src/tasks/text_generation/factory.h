// The methods of IWinMLTextGenerationTaskFactory, for the task entry object to put on.
// Its own base class, because each family of tasks adds one to src/tasks/tasks.cpp.
#pragma once

#include <WinMLTasks.h>

namespace owml {

class TextGenerationFactoryMethods : public IWinMLTextGenerationTaskFactory {
 public:
  using AbiInterface = IWinMLTextGenerationTaskFactory;

  HRESULT STDMETHODCALLTYPE
  CreateTextGenerationConfiguration(IWinMLTextGenerationConfiguration** configuration) noexcept final;
  HRESULT STDMETHODCALLTYPE CreateTextGenerationOptions(const WINML_TEXT_GENERATION_OPTIONS* values,
                                                        UINT32 stopTokenCount, const UINT32* stopTokenIds,
                                                        IWinMLTextGenerationOptions** options) noexcept final;
  HRESULT STDMETHODCALLTYPE CreateTextGenerationTask(IWinMLTokenizer* tokenizer,
                                                     WINML_TEXT_GENERATION_EOS_POLICY eosPolicy, UINT32 eosTokenCount,
                                                     const UINT32* eosTokenIds,
                                                     IWinMLTextGenerationTask** task) noexcept final;

 protected:
  ~TextGenerationFactoryMethods() = default;

 private:
  virtual IWinMLRuntime* runtime() const noexcept = 0;
};

}  // namespace owml
