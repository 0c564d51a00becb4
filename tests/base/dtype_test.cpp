// Element types: numbers of the public enum, sizes, names.
// The table of types.md 3.
#include "base/dtype.h"

#include <WinMLTensor.h>
#include <gtest/gtest.h>

#include <limits>

namespace owml {
namespace {

TEST(DType, HasTheNumbersOfThePublicEnum) {
  EXPECT_EQ(static_cast<int>(DType::kUndefined), WINML_TENSOR_DATA_TYPE_UNDEFINED);
  EXPECT_EQ(static_cast<int>(DType::kFloat32), WINML_TENSOR_DATA_TYPE_FLOAT32);
  EXPECT_EQ(static_cast<int>(DType::kFloat16), WINML_TENSOR_DATA_TYPE_FLOAT16);
  EXPECT_EQ(static_cast<int>(DType::kBFloat16), WINML_TENSOR_DATA_TYPE_BFLOAT16);
  EXPECT_EQ(static_cast<int>(DType::kInt8), WINML_TENSOR_DATA_TYPE_INT8);
  EXPECT_EQ(static_cast<int>(DType::kUInt8), WINML_TENSOR_DATA_TYPE_UINT8);
  EXPECT_EQ(static_cast<int>(DType::kInt16), WINML_TENSOR_DATA_TYPE_INT16);
  EXPECT_EQ(static_cast<int>(DType::kUInt16), WINML_TENSOR_DATA_TYPE_UINT16);
  EXPECT_EQ(static_cast<int>(DType::kInt32), WINML_TENSOR_DATA_TYPE_INT32);
  EXPECT_EQ(static_cast<int>(DType::kUInt32), WINML_TENSOR_DATA_TYPE_UINT32);
  EXPECT_EQ(static_cast<int>(DType::kInt64), WINML_TENSOR_DATA_TYPE_INT64);
  EXPECT_EQ(static_cast<int>(DType::kUInt64), WINML_TENSOR_DATA_TYPE_UINT64);
  EXPECT_EQ(static_cast<int>(DType::kFloat64), WINML_TENSOR_DATA_TYPE_FLOAT64);
  EXPECT_EQ(static_cast<int>(DType::kBool), WINML_TENSOR_DATA_TYPE_BOOL);
  EXPECT_EQ(static_cast<int>(DType::kInt4), WINML_TENSOR_DATA_TYPE_INT4);
  EXPECT_EQ(static_cast<int>(DType::kUInt4), WINML_TENSOR_DATA_TYPE_UINT4);
}

TEST(DType, OnlyTheSixteenNumbersAreKnown) {
  for (int value = 0; value < 16; ++value) EXPECT_TRUE(IsKnownDType(value));
  for (const int value : {-1, 16, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()}) {
    EXPECT_FALSE(IsKnownDType(value));
  }
}

TEST(DType, SizesFollowTheTable) {
  const struct {
    DType dtype;
    int bits;
    int bytes;
    const char* name;
  } kRows[] = {
      {DType::kUndefined, 8, 1, "undefined"}, {DType::kFloat32, 32, 4, "float32"}, {DType::kFloat16, 16, 2, "float16"},
      {DType::kBFloat16, 16, 2, "bfloat16"},  {DType::kInt8, 8, 1, "int8"},        {DType::kUInt8, 8, 1, "uint8"},
      {DType::kInt16, 16, 2, "int16"},        {DType::kUInt16, 16, 2, "uint16"},   {DType::kInt32, 32, 4, "int32"},
      {DType::kUInt32, 32, 4, "uint32"},      {DType::kInt64, 64, 8, "int64"},     {DType::kUInt64, 64, 8, "uint64"},
      {DType::kFloat64, 64, 8, "float64"},    {DType::kBool, 8, 1, "bool"},        {DType::kInt4, 4, 0, "int4"},
      {DType::kUInt4, 4, 0, "uint4"},
  };
  for (const auto& row : kRows) {
    EXPECT_EQ(BitsPerElement(row.dtype), row.bits) << row.name;
    EXPECT_EQ(BytesPerElement(row.dtype), row.bytes) << row.name;
    EXPECT_EQ(Name(row.dtype), row.name);
  }
}

}  // namespace
}  // namespace owml
