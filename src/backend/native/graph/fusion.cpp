// Patterns are found through the buffers between operations.
// A fused operation stands at the place of the last one it is made of.
#include "backend/native/graph/fusion.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace owml::native {
namespace {

using Nodes = std::vector<Graph::Node>;

bool Touches(Graph::Node& node, const Tensor& tensor, bool changes_only) {
  bool touches = false;
  ForEachTensor(node.operation, [&](Tensor& other, Access access) {
    touches |= StorageOf(other.address()) == StorageOf(tensor.address()) && (!changes_only || access != Access::kRead);
  });
  return touches;
}

std::vector<size_t> Users(Nodes& nodes, const std::vector<bool>& gone, const Tensor& tensor) {
  std::vector<size_t> users;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (!gone[i] && Touches(nodes[i], tensor, false)) users.push_back(i);
  }
  return users;
}

// True where an operation at `from` may as well stand at `to`: what it reads is the same there.
bool MayMove(Nodes& nodes, size_t from, size_t to) {
  bool may = true;
  ForEachTensor(nodes[from].operation, [&](Tensor& tensor, Access access) {
    for (size_t i = from + 1; access == Access::kRead && i < to; ++i) may &= !Touches(nodes[i], tensor, true);
  });
  return may;
}

// All but the nodes that are gone.
void Erase(Nodes* nodes, const std::vector<bool>& gone) {
  Nodes kept;
  kept.reserve(nodes->size());
  for (size_t i = 0; i < nodes->size(); ++i) {
    if (!gone[i]) kept.push_back(std::move((*nodes)[i]));
  }
  *nodes = std::move(kept);
}

// A product and what may follow it in front of its reader.
struct ProductWithBias {
  size_t product = 0;
  DeviceAddress bias = 0;
  std::vector<size_t> nodes;
};

// What makes `tensor`, which nobody else touches before `reader`.
std::optional<ProductWithBias> ProductOf(Nodes& nodes, const std::vector<bool>& gone, const Tensor& tensor,
                                         size_t reader) {
  ProductWithBias found;
  found.nodes = Users(nodes, gone, tensor);
  std::erase_if(found.nodes, [&](size_t i) { return i >= reader; });
  if (found.nodes.empty() || found.nodes.size() > 2) return std::nullopt;
  found.product = found.nodes[0];
  const auto* product = std::get_if<MatMul>(&nodes[found.product].operation);
  if (!product || product->accumulate || !MayMove(nodes, found.product, reader)) return std::nullopt;
  if (found.nodes.size() == 2) {
    const auto* bias = std::get_if<AddVector>(&nodes[found.nodes[1]].operation);
    if (!bias) return std::nullopt;
    found.bias = bias->vector;
  }
  return found;
}

}  // namespace

Nodes Needed(const Graph& graph) {
  Nodes nodes = graph.nodes();
  std::set<DeviceAddress> read;  // by what is needed
  std::vector<bool> idle(nodes.size());
  for (size_t i = nodes.size(); i-- > 0;) {
    bool needed = std::holds_alternative<Head>(nodes[i].operation);
    ForEachTensor(nodes[i].operation, [&](Tensor& tensor, Access access) {
      if (access == Access::kRead) return;
      needed |= !IsUnplaced(tensor.address()) || read.contains(StorageOf(tensor.address()));
    });
    if (!needed) {
      idle[i] = true;
      continue;
    }
    ForEachTensor(nodes[i].operation, [&](Tensor& tensor, Access access) {
      if (access != Access::kWrite) read.insert(StorageOf(tensor.address()));
    });
  }
  Erase(&nodes, idle);
  return nodes;
}

void FuseGates(Nodes* all) {
  Nodes& nodes = *all;
  std::vector<bool> gone(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto* found = std::get_if<Activate>(&nodes[i].operation);
    if (!found) continue;
    const Activate activate = *found;
    const auto gate = ProductOf(nodes, gone, activate.gate, i), up = ProductOf(nodes, gone, activate.up, i);
    if (!gate || !up || Users(nodes, gone, activate.up).back() != i) continue;
    const auto& gate_product = std::get<MatMul>(nodes[gate->product].operation);
    const auto& up_product = std::get<MatMul>(nodes[up->product].operation);
    GateUp fused{gate_product.x, up_product.x, gate_product.matrix, up_product.matrix,
                 gate->bias,     up->bias,     activate.activation, activate.gate};
    // Where only bytes of it are read, floats are not kept.
    const std::vector<size_t> users = Users(nodes, gone, activate.gate);
    const auto* quantize = std::get_if<Quantize>(&nodes[users.back()].operation);
    if (quantize && users[users.size() - 2] == i) {
      fused.out = quantize->out;
      gone[users.back()] = true;
    }
    for (const size_t node : gate->nodes) gone[node] = true;
    for (const size_t node : up->nodes) gone[node] = true;
    nodes[i].name = nodes[gate->product].name + " + " + nodes[up->product].name;
    nodes[i].operation = fused;
  }
  Erase(&nodes, gone);
}

void FuseSums(Nodes* all) {
  Nodes& nodes = *all;
  std::vector<bool> gone(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    const auto* sum = std::get_if<AddScaled>(&nodes[i].operation);
    if (!sum || sum->factor != 1) continue;
    const std::vector<size_t> users = Users(nodes, gone, sum->y);
    if (users.size() != 2 || users[1] != i || !MayMove(nodes, users[0], i)) continue;
    const auto* found = std::get_if<MatMul>(&nodes[users[0]].operation);
    if (!found || found->accumulate) continue;
    MatMul product = *found;
    product.out = sum->x;
    product.accumulate = true;
    gone[users[0]] = true;
    nodes[i].name = nodes[users[0]].name + " + add";
    nodes[i].operation = product;
  }
  Erase(&nodes, gone);
}

}  // namespace owml::native
