// Order and checks of a pipeline's graph.
// See graph.h.
#include "runtime/graph.h"

#include <functional>
#include <queue>

#include "base/error.h"

namespace owml {
namespace {

const Edge* FindInto(const std::vector<Edge>& edges, size_t target, uint32_t input) {
  for (const Edge& edge : edges) {
    if (edge.target == target && edge.input == input) return &edge;
  }
  return nullptr;
}

}  // namespace

size_t Graph::AddStage(std::string label) {
  labels_.push_back(std::move(label));
  return labels_.size() - 1;
}

void Graph::Connect(const Edge& edge) {
  Check(edge);
  if (edge.source == edge.target) {
    throw Error(E_INVALIDARG,
                labels_[edge.source] + " cannot feed itself within one execution; use ConnectNextIteration");
  }
  edges_.push_back(edge);
}

void Graph::ConnectNextIteration(const Edge& edge) {
  Check(edge);
  feedback_edges_.push_back(edge);
}

const Edge* Graph::FeedOf(size_t target, uint32_t input) const { return FindInto(edges_, target, input); }

const Edge* Graph::FeedbackOf(size_t target, uint32_t input) const { return FindInto(feedback_edges_, target, input); }

std::vector<size_t> Graph::Order() const {
  std::vector<size_t> waiting_for(labels_.size(), 0);
  std::vector<std::vector<size_t>> consumers(labels_.size());
  for (const Edge& edge : edges_) {
    ++waiting_for[edge.target];
    consumers[edge.source].push_back(edge.target);
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t stage = 0; stage < labels_.size(); ++stage) {
    if (waiting_for[stage] == 0) ready.push(stage);
  }
  std::vector<size_t> order;
  order.reserve(labels_.size());
  while (!ready.empty()) {
    const size_t stage = ready.top();
    ready.pop();
    order.push_back(stage);
    for (size_t consumer : consumers[stage]) {
      if (--waiting_for[consumer] == 0) ready.push(consumer);
    }
  }
  if (order.size() != labels_.size()) throw Error(E_INVALIDARG, DescribeCycle(waiting_for));
  return order;
}

void Graph::Check(const Edge& edge) const {
  if (edge.source >= labels_.size() || edge.target >= labels_.size()) {
    throw Error(E_INVALIDARG, "the edge names a stage that is not in the graph");
  }
  const Edge* existing = FeedOf(edge.target, edge.input);
  if (!existing) existing = FeedbackOf(edge.target, edge.input);
  if (existing) {
    throw Error(E_INVALIDARG, "input " + std::to_string(edge.input) + " of " + labels_[edge.target] +
                                  " is already fed by output " + std::to_string(existing->output) + " of " +
                                  labels_[existing->source]);
  }
}

// Every stage that still waits has a feeder that still waits, so walking backwards from one of them must meet itself.
std::string Graph::DescribeCycle(const std::vector<size_t>& waiting_for) const {
  size_t stage = 0;
  while (waiting_for[stage] == 0) ++stage;
  std::vector<size_t> path;
  std::vector<bool> seen(labels_.size(), false);
  while (!seen[stage]) {
    seen[stage] = true;
    path.push_back(stage);
    for (const Edge& edge : edges_) {
      if (edge.target == stage && waiting_for[edge.source] != 0) {
        stage = edge.source;
        break;
      }
    }
  }
  // `path` runs against the edges and may begin outside the cycle; print the cycle along the edges.
  std::string text = "the connections form a cycle: " + labels_[stage];
  for (size_t i = path.size(); i-- > 0;) {
    text += " -> " + labels_[path[i]];
    if (path[i] == stage) break;
  }
  return text;
}

}  // namespace owml
