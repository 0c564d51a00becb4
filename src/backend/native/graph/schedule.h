// From operations to jobs: what nobody needs is left out, what pays is fused, and the rest is ordered so that
// neighbours go through rows together. Called by program.cpp at Build.
//
// Fused:  norm and quantization, and every other neighbours that go row by row
//         queries, keys and values, and other independent products
//         gate, up, activation and quantization
//         a product and its sum with the residual stream
#pragma once

#include <vector>

#include "backend/native/graph/graph.h"

namespace owml::native {

std::vector<Job> Schedule(const Graph& graph);

}  // namespace owml::native
