// The thread's error object as an application reads it.
// Used by the tests of the exported functions.
#pragma once

#include <oleauto.h>
#include <wrl/client.h>

#include <openwinml/strings.hpp>
#include <string>

namespace owml::test {

struct ErrorText {
  std::string source;
  std::string description;
};

// Takes the object away; empty texts when there is none.
inline ErrorText TakeError() {
  const auto text = [](BSTR owned) {
    const std::string result = owned ? openwinml::ToUtf8(std::wstring_view(owned, SysStringLen(owned))) : "";
    SysFreeString(owned);
    return result;
  };
  ErrorText found;
  Microsoft::WRL::ComPtr<IErrorInfo> info;
  if (GetErrorInfo(0, info.GetAddressOf()) != S_OK) return found;
  BSTR owned = nullptr;
  if (SUCCEEDED(info->GetSource(&owned))) found.source = text(owned);
  owned = nullptr;
  if (SUCCEEDED(info->GetDescription(&owned))) found.description = text(owned);
  return found;
}

}  // namespace owml::test
