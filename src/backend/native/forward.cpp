// From sequences to batches, and from batches to programs.
// What a program does is recorded in decoder_graph.cpp.
#include "backend/native/forward.h"

#include <algorithm>
#include <utility>

#include "backend/native/decoder_graph.h"
#include "backend/native/device/cpu_device.h"
#include "backend/native/machine.h"
#include "backend/native/rope.h"

namespace owml::native {
namespace {

// No batch is larger than what fits the cache.
ForwardSettings Fitting(ForwardSettings settings) {
  settings.batch_size =
      static_cast<uint32_t>(std::min<uint64_t>(settings.batch_size, settings.capacity * settings.slots));
  return settings;
}

KvCacheShape ShapeOfCache(const ModelPlan& plan, const ForwardSettings& settings) {
  KvCacheShape shape{settings.slots, plan.kv_heads, plan.head_width, settings.capacity, settings.cache_type};
  for (const LayerPlan& layer : plan.layers) shape.windows.push_back(layer.window);
  shape.ahead = std::max(settings.batch_size, settings.take_back);
  return shape;
}

}  // namespace

std::unique_ptr<Device> OnCpu(const ForwardSettings& settings, const kernels::Kernels& kernels) {
  return std::make_unique<CpuDevice>(settings.threads, kernels,
                                     PlacesOnMachine(settings.threads, settings.pin_threads));
}

Forward::Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                 const kernels::Kernels& kernels)
    : Forward(std::move(weights), settings, OnCpu(settings, kernels)) {}

Forward::Forward(std::shared_ptr<const ModelWeights> weights, const ForwardSettings& settings,
                 std::unique_ptr<Device> device)
    : settings_(Fitting(settings)),
      device_(std::move(device)),
      weights_(std::move(weights), device_.get()),
      cache_(ShapeOfCache(weights_.host().plan(), settings_), device_.get()),
      profile_(device_->threads()) {
  const ModelPlan& plan = weights_.host().plan();
  const uint32_t batch = settings_.batch_size;
  std::vector<DeviceAddress> steps;
  for (const RopePlan& rope : plan.ropes) {
    const std::vector<double> radians = RopeSteps(plan, rope, weights_.host().RopeFactorsFor(settings.capacity));
    const auto bytes = std::as_bytes(std::span(radians));
    rope_steps_.push_back(device_->Allocate(bytes.size(), "the angles of " + plan.label));
    device_->CopyIn(rope_steps_.back().address, bytes);
    steps.push_back(rope_steps_.back().address);
  }
  const DecoderMemory memory{weights_, cache_.layers(), settings.best, steps};
  every_row_.emplace(RecordDecoder(plan, memory, batch, /*all_read=*/true));
  some_rows_.emplace(RecordDecoder(plan, memory, batch, /*all_read=*/false));
  work_ = device_->Allocate(std::max(every_row_->bytes(), some_rows_->bytes()), "the work buffers of " + plan.label);
  every_row_->Place(work_.address, device_.get(), &profile_);
  some_rows_->Place(work_.address, device_.get(), &profile_);
  profile_.SetWorkBuffers({work_.bytes, std::max(every_row_->unshared_bytes(), some_rows_->unshared_bytes())});
  if (!device_->uses_host_memory()) {
    staged_row_bytes_ = std::max(plan.vocabulary * sizeof(float), settings.best * sizeof(TokenLogit));
    staged_ = device_->Allocate(batch * staged_row_bytes_, "the logits of " + plan.label);
  }
  rows_.reserve(batch);
  read_.reserve(batch);
  read_from_.reserve(batch);
  wanted_.reserve(batch);
  results_.reserve(batch);
}

bool Forward::Run(std::span<const SequenceTokens> sequences, const StepResults& results, CancellationCheck* check) {
  ClearBatch();  // of a run that ended early
  const uint64_t vocabulary = weights_.host().plan().vocabulary;
  float* logits = results.logits.data();
  TokenLogit* best = results.best.data();
  for (const SequenceTokens& sequence : sequences) {
    for (size_t i = 0; i < sequence.tokens.size(); ++i) {
      const Row row{sequence.tokens[i], sequence.slot, sequence.position + i};
      const bool last = i + 1 == sequence.tokens.size();
      if (sequence.rows == LogitRows::kAll || (last && sequence.rows == LogitRows::kLast)) {
        read_.push_back(row);
        read_from_.push_back(static_cast<uint32_t>(rows_.size()));
        wanted_.push_back(sequence.best ? Wanted{.best = std::exchange(best, best + results.best_count)}
                                        : Wanted{.logits = std::exchange(logits, logits + vocabulary)});
      }
      rows_.push_back(row);
      if (rows_.size() == settings_.batch_size && !RunBatch(results.best_count, check)) return false;
    }
  }
  return rows_.empty() || RunBatch(results.best_count, check);
}

bool Forward::RunBatch(uint32_t best_count, CancellationCheck* check) {
  PlaceResults();
  Program& program = read_.size() == rows_.size() ? *every_row_ : *some_rows_;
  const bool finished = program.Run({rows_, read_, read_from_, results_, best_count}, check);
  if (finished && staged_.owner) BringResults(best_count);
  ClearBatch();
  weights_.host().RequireWholeFiles();  // rows of the embedding were read
  return finished;
}

void Forward::ClearBatch() noexcept {
  rows_.clear();
  read_.clear();
  read_from_.clear();
  wanted_.clear();
}

void Forward::PlaceResults() noexcept {
  results_.clear();
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const Wanted& wanted = wanted_[i];
    if (staged_.owner) {
      const DeviceAddress place = staged_.address + i * staged_row_bytes_;
      results_.push_back(wanted.best ? RowResult{.best = place} : RowResult{.logits = place});
    } else {
      results_.push_back({reinterpret_cast<uintptr_t>(wanted.logits), reinterpret_cast<uintptr_t>(wanted.best)});
    }
  }
}

void Forward::BringResults(uint32_t best_count) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (wanted_[i].best) {
      device_->CopyOut(std::as_writable_bytes(std::span(wanted_[i].best, best_count)), results_[i].best);
    } else {
      device_->CopyOut(std::as_writable_bytes(std::span(wanted_[i].logits, weights_.host().plan().vocabulary)),
                       results_[i].logits);
    }
  }
}

}  // namespace owml::native
