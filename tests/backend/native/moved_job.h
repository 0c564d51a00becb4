// A job whose addresses are others: for devices of tests that stand between the engine and a real one.
#pragma once

#include <variant>

#include "backend/native/device/step.h"

namespace owml::test {

// `move` gives the new place of an address that is not 0.
template <class Move>
native::Job MovedJob(native::Job job, const Move& move) {
  using namespace owml::native;  // NOLINT
  const auto to = [&](DeviceAddress& address) { address = address == 0 ? 0 : move(address); };
  const auto all = [&]<class Op>(Op& op) {
    if constexpr (std::is_same_v<Op, Embed>) to(op.table);
    if constexpr (std::is_same_v<Op, Angles>) to(op.steps);
    if constexpr (std::is_same_v<Op, RmsNorm>) to(op.weight);
    if constexpr (std::is_same_v<Op, AddVector>) to(op.vector);
    if constexpr (std::is_same_v<Op, MatMul>) to(op.matrix.panels);
    if constexpr (std::is_same_v<Op, native::Append> || std::is_same_v<Op, Attend>) {
      op.cache.values = op.cache.values.At(move(op.cache.values.address()));
    }
    if constexpr (std::is_same_v<Op, Head>) to(op.matrix.panels), to(op.bias);
    if constexpr (std::is_same_v<Op, GateUp>) {
      to(op.gate.panels), to(op.up.panels), to(op.gate_bias), to(op.up_bias);
    }
  };
  for (Operation& operation : job.operations) {
    ForEachTensor(operation, [&](Tensor& tensor, Access) { tensor = tensor.At(move(tensor.address())); });
    std::visit(all, operation);
  }
  return job;
}

}  // namespace owml::test
