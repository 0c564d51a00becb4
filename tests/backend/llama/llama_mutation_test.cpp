// Damaged headers: thousands of small changes to a good file, each loaded and run in a child process. None may end the
// process.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <random>

#include "backend/llama/llama_fixture.h"
#include "formats/gguf.h"

namespace owml::test {
namespace {

// Loads and runs the bytes; anything but a clean answer or an Error ends the child badly.
void Try(const std::string& bytes) {
  try {
    ModelSource source;
    source.bytes = AsBytes(bytes);
    const auto model = MakeLlamaBackend()->Load(source, ModelFormat::kGguf);
    SessionOptions options;
    options.sequence_capacity_hint = 16;
    const auto session = SessionOn(*model, options);
    RunTokens(*session, {0, 1, 2, 3});
    RunTokens(*session, {4});
  } catch (const Error&) {
  } catch (const std::bad_alloc&) {
  }
}

std::string Mutated(const std::string& good, size_t header, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes = good;
  // One to three places; single bits, bytes, or a 32-bit number that is small, huge or negative.
  for (uint32_t i = 0; i <= random() % 3; ++i) {
    const size_t at = 4 + random() % (header - 8);
    switch (random() % 3) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1u << random() % 8));
        break;
      case 1:
        bytes[at] = static_cast<char>(random());
        break;
      default: {
        const uint32_t numbers[] = {0, 1, 2, 255, 65535, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 512, 513};
        const std::string number = GgufWriter::Little(numbers[random() % std::size(numbers)]);
        bytes.replace(at, 4, number);
      }
    }
  }
  return bytes;
}

TEST(LlamaMutationTest, NoDamagedHeaderEndsTheProcess) {
  // OWML_MUTATIONS asks for longer runs.
  const char* wanted = std::getenv("OWML_MUTATIONS");
  const uint32_t count = wanted ? static_cast<uint32_t>(std::strtoul(wanted, nullptr, 10)) : 2000;
  TinyLlamaShape shape;
  shape.context = 32;
  const std::string good = TinyLlama(shape).Bytes();
  const size_t header = GgufFile::Parse(AsBytes(good), "good").data_offset();
  Try(good);

  // One child for many mutations; after a bad end the next child goes on behind the culprit, which a pipe has told.
  uint32_t next = 0;
  while (next < count) {
    int progress[2];
    ASSERT_EQ(::pipe(progress), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(progress[0]);
      for (uint32_t seed = next; seed < count; ++seed) {
        if (::write(progress[1], &seed, sizeof(seed)) != sizeof(seed)) ::_exit(3);
        ::alarm(20);  // a hang is a failure too
        Try(Mutated(good, header, seed));
      }
      ::_exit(0);
    }
    ::close(progress[1]);
    uint32_t seed = next;
    while (::read(progress[0], &seed, sizeof(seed)) == sizeof(seed)) {
    }
    ::close(progress[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
    ADD_FAILURE() << "mutation " << seed << " ended the process with status " << status;
    next = seed + 1;
  }
}

}  // namespace
}  // namespace owml::test
