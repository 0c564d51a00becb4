// Operations that become one: the rewriting passes of a schedule. Nodes keep the meaning of their order.
// Called by schedule.cpp.
#pragma once

#include <vector>

#include "backend/native/graph/graph.h"

namespace owml::native {

// Leaves out what changes neither a cache nor a result.
std::vector<Graph::Node> Needed(const Graph& graph);

// gate = x Wg, up = x Wu (with their biases), activation and quantization as one.
void FuseGates(std::vector<Graph::Node>* nodes);

// y = x W, s += y as one, where nobody else reads y.
void FuseSums(std::vector<Graph::Node>* nodes);

}  // namespace owml::native
