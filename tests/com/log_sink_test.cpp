// The log: level, sink, messages of our own and of the host.
// Every test puts the level and the sink back.
#include <gtest/gtest.h>
#include <openwinml/log.h>

#include <string>
#include <vector>

#include "base/log.h"

namespace owml::test {
namespace {

struct Line {
  OwmlLogLevel level;
  std::string component;
  std::string message;
};

class LogSink : public testing::Test {
 protected:
  LogSink() { OwmlLogSetSink(&LogSink::Take, this); }
  ~LogSink() override {
    OwmlLogSetSink(nullptr, nullptr);
    OwmlLogSetLevel(before_);
  }

  static void Take(void* context, OwmlLogLevel level, const char* component, const char* message) {
    static_cast<LogSink*>(context)->lines_.push_back({level, component, message});
  }

  const OwmlLogLevel before_ = OwmlLogGetLevel();
  std::vector<Line> lines_;
};

TEST_F(LogSink, ReceivesWhatTheLevelLetsThrough) {
  OwmlLogSetLevel(OWML_LOG_LEVEL_WARNING);
  EXPECT_EQ(OwmlLogGetLevel(), OWML_LOG_LEVEL_WARNING);
  Log(OWML_LOG_LEVEL_ERROR, "a", "one");
  Log(OWML_LOG_LEVEL_WARNING, "b", "two");
  Log(OWML_LOG_LEVEL_INFO, "c", "three");
  OwmlLogWrite(OWML_LOG_LEVEL_TRACE, "d", "four");
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_EQ(lines_[0].message, "one");
  EXPECT_EQ(lines_[0].level, OWML_LOG_LEVEL_ERROR);
  EXPECT_EQ(lines_[1].component, "b");
}

TEST_F(LogSink, OffLetsNothingThrough) {
  OwmlLogSetLevel(OWML_LOG_LEVEL_OFF);
  for (int level = 0; level <= 5; ++level) OwmlLogWrite(static_cast<OwmlLogLevel>(level), "a", "x");
  EXPECT_TRUE(lines_.empty());
  EXPECT_FALSE(LogEnabled(OWML_LOG_LEVEL_ERROR));
}

TEST_F(LogSink, AMessageOfLevelOffOrNullIsNone) {
  OwmlLogSetLevel(OWML_LOG_LEVEL_TRACE);
  OwmlLogWrite(OWML_LOG_LEVEL_OFF, "a", "x");
  OwmlLogWrite(OWML_LOG_LEVEL_ERROR, "a", nullptr);
  EXPECT_TRUE(lines_.empty());
  OwmlLogWrite(OWML_LOG_LEVEL_ERROR, nullptr, "x");
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_EQ(lines_[0].component, "");
}

TEST_F(LogSink, WithoutASinkMessagesGoToStandardError) {
  OwmlLogSetSink(nullptr, nullptr);
  OwmlLogSetLevel(OWML_LOG_LEVEL_INFO);
  testing::internal::CaptureStderr();
  Log(OWML_LOG_LEVEL_INFO, "ort", "loaded");
  Log(OWML_LOG_LEVEL_DEBUG, "ort", "hidden");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[info] ort: loaded\n");
  EXPECT_TRUE(lines_.empty());
}

TEST_F(LogSink, ASinkMayWriteToTheLogItself) {
  OwmlLogSetLevel(OWML_LOG_LEVEL_INFO);
  static int depth;
  depth = 0;
  OwmlLogSetSink(
      [](void*, OwmlLogLevel, const char*, const char*) {
        if (++depth < 3) OwmlLogWrite(OWML_LOG_LEVEL_INFO, "sink", "again");
      },
      nullptr);
  OwmlLogWrite(OWML_LOG_LEVEL_INFO, "host", "first");
  EXPECT_EQ(depth, 3);
}

}  // namespace
}  // namespace owml::test
