// Order by dependencies: who reads, changes or overwrites what before whom.
// Among what may come next, whatever joins the job at hand goes first, else what was recorded first.
#include "backend/native/graph/schedule.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "backend/native/graph/fusion.h"

namespace owml::native {
namespace {

using Nodes = std::vector<Graph::Node>;

// before[i]: what must be done before node i.
std::vector<std::set<size_t>> Dependencies(Nodes& nodes) {
  struct Uses {
    std::vector<size_t> writers, readers;  // since the last change
  };
  std::vector<std::set<size_t>> before(nodes.size());
  std::map<DeviceAddress, Uses> uses;
  for (size_t i = 0; i < nodes.size(); ++i) {
    ForEachTensor(nodes[i].operation, [&](Tensor& tensor, Access access) {
      Uses& use = uses[StorageOf(tensor.address())];
      before[i].insert(use.writers.begin(), use.writers.end());
      if (access == Access::kRead) {
        use.readers.push_back(i);
      } else {
        before[i].insert(use.readers.begin(), use.readers.end());
        use = {{i}, {}};
      }
    });
    before[i].erase(i);
  }
  return before;
}

// Operations are looked for among so many that were recorded next.
constexpr std::ptrdiff_t kLookAhead = 64;

bool IsProduct(const Graph::Node& node) { return std::holds_alternative<MatMul>(node.operation); }

// A job in the making.
struct OpenJob {
  std::vector<size_t> nodes;

  bool Takes(const Nodes& all, size_t candidate, const std::set<size_t>& before) const {
    if (nodes.empty()) return false;
    const Graph::Node &first = all[nodes[0]], &node = all[candidate];
    if (first.rows != node.rows) return false;
    if (RowWise(first.operation)) return RowWise(node.operation);
    return IsProduct(first) && IsProduct(node) &&
           std::none_of(nodes.begin(), nodes.end(), [&](size_t i) { return before.contains(i); });
  }
};

Job Closed(const Nodes& all, const OpenJob& open) {
  Job job;
  std::vector<std::string> names;
  for (const size_t i : open.nodes) {
    job.operations.push_back(all[i].operation);
    if (std::find(names.begin(), names.end(), all[i].name) == names.end()) names.push_back(all[i].name);
  }
  for (const std::string& name : names) job.name += (job.name.empty() ? "" : " + ") + name;
  job.rows = all[open.nodes[0]].rows;
  job.layer = all[open.nodes[0]].layer;
  return job;
}

}  // namespace

std::vector<Job> Schedule(const Graph& graph) {
  Nodes nodes = Needed(graph);
  FuseGates(&nodes);
  FuseSums(&nodes);
  const std::vector<std::set<size_t>> before = Dependencies(nodes);

  std::vector<Job> jobs;
  OpenJob open;
  std::vector<size_t> left(nodes.size());  // in recorded order
  for (size_t i = 0; i < nodes.size(); ++i) left[i] = i;
  std::vector<bool> done(nodes.size());
  const auto ready = [&](size_t i) {
    return std::all_of(before[i].begin(), before[i].end(), [&](size_t other) { return done[other]; });
  };
  while (!left.empty()) {
    const auto end = left.begin() + std::min(std::ssize(left), kLookAhead);
    auto next = std::find_if(left.begin(), end, [&](size_t i) { return open.Takes(nodes, i, before[i]) && ready(i); });
    if (next == end) {
      if (!open.nodes.empty()) jobs.push_back(Closed(nodes, std::exchange(open, {})));
      next = std::find_if(left.begin(), end, ready);  // the first of all is
    }
    open.nodes.push_back(*next);
    done[*next] = true;
    left.erase(next);
  }
  if (!open.nodes.empty()) jobs.push_back(Closed(nodes, open));
  return jobs;
}

}  // namespace owml::native
