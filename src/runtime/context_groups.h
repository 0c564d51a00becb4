// Shared-context groups of one Build: which stages share a provider context, and in what order sessions are prepared.
// Used by runtime/build.cpp.
#pragma once

#include <string>
#include <vector>

#include "runtime/pipeline_core.h"

namespace owml {

class ContextGroups {
 public:
  // Throws E_INVALIDARG for a group with one member only, or whose members differ in provider, device or provider
  // options.
  explicit ContextGroups(const PipelineCore& core);

  // Stages in the order of adding, but members of a group one directly after the other.
  const std::vector<size_t>& preparation_order() const { return order_; }

  // The session entries by which ONNX Runtime shares a context: all members share, the last one closes the group.
  // Entries that the application has set itself stay.
  void AddEntries(const StageNode& node, SessionOptions& options) const;

 private:
  std::vector<size_t> order_;
  std::vector<bool> last_of_group_;  // by stage number
};

}  // namespace owml
