// What files are, whatever their names say.
#include "formats/file_identity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/gguf_writer.h"
#include "support/onnx_writer.h"

namespace owml::test {
namespace {

using namespace std::string_literals;

FileIdentity Identify(const std::string& bytes) { return IdentifyFile(AsBytes(bytes)); }

std::string OnnxModel(size_t weight_bytes) {
  return AddModel(OnnxTensor("w", kOnnxFloat, {2}, std::string(weight_bytes, 'w'))).Bytes();
}

TEST(FileIdentity, KnowsModels) {
  EXPECT_EQ(Identify(GgufWriter().Bytes()), FileIdentity::kGguf);
  EXPECT_EQ(Identify("\x1c\0\0\0ORTM and more"s), FileIdentity::kOrtFlatbuffer);
  EXPECT_EQ(Identify(OnnxModel(8)), FileIdentity::kOnnx);
  EXPECT_EQ(Identify(OnnxModel(100000)), FileIdentity::kOnnx);
}

TEST(FileIdentity, KnowsOnnxWhereverTheWindowEnds) {
  const std::string model = OnnxModel(8);
  for (size_t length = 2; length < model.size(); ++length) {
    EXPECT_EQ(Identify(model.substr(0, length)), FileIdentity::kOnnx) << length;
  }
}

TEST(FileIdentity, KnowsWhatStandsInForAModel) {
  EXPECT_EQ(Identify("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"),
            FileIdentity::kGitLfsPointer);
  EXPECT_EQ(Identify("\n <!DOCTYPE HTML>\n<html>"), FileIdentity::kHtml);
  EXPECT_EQ(Identify("<html lang=\"de\">Grüße"), FileIdentity::kHtml);
  EXPECT_EQ(Identify("\x08\0\0\0\0\0\0\0{\"a\":1}"s), FileIdentity::kSafetensors);
  EXPECT_EQ(Identify("PK\x03\x04 model/data.pkl"), FileIdentity::kPyTorchZip);
  EXPECT_EQ(Identify("PK\x03\x04 readme.txt"), FileIdentity::kZip);
  EXPECT_EQ(Identify("\x80\x02}q\0."s), FileIdentity::kPickle);
  EXPECT_EQ(Identify("\x1f\x8b\x08\0"s), FileIdentity::kGzip);
  EXPECT_EQ(Identify(""), FileIdentity::kEmpty);
  EXPECT_EQ(Identify("{\"error\": \"Access denied\"}"), FileIdentity::kJson);
  EXPECT_EQ(Identify("Not Found"), FileIdentity::kText);
  EXPECT_EQ(Identify("lmgg\x01\0\0\0"s), FileIdentity::kOldGgml);
}

TEST(FileIdentity, NoiseIsUnknown) {
  EXPECT_EQ(Identify("\0\0\0\0"s), FileIdentity::kUnknown);
  EXPECT_EQ(Identify("\xff\xfe\x01\x02"), FileIdentity::kUnknown);
  EXPECT_EQ(Identify("\x08\x08\x7f"), FileIdentity::kUnknown);  // a field that no model has
}

TEST(FileIdentity, TextMayBreakOffInsideACharacter) {
  std::string text(kIdentityBytes - 1, 'a');
  EXPECT_EQ(Identify(text + "\xC3\xBC"), FileIdentity::kText);
}

TEST(FileIdentity, SaysWhatToDo) {
  EXPECT_THAT(Describe(FileIdentity::kGitLfsPointer), testing::HasSubstr("git lfs pull"));
  EXPECT_THAT(Describe(FileIdentity::kHtml), testing::HasSubstr("HTML page"));
  EXPECT_THAT(Describe(FileIdentity::kSafetensors), testing::HasSubstr("safetensors"));
}

}  // namespace
}  // namespace owml::test
