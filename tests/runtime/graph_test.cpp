// Order, refusals and sentences of the pipeline's graph, without COM.
// Mirrors src/runtime/graph.cpp.
#include "runtime/graph.h"

#include <gtest/gtest.h>

#include <numeric>

#include "base/error.h"

namespace owml {
namespace {

Graph WithStages(std::initializer_list<const char*> labels) {
  Graph graph;
  for (const char* label : labels) graph.AddStage(label);
  return graph;
}

// The sentence of the E_INVALIDARG that `action` must throw.
template <class Action>
std::string Refusal(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(E_INVALIDARG, error.code());
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

TEST(Graph, NumbersStagesInTheOrderOfAdding) {
  Graph graph;
  EXPECT_EQ(0u, graph.AddStage("a"));
  EXPECT_EQ(1u, graph.AddStage("b"));
  EXPECT_EQ(2u, graph.stage_count());
  EXPECT_EQ("b", graph.label(1));
}

TEST(Graph, WithoutEdgesRunsInTheOrderOfAdding) {
  EXPECT_EQ((std::vector<size_t>{0, 1, 2}), WithStages({"a", "b", "c"}).Order());
  EXPECT_TRUE(Graph().Order().empty());
}

TEST(Graph, PutsAStageAfterEveryStageThatFeedsIt) {
  Graph graph = WithStages({"last", "middle", "first"});
  graph.Connect({2, 0, 1, 0});
  graph.Connect({1, 0, 0, 0});
  graph.Connect({2, 1, 0, 1});
  EXPECT_EQ((std::vector<size_t>{2, 1, 0}), graph.Order());
}

TEST(Graph, AmongFreeStagesTheOneAddedFirstComesFirst) {
  // 0 and 1 are free; 2 waits for 1 only, 3 for both
  Graph graph = WithStages({"a", "b", "c", "d"});
  graph.Connect({0, 0, 3, 0});
  graph.Connect({1, 0, 3, 1});
  graph.Connect({1, 0, 2, 0});
  EXPECT_EQ((std::vector<size_t>{0, 1, 2, 3}), graph.Order());
}

TEST(Graph, OneOutputMayFeedManyInputsAlsoOfOneStage) {
  Graph graph = WithStages({"sink", "source"});
  for (uint32_t input = 0; input < 5; ++input) graph.Connect({1, 0, 0, input});
  EXPECT_EQ((std::vector<size_t>{1, 0}), graph.Order());
  EXPECT_EQ(5u, graph.edges().size());
}

TEST(Graph, OrderOfALongChainAddedBackwards) {
  constexpr size_t kStages = 1000;
  Graph graph;
  for (size_t i = 0; i < kStages; ++i) graph.AddStage(std::to_string(i));
  for (size_t i = 1; i < kStages; ++i) graph.Connect({i, 0, i - 1, 0});
  std::vector<size_t> backwards(kStages);
  std::iota(backwards.rbegin(), backwards.rend(), size_t{0});
  EXPECT_EQ(backwards, graph.Order());
}

TEST(Graph, NamesTheStagesOfACycleAlongItsEdges) {
  Graph graph = WithStages({"entry", "a", "b", "c", "exit"});
  graph.Connect({0, 0, 1, 1});
  graph.Connect({1, 0, 2, 0});
  graph.Connect({2, 0, 3, 0});
  graph.Connect({3, 0, 1, 0});
  graph.Connect({3, 1, 4, 0});
  const std::string sentence = Refusal([&] { graph.Order(); });
  const bool along = sentence.find("a -> b -> c -> a") != std::string::npos ||
                     sentence.find("b -> c -> a -> b") != std::string::npos ||
                     sentence.find("c -> a -> b -> c") != std::string::npos;
  EXPECT_TRUE(along) << sentence;
  EXPECT_EQ(std::string::npos, sentence.find("entry")) << sentence;
  EXPECT_EQ(std::string::npos, sentence.find("exit")) << sentence;
}

TEST(Graph, AStageBehindACycleIsNotBlamed) {
  Graph graph = WithStages({"behind", "a", "b"});
  graph.Connect({1, 0, 2, 0});
  graph.Connect({2, 0, 1, 0});
  graph.Connect({2, 1, 0, 0});
  EXPECT_EQ(std::string::npos, Refusal([&] { graph.Order(); }).find("behind"));
}

TEST(Graph, AStageCannotFeedItselfWithinOneExecution) {
  Graph graph = WithStages({"loop"});
  EXPECT_NE(std::string::npos, Refusal([&] { graph.Connect({0, 0, 0, 0}); }).find("loop cannot feed itself"));
  EXPECT_TRUE(graph.edges().empty());
}

TEST(Graph, AnInputTakesOneFeedOfEitherKind) {
  Graph graph = WithStages({"a", "b"});
  graph.Connect({0, 7, 1, 0});
  graph.ConnectNextIteration({1, 0, 0, 3});
  const std::string twice = Refusal([&] { graph.Connect({0, 1, 1, 0}); });
  EXPECT_EQ("input 0 of b is already fed by output 7 of a", twice);
  Refusal([&] { graph.ConnectNextIteration({0, 1, 1, 0}); });
  Refusal([&] { graph.Connect({1, 1, 0, 3}); });
  Refusal([&] { graph.ConnectNextIteration({1, 1, 0, 3}); });
  EXPECT_EQ(1u, graph.edges().size());
  EXPECT_EQ(1u, graph.feedback_edges().size());
}

TEST(Graph, RefusesStagesThatAreNotThere) {
  Graph graph = WithStages({"a"});
  Refusal([&] { graph.Connect({0, 0, 1, 0}); });
  Refusal([&] { graph.Connect({1, 0, 0, 0}); });
  Refusal([&] { graph.ConnectNextIteration({0, 0, SIZE_MAX, 0}); });
}

TEST(Graph, FeedbackEdgesPutNoOrderOnStages) {
  Graph graph = WithStages({"a", "b"});
  graph.Connect({0, 0, 1, 0});
  graph.ConnectNextIteration({1, 0, 0, 0});
  EXPECT_EQ((std::vector<size_t>{0, 1}), graph.Order());
}

TEST(Graph, AStageMayFeedItsOwnNextIteration) {
  Graph graph = WithStages({"counter"});
  graph.ConnectNextIteration({0, 0, 0, 0});
  EXPECT_EQ((std::vector<size_t>{0}), graph.Order());
}

TEST(Graph, FindsTheEdgeIntoAnInput) {
  Graph graph = WithStages({"a", "b"});
  graph.Connect({0, 2, 1, 5});
  graph.ConnectNextIteration({1, 1, 1, 6});
  ASSERT_NE(nullptr, graph.FeedOf(1, 5));
  EXPECT_EQ(2u, graph.FeedOf(1, 5)->output);
  EXPECT_EQ(nullptr, graph.FeedOf(1, 6));
  EXPECT_EQ(nullptr, graph.FeedOf(0, 5));
  ASSERT_NE(nullptr, graph.FeedbackOf(1, 6));
  EXPECT_EQ(1u, graph.FeedbackOf(1, 6)->output);
  EXPECT_EQ(nullptr, graph.FeedbackOf(1, 5));
}

}  // namespace
}  // namespace owml
