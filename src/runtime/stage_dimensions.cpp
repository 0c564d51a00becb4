// Symbolic dimension overrides in the order in which names were first set.
// See stage_dimensions.h.
#include "runtime/stage_dimensions.h"

#include <algorithm>
#include <cstring>

#include "com/guard.h"
#include "com/wide.h"

namespace owml {
namespace {

std::string Name(LPCWSTR name) {
  Require(name != nullptr && *name, E_INVALIDARG, "name is null or empty");
  return ToUtf8(name);
}

// Spec-open: names match exactly.
template <class Overrides>
auto FindOverride(Overrides& overrides, const std::string& name) {
  return std::find_if(overrides.begin(), overrides.end(), [&](const auto& entry) { return entry.first == name; });
}

}  // namespace

HRESULT StageDimensionMethods::SetOverride(LPCWSTR name, INT64 extent) noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::SetOverride", [&] {
    std::string key = Name(name);
    Require(extent > 0, E_INVALIDARG,
            "the extent of '" + key + "' is " + std::to_string(extent) + ", it must be positive");
    EditOptions(stage(), [&](StageNode& node) {
      auto& overrides = node.options.dimension_overrides;
      const auto found = FindOverride(overrides, key);
      if (found != overrides.end()) {
        found->second = extent;
      } else {
        overrides.emplace_back(std::move(key), extent);
      }
    });
  });
}

HRESULT StageDimensionMethods::RemoveOverride(LPCWSTR name) noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::RemoveOverride", [&] {
    const std::string key = Name(name);
    HRESULT result = S_FALSE;
    EditOptions(stage(), [&](StageNode& node) {
      auto& overrides = node.options.dimension_overrides;
      const auto found = FindOverride(overrides, key);
      if (found == overrides.end()) return;
      overrides.erase(found);
      result = S_OK;
    });
    return result;
  });
}

HRESULT StageDimensionMethods::ClearOverrides() noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::ClearOverrides",
               [&] { EditOptions(stage(), [](StageNode& node) { node.options.dimension_overrides.clear(); }); });
}

HRESULT StageDimensionMethods::TryGetOverride(LPCWSTR name, INT64* extent) noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::TryGetOverride", [&] {
    RequireOut(extent, "extent");
    const std::string key = Name(name);
    return ReadNode(stage(), [&](const StageNode& node) {
      const auto found = FindOverride(node.options.dimension_overrides, key);
      if (found == node.options.dimension_overrides.end()) return S_FALSE;
      *extent = found->second;
      return S_OK;
    });
  });
}

HRESULT StageDimensionMethods::GetOverrideCount(UINT32* count) noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::GetOverrideCount", [&] {
    RequireOut(count, "count");
    *count = ReadNode(
        stage(), [](const StageNode& node) { return static_cast<UINT32>(node.options.dimension_overrides.size()); });
  });
}

HRESULT StageDimensionMethods::GetOverrideAt(UINT32 index, UINT32 nameCapacity, LPWSTR name, UINT32* nameLength,
                                             INT64* extent) noexcept {
  return Guard("IWinMLOnnxSymbolicDimensionOverrides::GetOverrideAt", [&] {
    if (nameLength) *nameLength = 0;
    if (extent) *extent = 0;
    RequirePointer(nameLength, "nameLength");
    RequirePointer(extent, "extent");
    if (nameCapacity != 0) RequirePointer(name, "name");
    const auto entry = ReadNode(stage(), [&](const StageNode& node) {
      const auto& overrides = node.options.dimension_overrides;
      Require(index < overrides.size(), E_INVALIDARG,
              "override " + std::to_string(index) + " does not exist; there are " + std::to_string(overrides.size()));
      return overrides[index];
    });
    const std::wstring wide = ToWide(entry.first);
    // Spec quirk: length and extent are given also when the name does not fit, so that the caller can size its buffer.
    *nameLength = static_cast<UINT32>(wide.size() + 1);
    *extent = entry.second;
    Require(nameCapacity >= wide.size() + 1, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER),
            "the name needs " + std::to_string(wide.size() + 1) + " characters, there is room for " +
                std::to_string(nameCapacity));
    std::memcpy(name, wide.c_str(), (wide.size() + 1) * sizeof(WCHAR));
  });
}

}  // namespace owml
