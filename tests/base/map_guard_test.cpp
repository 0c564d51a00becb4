// Files that are cut short while they are mapped, which would end the process.
#include "base/map_guard.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/error.h"
#include "base/mapped_file.h"

#ifdef __linux__
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace owml {
namespace {

constexpr size_t kBytes = 1 << 20;

class MapGuardTest : public testing::Test {
 protected:
  MapGuardTest()
      : path_(std::filesystem::path(testing::TempDir()) /
              ("owml_map_guard_" + std::to_string(::getpid()) +
               testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::ofstream(path_) << std::string(kBytes, 'x');
  }
  ~MapGuardTest() override { std::filesystem::remove(path_); }

  void CutTo(size_t bytes) { std::filesystem::resize_file(path_, bytes); }

  const std::filesystem::path path_;
};

TEST_F(MapGuardTest, ReadsBehindTheNewEndGiveZerosAndAreTold) {
  const auto file = MappedFile::Open(path_);
  const auto other = MappedFile::Open(path_);
  EXPECT_EQ(file->bytes()[kBytes - 1], std::byte{'x'});
  CutTo(64 << 10);
  EXPECT_EQ(file->bytes()[0], std::byte{'x'});
  file->RequireWhole();
  EXPECT_EQ(file->bytes()[kBytes / 2], std::byte{0});
  EXPECT_EQ(file->bytes()[kBytes - 1], std::byte{0});
  EXPECT_EQ(file->bytes()[0], std::byte{'x'});
  try {
    file->RequireWhole();
    ADD_FAILURE() << "the file was cut";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
    EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("1048576 bytes"), std::string::npos) << error.what();
  }
  other->RequireWhole();  // has not read there
}

TEST_F(MapGuardTest, WhatWasReadOfACutFileDoesNotCount) {
  const auto file = MappedFile::Open(path_);
  EXPECT_EQ(file->Read([](std::span<const std::byte> bytes) { return bytes[kBytes - 1]; }), std::byte{'x'});
  CutTo(0);
  const auto last = [](std::span<const std::byte> bytes) { return bytes[kBytes - 1]; };
  EXPECT_THROW(file->Read(last), Error);
}

TEST_F(MapGuardTest, ANewMapOfTheFileIsWholeAgain) {
  {
    const auto file = MappedFile::Open(path_);
    CutTo(100);
    EXPECT_EQ(file->bytes()[kBytes - 1], std::byte{0});
  }
  const auto file = MappedFile::Open(path_);
  EXPECT_EQ(file->bytes().size(), 100u);
  file->RequireWhole();
}

#ifndef __SANITIZE_ADDRESS__  // has a handler of its own
// In a program of its own each, since a process has one handler.
class MapGuardDeathTest : public MapGuardTest {
 protected:
  MapGuardDeathTest() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Reads a map of our file, cut, that no guard knows.
  void ReadUnguarded() {
    const int file = ::open(path_.c_str(), O_RDONLY);
    const auto* map = static_cast<const volatile char*>(::mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE, file, 0));
    CutTo(0);
    (void)map[kBytes / 2];
  }
};

TEST_F(MapGuardDeathTest, MapsOfOthersEndTheProcessAsBefore) {
  EXPECT_EXIT(
      {
        const auto file = MappedFile::Open("/proc/self/exe");
        ReadUnguarded();
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST_F(MapGuardDeathTest, AHandlerOfTheHostGetsWhatIsNotOurs) {
  EXPECT_EXIT(
      {
        std::signal(SIGBUS, [](int) { ::_exit(42); });
        const auto file = MappedFile::Open("/proc/self/exe");
        ReadUnguarded();
      },
      testing::ExitedWithCode(42), "");
}

TEST_F(MapGuardDeathTest, ASignalThatSomebodySendsIsNotKept) {
  EXPECT_EXIT(
      {
        const auto file = MappedFile::Open("/proc/self/exe");
        std::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

#endif

}  // namespace
}  // namespace owml
#endif
