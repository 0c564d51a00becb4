// Packed weights between runs: kept whole, checked when found, evicted by last use, never a reason to fail.
#include "backend/native/packed_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

#include "backend/native/native_backend.h"
#include "support/temporary_folder.h"
#include "support/tiny_llama.h"

namespace owml::test {
namespace {

namespace fs = std::filesystem;
using native::PackedCache;
using native::PackedImage;

constexpr uint64_t kBytes = 10'000;

PackedFileHead::Key KeyOf(uint8_t number) {
  PackedFileHead::Key key{};
  key[0] = number;
  return key;
}

class PackedCacheTest : public testing::Test {
 protected:
  PackedCache Cache(uint64_t limit = 1 << 20) const { return PackedCache(folder(), limit); }
  fs::path folder() const { return temporary_.path() / "packed"; }

  static auto Filler(int value) {
    return [value](std::byte* memory) { std::fill_n(memory, kBytes, static_cast<std::byte>(value)); };
  }
  static bool Holds(const std::shared_ptr<const PackedImage>& image, int value) {
    return image && image->size() == kBytes &&
           std::all_of(image->weights(), image->weights() + kBytes,
                       [value](std::byte b) { return b == static_cast<std::byte>(value); });
  }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    if (!fs::exists(folder())) return files;
    for (const auto& entry : fs::directory_iterator(folder())) files.push_back(entry.path());
    return files;
  }
  static void Age(const fs::path& path, std::chrono::hours age) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }

  TemporaryFolder temporary_;
};

TEST_F(PackedCacheTest, WhatWasMadeIsFoundByItsKeyAndSize) {
  const PackedCache cache = Cache();
  EXPECT_FALSE(cache.Find(KeyOf(1), kBytes));
  EXPECT_TRUE(Holds(cache.Make(KeyOf(1), "model.gguf", kBytes, Filler(7)), 7));
  EXPECT_TRUE(Holds(cache.Find(KeyOf(1), kBytes), 7));
  EXPECT_FALSE(cache.Find(KeyOf(2), kBytes));
}

TEST_F(PackedCacheTest, AnImageOutlivesItsFile) {
  const auto image = Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(7));
  fs::remove_all(folder());
  EXPECT_TRUE(Holds(image, 7));
}

TEST_F(PackedCacheTest, AChangedByteAnywhereMakesTheFileUnusableAndItIsMadeAgain) {
  for (const uint64_t place : {uint64_t{0}, uint64_t{9}, uint64_t{45}, uint64_t{PackedFileHead::kBytes},
                               PackedFileHead::kBytes + kBytes / 2, PackedFileHead::kBytes + kBytes - 1}) {
    ASSERT_TRUE(Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(7)));
    {
      std::fstream file(Files().at(0), std::ios::in | std::ios::out | std::ios::binary);
      file.seekg(static_cast<std::streamoff>(place));
      const int byte = file.get();
      file.seekp(static_cast<std::streamoff>(place));
      file.put(static_cast<char>(byte ^ 0x20));
    }
    EXPECT_FALSE(Cache().Find(KeyOf(1), kBytes)) << place;
    EXPECT_TRUE(Files().empty());
  }
}

TEST_F(PackedCacheTest, AFileOfAnotherLengthIsRemoved) {
  for (const int64_t change : {int64_t{-1}, int64_t{1}, -static_cast<int64_t>(kBytes)}) {
    ASSERT_TRUE(Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(7)));
    const fs::path path = Files().at(0);
    fs::resize_file(path, static_cast<uint64_t>(static_cast<int64_t>(fs::file_size(path)) + change));
    EXPECT_FALSE(Cache().Find(KeyOf(1), kBytes));
    EXPECT_TRUE(Files().empty());
  }
}

TEST_F(PackedCacheTest, AFillThatThrowsLeavesNothing) {
  const auto fails = [](std::byte*) { throw std::runtime_error("bad weight"); };
  EXPECT_THROW(Cache().Make(KeyOf(1), "model.gguf", kBytes, fails), std::runtime_error);
  EXPECT_TRUE(Files().empty());
}

