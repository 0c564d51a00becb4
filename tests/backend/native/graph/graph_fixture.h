// Small graphs with weights of their own, and running them on the CPU.
// Used by the tests of this folder.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "backend/native/device/cpu_address.h"
#include "backend/native/device/cpu_device.h"
#include "backend/native/graph/graph.h"
#include "backend/native/graph/program.h"
#include "backend/native/profile.h"
#include "kernels/panel.h"
#include "kernels/quant_block.h"

namespace owml::native {

inline std::vector<float> RandomFloats(size_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random() >> 8) / 16777216.0f - 0.5f;
  return values;
}

// A matrix of floats, as rows and in panels; as halves of 8 bits where it is quantized.
class TestMatrix {
 public:
  TestMatrix(uint64_t rows, uint64_t columns, uint32_t seed, kernels::WeightType type = kernels::WeightType::kF32)
      : values_(RandomFloats(rows * columns, seed)) {
    std::vector<std::byte> file(rows * kernels::RowBytes(type, columns));
    if (type == kernels::WeightType::kF32) {
      std::memcpy(file.data(), values_.data(), file.size());
    } else {  // Q8_0: a scale of 1/512 in half precision, then 32 bytes
      for (size_t block = 0; block < rows * columns / 32; ++block) {
        const uint16_t scale = 0x1800;
        std::memcpy(file.data() + block * 34, &scale, 2);
        for (size_t i = 0; i < 32; ++i) {
          const auto q = static_cast<int8_t>(values_[block * 32 + i] * 200);
          std::memcpy(file.data() + block * 34 + 2 + i, &q, 1);
          values_[block * 32 + i] = static_cast<float>(q) / 512.0f;
        }
      }
    }
    const size_t panel = kernels::PanelBytes(type, columns);
    panels_.resize(kernels::PanelCount(rows) * panel);
    for (size_t i = 0; i < kernels::PanelCount(rows); ++i) {
      kernels::PackPanel(type, file.data(), rows, columns, i, panels_.data() + i * panel);
    }
    matrix_ = {type, rows, columns, AddressOf(panels_.data())};
  }

  const Matrix& matrix() const { return matrix_; }
  float at(uint64_t row, uint64_t column) const { return values_[row * matrix_.columns + column]; }

 private:
  std::vector<float> values_;
  std::vector<std::byte> panels_;
  Matrix matrix_;
};

// A table of rows, as an embedding lies in a file.
struct TestTable {
  TestTable(uint64_t rows, uint64_t width, uint32_t seed) : values(RandomFloats(rows * width, seed)) {}
  DeviceAddress address() const { return AddressOf(values.data()); }
  std::vector<float> values;
};

// A graph on the CPU.
class Runner {
 public:
  explicit Runner(const Graph& graph, uint32_t threads = 2, kernels::Isa isa = kernels::Isa::kScalar)
      : device_(threads, kernels::KernelsFor(isa)), profile_(threads), program_(graph) {
    memory_ = device_.Allocate(program_.bytes(), "a test");
    program_.Place(memory_.address, &device_, &profile_);
  }

  // Tokens of one sequence from its start; rows of `width` logits of those that are `read`, or of all.
  std::vector<float> Run(const std::vector<int32_t>& tokens, uint64_t width, const std::vector<uint32_t>& read = {},
                         CancellationCheck* check = nullptr) {
    std::vector<Row> rows, read_rows;
    for (size_t i = 0; i < tokens.size(); ++i) rows.push_back({tokens[i], 0, i});
    for (const uint32_t i : read) read_rows.push_back(rows[i]);
    const std::vector<Row>& wanted = read.empty() ? rows : read_rows;
    std::vector<float> logits(wanted.size() * width, -1.0f);
    std::vector<RowResult> results(wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) results[i].logits = AddressOf(logits.data() + i * width);
    finished_ = program_.Run({rows, wanted, read, results, 0}, check);
    return logits;
  }

  Program& program() { return program_; }
  Profile& profile() { return profile_; }
  bool finished() const { return finished_; }

 private:
  CpuDevice device_;
  Profile profile_;
  Program program_;
  DeviceMemory memory_;
  bool finished_ = false;
};

inline std::vector<std::string> NamesOf(const std::vector<Job>& jobs) {
  std::vector<std::string> names;
  for (const Job& job : jobs) names.push_back(job.name);
  return names;
}

}  // namespace owml::native
