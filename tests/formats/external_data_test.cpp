// Which files a model's external data may be in.
#include "formats/external_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/expect_error.h"
#include "support/gguf_writer.h"
#include "support/onnx_writer.h"
#include "support/temporary_folder.h"

namespace owml::test {
namespace {

namespace fs = std::filesystem;

class ExternalData : public testing::Test {
 protected:
  ExternalFile Resolve(const fs::path& model, const std::string& location) {
    return ExternalDataFolder(model).Resolve(location, "tensor 'w'");
  }
  void ExpectRefused(const fs::path& model, const std::string& location, std::vector<std::string> words) {
    words.insert(words.end(), {"'" + model.string() + "'", "tensor 'w'"});
    ExpectBadData([&] { Resolve(model, location); }, words);
  }

  TemporaryFolder folder_;
};

TEST_F(ExternalData, LiesBesideTheModelOrBelow) {
  const fs::path model = folder_.Write("モデル é/m.onnx", "m");
  folder_.Write("モデル é/w.bin", "12345");
  folder_.Write("モデル é/deep/er/w 2.bin", "123");
  EXPECT_EQ(Resolve(model, "w.bin").size, 5u);
  EXPECT_EQ(Resolve(model, "./w.bin").size, 5u);
  EXPECT_EQ(Resolve(model, "deep/er/w 2.bin").size, 3u);
}

TEST_F(ExternalData, LiesBesideAModelNamedWithoutFolder) {
  folder_.Write("m.onnx", "m");
  folder_.Write("w.bin", "12345");
  const fs::path before = fs::current_path();
  fs::current_path(folder_.path());
  const uint64_t size = Resolve("m.onnx", "w.bin").size;
  fs::current_path(before);
  EXPECT_EQ(size, 5u);
}

TEST_F(ExternalData, MustNotClimbOut) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  folder_.Write("secret", "s");
  folder_.Write("a/w.bin", "w");
  for (const char* location : {"../secret", "b/../../secret", "./../secret", "..", "b/..", "../a/w.bin"}) {
    ExpectRefused(model, location, {std::string("'") + location + "'", "climbs out"});
  }
}

TEST_F(ExternalData, MustNotBeAbsolute) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  ExpectRefused(model, (folder_.path() / "a/m.onnx").string(), {"absolute"});
  ExpectRefused(model, "/etc/passwd", {"'/etc/passwd'", "absolute"});
  ExpectRefused(model, "C:\\secret", {"absolute"});
  ExpectRefused(model, "\\\\server\\share", {"absolute"});
  ExpectRefused(model, "a\\..\\b", {"backslash"});
}

TEST_F(ExternalData, MustBeAFileName) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  folder_.Write("a/w", "w");
  ExpectRefused(model, "", {"no file name"});
  ExpectRefused(model, std::string("w\0.bin", 6), {"zero byte"});
}

TEST_F(ExternalData, MissingFileAndFolderHaveTheirOwnCodes) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  folder_.Write("a/b/c", "c");
  ExpectError([&] { Resolve(model, "gone.bin"); }, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND),
              {"gone.bin", "tensor 'w'"});
  ExpectError([&] { Resolve(model, "b"); }, E_INVALIDARG, {"no regular file"});
  ExpectError([&] { Resolve(model, "."); }, E_INVALIDARG, {"no regular file"});
}

TEST_F(ExternalData, LinksMustNotLeadOut) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  folder_.Write("secret/s", "s");
  fs::create_symlink("../secret/s", folder_.path() / "a/w.bin");
  fs::create_directory_symlink("../secret", folder_.path() / "a/d");
  ExpectRefused(model, "w.bin", {"'w.bin'", "leads out"});
  ExpectRefused(model, "d/s", {"'d/s'", "leads out"});
}

TEST_F(ExternalData, LinksInsideTheFolderAreFine) {
  const fs::path model = folder_.Write("a/m.onnx", "m");
  folder_.Write("a/data/w", "1234");
  fs::create_symlink("data/w", folder_.path() / "a/w.bin");
  EXPECT_EQ(Resolve(model, "w.bin").size, 4u);
}

