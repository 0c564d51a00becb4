// Places of threads and parts of jobs on machines that need not be there.
#include "backend/native/thread_placement.h"

#include <gmock/gmock.h>

#include <memory>

namespace owml::native {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<Processor> ProcessorsOf(const std::string& description) {
  std::string why_not;
  const auto topology = DescribedTopology(description, &why_not);
  EXPECT_TRUE(topology) << why_not;
  return topology ? topology->processors() : std::vector<Processor>{};
}

std::vector<uint32_t> NodesOf(const std::vector<ThreadPlace>& places) {
  std::vector<uint32_t> nodes;
  for (const ThreadPlace& place : places) nodes.push_back(place.node);
  return nodes;
}

// Of pinned threads.
std::vector<uint32_t> ProcessorsOf(const std::vector<ThreadPlace>& places) {
  std::vector<uint32_t> processors;
  for (const ThreadPlace& place : places) {
    EXPECT_EQ(place.processors.size(), 1u);
    processors.push_back(place.processors.front());
  }
  return processors;
}

TEST(ThreadPlacementTest, PinnedThreadsHaveAProcessorEach) {
  const auto machine = ProcessorsOf("node:2 core:4 pu:1");
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 8, true)), ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(NodesOf(PlaceThreads(machine, 8, true)), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1));
}

TEST(ThreadPlacementTest, FewThreadsAreSpreadOverTheNodes) {
  const auto machine = ProcessorsOf("node:2 core:4 pu:1");
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 2, true)), ElementsAre(0, 4));
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 4, true)), ElementsAre(0, 1, 4, 5));
  EXPECT_THAT(NodesOf(PlaceThreads(ProcessorsOf("node:4 core:2 pu:1"), 4, true)), ElementsAre(0, 1, 2, 3));
}

TEST(ThreadPlacementTest, CoresAreUsedOnceBeforeTheyAreUsedTwice) {
  const auto machine = ProcessorsOf("node:1 core:2 pu:2");
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 2, true)), ElementsAre(0, 2));
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 4, true)), ElementsAre(0, 2, 1, 3));
}

TEST(ThreadPlacementTest, ThreadsThatAreNotPinnedStayOnTheirNode) {
  const auto places = PlaceThreads(ProcessorsOf("node:2 core:2 pu:1"), 4, false);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_THAT(NodesOf(places), ElementsAre(0, 0, 1, 1));
  EXPECT_THAT(places[1].processors, ElementsAre(0, 1));
  EXPECT_THAT(places[2].processors, ElementsAre(2, 3));
}

TEST(ThreadPlacementTest, ANodeWithMoreProcessorsHasMoreThreads) {
  auto machine = ProcessorsOf("node:2 core:4 pu:1");
  machine.erase(machine.begin(), machine.begin() + 2);  // an affinity mask of 2 to 7
  EXPECT_THAT(ProcessorsOf(PlaceThreads(machine, 6, true)), ElementsAre(2, 3, 4, 5, 6, 7));
  EXPECT_THAT(NodesOf(PlaceThreads(machine, 3, true)), ElementsAre(0, 1, 1));
}

TEST(ThreadPlacementTest, MoreThreadsThanProcessorsShareThem) {
  EXPECT_THAT(ProcessorsOf(PlaceThreads(ProcessorsOf("node:2 core:1 pu:1"), 4, true)), ElementsAre(0, 0, 1, 1));
}

TEST(ThreadPlacementTest, WithoutProcessorsThereAreNoPlaces) { EXPECT_THAT(PlaceThreads({}, 4, true), IsEmpty()); }

TEST(ThreadPlacementTest, EachPartOfAJobIsOnTheNodeOfTheThreadThatDoesIt) {
  for (const char* description :
       {"node:1 core:4 pu:1", "node:2 core:4 pu:1", "node:4 core:2 pu:2", "node:3 core:1 pu:1"}) {
    const auto machine = ProcessorsOf(description);
    const NodeShares nodes(machine);
    const auto threads = static_cast<uint32_t>(machine.size());
    const auto places = PlaceThreads(machine, threads, true);
    ASSERT_EQ(places.size(), threads);
    const uint64_t parts = 5 * threads;
    for (uint64_t part = 0; part < parts; ++part) {
      EXPECT_EQ(nodes.NodeOf(part, parts), places[part / 5].node) << description << ", part " << part;
    }
  }
}

TEST(TopologyTest, ADescriptionThatCannotBeReadIsNoMachine) {
  std::string why_not;
  EXPECT_EQ(DescribedTopology("two nodes, please", &why_not), nullptr);
  EXPECT_THAT(why_not, testing::HasSubstr("two nodes, please"));
}

TEST(TopologyTest, ThisMachineHasTheProcessorsThatItHas) {
  std::string why_not;
  const auto topology = MachineTopology(&why_not);
  ASSERT_TRUE(topology) << why_not;
  EXPECT_GE(topology->processors().size(), 1u);
}

}  // namespace
}  // namespace owml::native