TEST_F(PackedCacheTest, WithoutRoomOrPermissionThereIsNoImageAndNoFailure) {
  bool called = false;
  const auto fill = [&](std::byte*) { called = true; };
  EXPECT_FALSE(Cache(kBytes - 1).Make(KeyOf(1), "model.gguf", kBytes, fill));  // above the limit
  EXPECT_FALSE(Cache(UINT64_MAX).Make(KeyOf(1), "model.gguf", uint64_t{1} << 62, fill));
  EXPECT_FALSE(Cache(UINT64_MAX).Make(KeyOf(1), "model.gguf", UINT64_MAX, fill));
  const fs::path file = temporary_.Write("file", "x");
  EXPECT_FALSE(PackedCache(file / "packed", 1 << 20).Make(KeyOf(1), "model.gguf", kBytes, fill));
  EXPECT_FALSE(PackedCache(file / "packed", 1 << 20).Find(KeyOf(1), kBytes));
  EXPECT_FALSE(called);
  EXPECT_TRUE(Files().empty());
}

TEST_F(PackedCacheTest, WhatWasNotUsedForLongestGoesWhenTheLimitIsReached) {
  const uint64_t file_bytes = kBytes + PackedFileHead::kBytes;
  const PackedCache cache = Cache(2 * file_bytes);
  for (const uint8_t number : {1, 2}) ASSERT_TRUE(cache.Make(KeyOf(number), "model.gguf", kBytes, Filler(number)));
  for (const fs::path& path : Files()) Age(path, std::chrono::hours(2));
  ASSERT_TRUE(cache.Find(KeyOf(1), kBytes));  // used again
  ASSERT_TRUE(cache.Make(KeyOf(3), "model.gguf", kBytes, Filler(3)));
  EXPECT_TRUE(cache.Find(KeyOf(1), kBytes));
  EXPECT_FALSE(cache.Find(KeyOf(2), kBytes));
  EXPECT_TRUE(cache.Find(KeyOf(3), kBytes));
}

TEST_F(PackedCacheTest, LeftoversOfWritersThatDiedGoAndOtherFilesStay) {
  ASSERT_TRUE(Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(1)));
  const fs::path dead = Files().at(0).string() + ".tmp-1-1";
  const fs::path writing = Files().at(0).string() + ".tmp-2-1";
  const fs::path other = folder() / "notes.txt";
  for (const fs::path& path : {dead, writing, other}) std::ofstream(path) << "x";
  Age(dead, std::chrono::hours(25));
  Age(other, std::chrono::hours(1000));
  ASSERT_TRUE(Cache().Make(KeyOf(2), "model.gguf", kBytes, Filler(2)));
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(writing));
  EXPECT_TRUE(fs::exists(other));
}

TEST_F(PackedCacheTest, ALinkUnderTheNameIsNotFollowed) {
  ASSERT_TRUE(Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(1)));
  const fs::path path = Files().at(0);
  fs::rename(path, temporary_.path() / "elsewhere");
  fs::create_symlink(temporary_.path() / "elsewhere", path);
  EXPECT_FALSE(Cache().Find(KeyOf(1), kBytes));
  EXPECT_TRUE(fs::exists(temporary_.path() / "elsewhere"));
}

TEST_F(PackedCacheTest, WritersAndReadersOfOneKeyDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        if (!Holds(Cache().Make(KeyOf(1), "model.gguf", kBytes, Filler(9)), 9)) ++wrong;
        if (const auto found = Cache().Find(KeyOf(1), kBytes); found && !Holds(found, 9)) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(Files().size(), 1u);
}

