// The thread's error object: the sentence that belongs to the last failing HRESULT.
// Written by com/guard.h only; read through GetErrorInfo or openwinml/error.h.
#pragma once

#include <unknwn.h>

#include <string>

namespace owml {

// Replaces the thread's error object: "<method>: <message>", source "WinMLRuntime". Never throws: without memory the
// sentence is lost, the code is not.
void SetThreadError(HRESULT code, const char* method, const std::string& message) noexcept;

void ClearThreadError() noexcept;

}  // namespace owml
