// The readers on a model that other programs wrote.
// Figures are those of the `gguf` package's reader for the same file.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "formats/gguf_llama_check.h"
#include "formats/gguf_shards.h"

namespace owml::test {
namespace {

TEST(RealModel, SmolLm2IsReadAndAccepted) {
#ifndef OWML_MODEL_SMOLLM2
  GTEST_SKIP() << "configured without OWML_MODEL_SMOLLM2";
#else
  const GgufModelFiles model = OpenGgufModel(OWML_MODEL_SMOLLM2);
  ASSERT_EQ(model.files.size(), 1u);
  const GgufFile& file = model.files[0];
  CheckModelForLlama(model.files);
  std::map<GgmlType, int> types;
  for (const GgufTensor& tensor : file.tensors()) ++types[tensor.type];
  EXPECT_EQ(file.metadata().RequireString("general.architecture"), "llama");
  EXPECT_EQ(file.metadata().RequireUInt32("llama.block_count"), 30u);
  EXPECT_EQ(file.metadata().FindStrings("tokenizer.ggml.tokens")->size(), 49152u);
  EXPECT_EQ(file.tensors().size(), 272u);
  EXPECT_EQ(types[GgmlType::kF32], 61);
#endif
}

}  // namespace
}  // namespace owml::test