TEST_F(PackedCacheTest, AFileThatWasTouchedReplacedOrPackedOtherwiseHasAnotherKey) {
  const fs::path path = temporary_.Write("model.gguf", TinyLlamaMetadata().Bytes());
  const auto key_of = [&](std::string_view layout) { return native::PackedKeyOf(OpenGgufModel(path), layout); };
  const auto key = key_of("panels 1");
  EXPECT_EQ(key_of("panels 1"), key);
  EXPECT_NE(key_of("panels 2"), key);
  fs::last_write_time(path, fs::last_write_time(path) + std::chrono::seconds(1));
  const auto touched = key_of("panels 1");
  EXPECT_NE(touched, key);
  const auto time = fs::last_write_time(path);
  fs::rename(path, temporary_.path() / "old.gguf");
  temporary_.Write("model.gguf", TinyLlamaMetadata().Bytes());
  fs::last_write_time(path, time);
  EXPECT_NE(key_of("panels 1"), touched);
}

// Logits of a few tokens, loaded anew.
std::vector<float> LogitsOf(const fs::path& path) {
  ModelSource source;
  source.path = path;
  SessionOptions options;
  options.intra_op_threads = 1;
  const auto session = MakeNativeBackend()->Load(source, ModelFormat::kGguf)->CreateSession(options);
  std::vector<int32_t> tokens = {1, 75, 104, 111};
  const InputValue input{true, {DType::kInt32, {1, 4}, reinterpret_cast<std::byte*>(tokens.data()), 16}};
  OutputValue output;
  output.wanted = true;
  session->Run({&input, 1}, {&output, 1});
  const auto* first = reinterpret_cast<const float*>(output.produced.view.data);
  return {first, first + output.produced.view.bytes / sizeof(float)};
}

TEST_F(PackedCacheTest, AModelGivesTheSameLogitsWithoutAColdAWarmAndADamagedCache) {
  const fs::path path = temporary_.Write("model.gguf", TinyLlama().Bytes());
  const auto without = LogitsOf(path);
  ::setenv("OWML_CACHE_DIR", temporary_.path().c_str(), 1);
  ::unsetenv("OWML_PACKED_CACHE");
  const auto cold = LogitsOf(path);
  ASSERT_EQ(Files().size(), 1u);
  const auto made = MappedFile::Open(Files()[0])->stamp();
  const auto warm = LogitsOf(path);
  EXPECT_EQ(MappedFile::Open(Files()[0])->stamp().inode, made.inode);  // used, not made again
  fs::resize_file(Files()[0], made.size - 1);
  const auto damaged = LogitsOf(path);
  EXPECT_EQ(MappedFile::Open(Files()[0])->stamp().size, made.size);
  ::setenv("OWML_PACKED_CACHE_MIB", "0", 1);
  fs::remove_all(folder());
  const auto no_room = LogitsOf(path);
  EXPECT_TRUE(Files().empty());
  ::unsetenv("OWML_PACKED_CACHE_MIB");
  ::setenv("OWML_PACKED_CACHE", "off", 1);
  ::unsetenv("OWML_CACHE_DIR");
  for (const auto& logits : {cold, warm, damaged, no_room}) EXPECT_EQ(logits, without);
}

TEST_F(PackedCacheTest, TheEnvironmentSwitchesItOffAndMovesIt) {
  const auto set = [](const char* name, const std::string& value) { ::setenv(name, value.c_str(), 1); };
  set("OWML_CACHE_DIR", temporary_.path().string());
  set("OWML_PACKED_CACHE", "off");
  EXPECT_FALSE(PackedCache::OfUser());
  ::unsetenv("OWML_PACKED_CACHE");
  const auto cache = PackedCache::OfUser();
  set("OWML_PACKED_CACHE", "off");
  ::unsetenv("OWML_CACHE_DIR");
  ASSERT_TRUE(cache);
  ASSERT_TRUE(cache->Make(KeyOf(1), "model.gguf", kBytes, Filler(1)));
  EXPECT_EQ(Files().size(), 1u);
}

}  // namespace
}  // namespace owml::test