TEST_F(ExternalData, FolderReachedThroughALinkIsFine) {
  folder_.Write("real/m.onnx", "m");
  folder_.Write("real/w.bin", "1234");
  fs::create_directory_symlink("real", folder_.path() / "alias");
  EXPECT_EQ(Resolve(folder_.path() / "alias/m.onnx", "w.bin").size, 4u);
}

// Download caches keep the bytes in a store of blobs and give them their names by links.
class DownloadCache : public ExternalData {
 protected:
  DownloadCache() {
    folder_.Write("blobs/aaaa", "model");
    folder_.Write("blobs/bbbb", "123456");
    folder_.Write("secret", "s");
    folder_.Write("blobs/deep/cccc", "c");
    fs::create_directories(snapshot_);
    fs::create_symlink("../../blobs/aaaa", snapshot_ / "model.onnx");
  }

  fs::path snapshot_ = folder_.path() / "snapshots/rev1";
};

TEST_F(DownloadCache, ModelAndDataAsLinksIntoOneStoreLoad) {
  fs::create_symlink("../../blobs/bbbb", snapshot_ / "model.onnx_data");
  EXPECT_EQ(Resolve(snapshot_ / "model.onnx", "model.onnx_data").size, 6u);
}

TEST_F(DownloadCache, ModelInASubfolderLoads) {
  fs::create_directories(snapshot_ / "onnx");
  fs::create_symlink("../../../blobs/aaaa", snapshot_ / "onnx/model.onnx");
  fs::create_symlink("../../../blobs/bbbb", snapshot_ / "onnx/model.onnx_data");
  EXPECT_EQ(Resolve(snapshot_ / "onnx/model.onnx", "model.onnx_data").size, 6u);
}

TEST_F(DownloadCache, LinkOutOfTheStoreIsRefused) {
  fs::create_symlink("../../secret", snapshot_ / "w.bin");
  fs::create_symlink("../../blobs/deep/cccc", snapshot_ / "deep.bin");
  ExpectRefused(snapshot_ / "model.onnx", "w.bin", {"leads out"});
  ExpectRefused(snapshot_ / "model.onnx", "deep.bin", {"leads out"});
}

TEST_F(DownloadCache, StoreIsClosedToAModelThatIsNoLink) {
  folder_.Write("snapshots/rev1/plain.onnx", "m");
  fs::create_symlink("../../blobs/bbbb", snapshot_ / "w.bin");
  ExpectRefused(snapshot_ / "plain.onnx", "w.bin", {"leads out"});
}

TEST_F(DownloadCache, StoreIsReachedByLinksOnly) {
  fs::create_directory_symlink("../../blobs", snapshot_ / "d");
  ExpectRefused(snapshot_ / "model.onnx", "d/bbbb", {"leads out"});
}

TEST_F(ExternalData, RangesMustLieInTheFile) {
  const fs::path model = folder_.Write("m.onnx", "m");
  folder_.Write("w.bin", std::string(16, 'w'));
  const auto check = [&](std::vector<std::pair<std::string, std::string>> entries) {
    entries.emplace_back("location", "w.bin");
    const std::string bytes = AddModel(OnnxExternalTensor("w", kOnnxFloat, {2}, entries)).Bytes();
    ExternalDataFolder(model).Check(ReadOnnxHeader(AsBytes(bytes), "'m.onnx'"));
  };
  check({{"offset", "8"}, {"length", "8"}});
  check({{"offset", "8"}});
  ExpectBadData(
      [&] {
        check({{"offset", "9"}, {"length", "8"}});
      },
      {"'w'", "8 bytes", "offset 9", "'w.bin'", "16 bytes"});
  ExpectBadData([&] { check({{"offset", "9"}}); }, {"offset 9"});
  ExpectBadData([&] { check({{"offset", "18446744073709551600"}, {"length", "8"}}); }, {"18446744073709551600"});
  ExpectBadData([&] { check({{"length", "4294967296"}}); }, {"4294967296"});
}

}  // namespace
}  // namespace owml::test
