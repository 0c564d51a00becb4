// The stages of a pipeline and the edges between them: which stage feeds which input, and in what order they run.
// Plain data without COM; filled by runtime/pipeline_builder.cpp, read by build and run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace owml {

// Output `output` of stage `source` feeds input `input` of stage `target`. Stages are numbered in the order of adding.
struct Edge {
  size_t source = 0;
  uint32_t output = 0;
  size_t target = 0;
  uint32_t input = 0;
};

class Graph {
 public:
  // `label` names the stage in messages, for example "stage 'decoder'". Returns its number.
  size_t AddStage(std::string label);

  // An edge within one execution. Throws E_INVALIDARG for an unknown stage, a stage that feeds itself, or an input that
  // has a feed of either kind.
  void Connect(const Edge& edge);

  // A feedback edge: the output of one execution is the input of the next. A stage may feed itself. Same errors.
  void ConnectNextIteration(const Edge& edge);

  // The edge into an input, or null.
  const Edge* FeedOf(size_t target, uint32_t input) const;
  const Edge* FeedbackOf(size_t target, uint32_t input) const;

  // All stages, each after every stage that feeds it; among stages that are free to run, the one added first. Feedback
  // edges put no order on stages. Throws E_INVALIDARG, naming the stages, when the edges form a cycle.
  std::vector<size_t> Order() const;

  size_t stage_count() const { return labels_.size(); }
  const std::string& label(size_t stage) const { return labels_[stage]; }
  const std::vector<Edge>& edges() const { return edges_; }
  const std::vector<Edge>& feedback_edges() const { return feedback_edges_; }

 private:
  void Check(const Edge& edge) const;
  std::string DescribeCycle(const std::vector<size_t>& waiting_for) const;

  std::vector<std::string> labels_;
  std::vector<Edge> edges_;
  std::vector<Edge> feedback_edges_;
};

}  // namespace owml
