// IWinMLTextGenerationConfiguration: collects the parts of a composition until a session uses them up.
// Made by the factory; the task asks it for its parts through a private interface.
#pragma once

#include <WinMLTasks.h>

#include "com/com_ptr.h"
#include "tasks/text_generation/composition.h"

namespace owml {

// Answered by our own configurations only.
struct ICompositionSource : public IUnknown {
  // Lends the parts to a session that is being made; nothing can be set until it ends. Throws E_NOT_VALID_STATE when
  // they are used up or lent.
  virtual Composition BeginUse() = 0;

  // `used_up` when the session stands.
  virtual void EndUse(bool used_up) noexcept = 0;

 protected:
  ~ICompositionSource() = default;
};

ComPtr<IWinMLTextGenerationConfiguration> MakeConfiguration(IWinMLRuntime* runtime);

}  // namespace owml

__CRT_UUID_DECL(owml::ICompositionSource, 0x2f6b9a17, 0xc4d0, 0x4b5e, 0x8f, 0x63, 0x5a, 0x10, 0x7e, 0xd9, 0x34, 0xb2)
