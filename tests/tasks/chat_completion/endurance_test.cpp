// Many streams and many turns: nothing is left behind.
#include <openwinml/diagnostics.h>
#include <unistd.h>

#include <fstream>

#include "tasks/chat_completion/chat_fixture.h"

namespace owml::test {
namespace {

class Endurance : public ChatTest {
 protected:
  Endurance() {
    model->logits_of = [](const Tokens& seen) {
      std::vector<float> logits(kStrangerVocabulary, 0.0f);
      logits[seen.size() % 9 == 0 ? kEnd : 1 + seen.size() % 5] = 1.0f;
      return logits;
    };
  }

  static uint64_t ResidentBytes() {
    uint64_t total = 0, resident = 0;  // pages
    std::ifstream("/proc/self/statm") >> total >> resident;
    return resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  }

  // What the test's own objects remember is not the library's.
  void Forget() {
    model->runs.clear();
    conduct->appended.clear();
  }
};

TEST_F(Endurance, TenThousandStreamsThatAreDroppedLeaveNothing) {
  OpenChat();
  const auto source = NewCancellation();
  Complete(kAsk);  // the tokens of the last run stay bound
  const uint32_t before = OwmlLiveObjectCount();
  for (int i = 0; i < 10000; ++i) {
    const auto stream = StartChat(kAsk, nullptr, source.Get());
    std::vector<SeenEvent> events;
    for (int reads = 0; reads < i % 4; ++reads) ReadOne(stream.Get(), &events);
    Forget();
  }
  EXPECT_EQ(OwmlLiveObjectCount(), before);
  EXPECT_EQ(source->Cancel(), S_OK);
  EXPECT_EQ(State(), WINML_TEXT_GENERATION_SESSION_STATE_READY);
}

TEST_F(Endurance, MemoryDoesNotGrowWithTheTurns) {
  OpenChat();
  uint64_t early = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    if (turn == 200) early = ResidentBytes();
    const Messages talk = {{L"user", std::wstring(1 + static_cast<size_t>(turn) % 20, L'q')}};
    Complete(talk);
    Forget();
  }
  EXPECT_LT(ResidentBytes(), early + (1 << 20));
}

}  // namespace
}  // namespace owml::test
