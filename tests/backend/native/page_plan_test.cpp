// From stretches of memory with a node each to whole pages.
#include "backend/native/page_plan.h"

#include <gmock/gmock.h>

namespace owml::native {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Stretch = PagePlan::Stretch;

// Nothing reads or writes there.
std::byte* At(uintptr_t address) { return reinterpret_cast<std::byte*>(address); }

// What is asked of it.
class RecordingTopology final : public Topology {
 public:
  const std::vector<Processor>& processors() const override { return processors_; }
  bool Keep(std::byte* pages, size_t bytes, uint32_t node) const override {
    asked.push_back({pages, bytes, node});
    return true;
  }
  mutable std::vector<Stretch> asked;

 private:
  std::vector<Processor> processors_;
};

TEST(PagePlanTest, NeighboursOfOneNodeAreOneRun) {
  PagePlan plan;
  plan.Add(At(0x3000), 0x1000, 0);
  plan.Add(At(0x1000), 0x2000, 0);
  plan.Add(At(0x4000), 0x1000, 1);
  plan.Add(At(0x6000), 0x1000, 1);
  EXPECT_THAT(plan.Runs(0x1000), ElementsAre(Stretch{At(0x1000), 0x3000, 0}, Stretch{At(0x4000), 0x1000, 1},
                                             Stretch{At(0x6000), 0x1000, 1}));
}

TEST(PagePlanTest, APageOfSeveralNodesGoesToTheOneWithMostOfIt) {
  PagePlan plan;
  plan.Add(At(0x1000), 0x1900, 0);  // a page and nine parts of the next
  plan.Add(At(0x2900), 0x0700, 1);  // the rest of it
  plan.Add(At(0x3000), 0x0300, 0);
  plan.Add(At(0x3300), 0x1d00, 1);
  EXPECT_THAT(plan.Runs(0x1000), ElementsAre(Stretch{At(0x1000), 0x2000, 0}, Stretch{At(0x3000), 0x2000, 1}));
}

TEST(PagePlanTest, APageWithLittleOfThePlanIsLeftWhereItIs) {
  PagePlan plan;
  plan.Add(At(0x1c00), 0x1400, 1);
  EXPECT_THAT(plan.Runs(0x1000), ElementsAre(Stretch{At(0x2000), 0x1000, 1}));
  PagePlan none;
  none.Add(At(0x1000), 0, 1);
  none.Add(At(0x1010), 0x7ef, 1);
  EXPECT_THAT(none.Runs(0x1000), IsEmpty());
}

TEST(PagePlanTest, EveryRunIsAskedOfTheTopology) {
  PagePlan plan;
  plan.Add(At(0x1000), 0x1000, 0);
  plan.Add(At(0x2000), 0x3000, 1);
  const RecordingTopology topology;
  EXPECT_TRUE(plan.Apply(topology, 0x1000));
  EXPECT_EQ(topology.asked, plan.Runs(0x1000));
}

}  // namespace
}  // namespace owml::native
