// Options and diagnostics of ONNX stages.
// See stage_ort.h.
#include "runtime/stage_ort.h"

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// Null and empty strings are bad values here, not bad pointers.
std::string Text(LPCWSTR text, const char* name, bool may_be_empty) {
  Require(text != nullptr, E_INVALIDARG, std::string(name) + " is null");
  Require(may_be_empty || *text, E_INVALIDARG, std::string(name) + " is empty");
  return ToUtf8(text);
}

void SetEntry(const StageRef& stage, Entries SessionOptions::*entries, LPCWSTR key, LPCWSTR value) {
  std::string name = Text(key, "key", false);
  std::string text = Text(value, "value", true);
  EditOptions(stage, [&](StageNode& node) {
    for (auto& [known, old] : node.options.*entries) {
      if (known != name) continue;
      old = std::move(text);
      return;
    }
    (node.options.*entries).emplace_back(std::move(name), std::move(text));
  });
}

HRESULT GiveName(const StageRef& stage, const std::wstring BuildOutcome::*name, LPCWSTR* out) {
  RequireOut(out, "providerName");
  RequireBuilt(*stage.core);
  const std::wstring& text = stage.node->outcome.*name;
  if (text.empty()) return S_FALSE;
  *out = text.c_str();
  return S_OK;
}

}  // namespace

HRESULT StageOrtOptionMethods::SetProviderOption(LPCWSTR key, LPCWSTR value) noexcept {
  return Guard("IWinMLOrtStageOptions::SetProviderOption",
               [&] { SetEntry(stage(), &SessionOptions::provider_options, key, value); });
}

HRESULT StageOrtOptionMethods::SetSessionConfigEntry(LPCWSTR key, LPCWSTR value) noexcept {
  return Guard("IWinMLOrtStageOptions::SetSessionConfigEntry",
               [&] { SetEntry(stage(), &SessionOptions::session_config, key, value); });
}

HRESULT StageOrtOptionMethods::SetSharedContextGroup(LPCWSTR groupName) noexcept {
  return Guard("IWinMLOrtStageOptions::SetSharedContextGroup", [&] {
    std::string name = Text(groupName, "groupName", false);
    EditOptions(stage(), [&](StageNode& node) { node.context_group = std::move(name); });
  });
}

HRESULT StageOrtOptionMethods::ClearSharedContextGroup() noexcept {
  return Guard("IWinMLOrtStageOptions::ClearSharedContextGroup",
               [&] { EditOptions(stage(), [](StageNode& node) { node.context_group.clear(); }); });
}

HRESULT StageOrtDiagnosticMethods::GetRequestedProviderName(LPCWSTR* providerName) noexcept {
  return Guard("IWinMLOrtStageDiagnostics::GetRequestedProviderName",
               [&] { return GiveName(stage(), &BuildOutcome::requested_provider, providerName); });
}

HRESULT StageOrtDiagnosticMethods::GetSelectedProviderName(LPCWSTR* providerName) noexcept {
  return Guard("IWinMLOrtStageDiagnostics::GetSelectedProviderName",
               [&] { return GiveName(stage(), &BuildOutcome::selected_provider, providerName); });
}

HRESULT StageOrtDiagnosticMethods::IsProviderPinned(BOOL* isPinned) noexcept {
  return Guard("IWinMLOrtStageDiagnostics::IsProviderPinned", [&] {
    RequireOut(isPinned, "isPinned");
    RequireBuilt(*stage().core);
    *isPinned = !stage().node->outcome.requested_provider.empty();
  });
}

}  // namespace owml
