// IWinMLStageSchema over whatever schema a stage has.
// See stage_schema.h.
#include "runtime/stage_schema.h"

#include "com/guard.h"
#include "runtime/build.h"
#include "runtime/schema_desc.h"

namespace owml {
namespace {

using Specs = std::vector<TensorSpec> Schema::*;

// 0 before Build means that the backend has not settled it, not that there are none.
void Count(const StageRef& stage, Specs specs, UINT32* count) {
  RequireOut(count, "count");
  const Schema* schema = ReadNode(stage, [](const StageNode& node) { return node.schema(); });
  *count = schema ? static_cast<UINT32>((schema->*specs).size()) : 0;
}

void Describe(const StageRef& stage, Specs specs, const char* side, UINT32 index, WINML_TENSOR_DESC* desc) {
  RequireOut(desc, "desc");
  RequireBuilt(*stage.core);
  const std::vector<TensorSpec>& all = stage.node->schema()->*specs;
  Require(index < all.size(), E_INVALIDARG,
          SlotLabel(side, index, *stage.node) + " does not exist; the stage has " + std::to_string(all.size()));
  *desc = DescOf<WINML_TENSOR_DESC>(all[index].dtype, all[index].dims);
}

}  // namespace

HRESULT StageSchemaMethods::GetInputCount(UINT32* count) noexcept {
  return Guard("IWinMLStageSchema::GetInputCount", [&] { Count(stage(), &Schema::inputs, count); });
}

HRESULT StageSchemaMethods::GetInputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept {
  return Guard("IWinMLStageSchema::GetInputTensorDesc",
               [&] { Describe(stage(), &Schema::inputs, "input", index, desc); });
}

HRESULT StageSchemaMethods::GetOutputCount(UINT32* count) noexcept {
  return Guard("IWinMLStageSchema::GetOutputCount", [&] { Count(stage(), &Schema::outputs, count); });
}

HRESULT StageSchemaMethods::GetOutputTensorDesc(UINT32 index, WINML_TENSOR_DESC* desc) noexcept {
  return Guard("IWinMLStageSchema::GetOutputTensorDesc",
               [&] { Describe(stage(), &Schema::outputs, "output", index, desc); });
}

}  // namespace owml
