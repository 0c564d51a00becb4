// Maps and bounded reads: what is refused, what a refusal says, and what happens to the file afterwards.
// Paths with spaces, accents and other scripts are ordinary paths.
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <string>

#include "base/error.h"

namespace owml {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public testing::Test {
 protected:
  MappedFileTest()
      : folder_(fs::path(testing::TempDir()) / ("owml_map_" + std::to_string(::getpid()) + "_" +
                                                testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~MappedFileTest() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  fs::path Write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // Open, ReadFileStart and RequireRegularFile refuse the same things in the same words.
  static void ExpectRefused(const fs::path& path, HRESULT code, const std::string& words) {
    const std::function<void()> kWays[] = {[&] { MappedFile::Open(path); }, [&] { ReadFileStart(path, 10); },
                                           [&] { RequireRegularFile(path); }};
    for (const auto& way : kWays) {
      try {
        way();
        ADD_FAILURE() << path << " was opened";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find(path.string()), std::string::npos) << error.what();
      }
    }
  }

  static std::string Text(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  fs::path folder_;
};

TEST_F(MappedFileTest, ShowsTheWholeFile) {
  const fs::path path = Write("a.bin", std::string("one\0two", 7));
  const auto file = MappedFile::Open(path);
  EXPECT_EQ(Text(file->bytes()), std::string("one\0two", 7));
  EXPECT_EQ(file->path(), path);
  RequireRegularFile(path);
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  EXPECT_TRUE(MappedFile::Open(Write("empty", ""))->bytes().empty());
  EXPECT_TRUE(ReadFileStart(folder_ / "empty", 100).empty());
}

TEST_F(MappedFileTest, ReadsAtMostTheLimit) {
  const fs::path path = Write("a.bin", "abcdef");
  EXPECT_EQ(Text(ReadFileStart(path, 3)), "abc");
  EXPECT_EQ(Text(ReadFileStart(path, SIZE_MAX)), "abcdef");
  EXPECT_TRUE(ReadFileStart(path, 0).empty());
}

TEST_F(MappedFileTest, NamesOfAnyScriptAreOrdinary) {
  for (const char* name :
       {"with spaces.gguf", "mod\xC3\xA8le d'\xC3\xA9t\xC3\xA9.onnx", "\xE6\xA8\xA1\xE5\x9E\x8B.gguf"}) {
    EXPECT_EQ(Text(MappedFile::Open(Write(name, name))->bytes()), name);
  }
}

TEST_F(MappedFileTest, AMissingFileIsNotFound) {
  ExpectRefused(folder_ / "none.onnx", HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "cannot open");
  ExpectRefused(folder_ / "no" / "such" / "folder.onnx", HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND), "cannot open");
  Write("file", "x");
  ExpectRefused(folder_ / "file" / "below", HRESULT_FROM_WIN32(ERROR_PATH_NOT_FOUND), "cannot open");
  ExpectRefused(fs::path(), E_INVALIDARG, "the path is empty");
}

TEST_F(MappedFileTest, AFolderIsNoFile) { ExpectRefused(folder_, E_INVALIDARG, "is a folder, not a file"); }

TEST_F(MappedFileTest, AFifoIsRefusedWithoutWaitingForAWriter) {
  const fs::path path = folder_ / "pipe.gguf";
  ASSERT_EQ(0, ::mkfifo(path.c_str(), 0600));
  ExpectRefused(path, E_INVALIDARG, "is no regular file");
}

TEST_F(MappedFileTest, ADeviceIsNoFile) { ExpectRefused("/dev/null", E_INVALIDARG, "is no regular file"); }

// In a child process, so that a test that runs as root can give its rights up.
TEST_F(MappedFileTest, WithoutReadPermissionAccessIsDenied) {
  const fs::path path = Write("secret.onnx", "x");
  ASSERT_EQ(0, ::chmod(path.c_str(), 0));
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    const bool plain_user = ::geteuid() != 0 || ::setuid(kNobody) == 0;
    if (!plain_user) ::_exit(2);
    try {
      MappedFile::Open(path);
      ::_exit(3);
    } catch (const Error& error) {
      const bool named = std::string(error.what()).find("secret.onnx': Permission denied") != std::string::npos;
      ::_exit(error.code() == E_ACCESSDENIED && named ? 0 : 4);
    }
  }
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2) GTEST_SKIP() << "root cannot give up its rights here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "3: opened; 4: another error";
}

TEST_F(MappedFileTest, ALinkLeadsToItsFileAndALoopNowhere) {
  fs::create_symlink(Write("real", "content"), folder_ / "link");
  EXPECT_EQ(Text(MappedFile::Open(folder_ / "link")->bytes()), "content");
  fs::create_symlink(folder_ / "loop", folder_ / "loop");
  ExpectRefused(folder_ / "loop", E_INVALIDARG, "cannot open");
}

TEST_F(MappedFileTest, AReplacedOrRemovedFileStaysMapped) {
  const fs::path path = Write("model.gguf", std::string(10000, 'a'));
  const auto file = MappedFile::Open(path);
  fs::rename(Write("new.gguf", "bbb"), path);
  EXPECT_EQ(Text(file->bytes()), std::string(10000, 'a'));
  EXPECT_EQ(Text(MappedFile::Open(path)->bytes()), "bbb");
  fs::remove(path);
  EXPECT_EQ(Text(file->bytes()), std::string(10000, 'a'));
}

TEST_F(MappedFileTest, ManyOpensLeaveNoDescriptorBehind) {
  const fs::path path = Write("a", "x");
  const auto count = [] { return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()); };
  const auto before = count();
  for (int i = 0; i < 50; ++i) {
    MappedFile::Open(path);
    ReadFileStart(path, 1);
    EXPECT_THROW(MappedFile::Open(folder_), Error);
  }
  EXPECT_EQ(count(), before);
}

}  // namespace
}  // namespace owml
