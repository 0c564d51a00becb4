// One reservation, handed out front to back.
#include "backend/native/arena.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace owml::native {
namespace {

TEST(ArenaTest, WhatIsMeasuredIsWhatIsReserved) {
  float* floats = nullptr;
  std::byte* bytes = nullptr;
  const Arena arena = FilledArena("a test", Arena::Pages::kUsual, [&](Arena& memory) {
    floats = memory.Take<float>(3);
    bytes = memory.Take<std::byte>(65);
  });
  EXPECT_EQ(arena.capacity(), 64u + 128u);
  EXPECT_EQ(arena.used(), arena.capacity());
  EXPECT_EQ(reinterpret_cast<std::byte*>(floats) + 64, bytes);
}

TEST(ArenaTest, PiecesAreAligned) {
  Arena arena(1024, "a test");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(reinterpret_cast<uintptr_t>(arena.Take<char>(1)) % Arena::kAlignment, 0u);
}

TEST(ArenaTest, AResetGivesTheSameMemoryAgainAndKeepsTheHighWater) {
  Arena arena(256, "a test");
  const auto* first = arena.Take<char>(100);
  arena.Reset();
  EXPECT_EQ(arena.used(), 0u);
  EXPECT_EQ(arena.Take<char>(1), first);
  EXPECT_EQ(arena.high_water(), 128u);
}

TEST(ArenaTest, MoreThanIsThereIsRefused) {
  Arena arena(128, "a test");
  arena.Take<char>(64);
  EXPECT_THROW(arena.Take<char>(65), Error);
  EXPECT_THROW(arena.Take<double>(UINT64_MAX / 4), Error);
  EXPECT_NO_THROW(arena.Take<char>(64));
}

TEST(ArenaTest, AnImpossibleReservationNamesItsPurpose) {
  try {
    Arena(UINT64_MAX - 63, "the moon");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), E_OUTOFMEMORY);
    EXPECT_NE(std::string(error.what()).find("the moon"), std::string::npos);
  }
}

}  // namespace
}  // namespace owml::native
