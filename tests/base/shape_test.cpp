// Shape arithmetic: products, packing, overflow, free extents, texts.
// Every size that the library allocates goes through here.
#include "base/shape.h"

#include <gtest/gtest.h>

namespace owml {
namespace {

TEST(ElementCount, IsTheProductAndOneForAScalar) {
  EXPECT_EQ(ElementCount(Dims{}), 1u);
  EXPECT_EQ(ElementCount(Dims{7}), 7u);
  EXPECT_EQ(ElementCount(Dims{2, 3, 4}), 24u);
  EXPECT_EQ(ElementCount(Dims{2, 0, 4}), 0u);
}

TEST(ElementCount, IsNothingForAFreeExtent) {
  EXPECT_FALSE(ElementCount(Dims{2, kFreeDimension}));
  EXPECT_FALSE(ElementCount(Dims{0, kFreeDimension}));
  EXPECT_TRUE(IsConcrete(Dims{0, UINT64_MAX - 1}));
  EXPECT_FALSE(IsConcrete(Dims{kFreeDimension}));
}

TEST(ElementCount, IsNothingWhenTheProductWraps) {
  EXPECT_EQ(ElementCount(Dims{uint64_t{1} << 32, (uint64_t{1} << 32) - 1}), UINT64_MAX - UINT32_MAX);
  EXPECT_FALSE(ElementCount(Dims{uint64_t{1} << 32, uint64_t{1} << 32}));
  EXPECT_FALSE(ElementCount(Dims{UINT64_MAX - 1, 2}));
  EXPECT_FALSE(ElementCount(Dims{0, UINT64_MAX - 1, 2})) << "also beside a zero: strides would wrap";
}

TEST(ByteSize, MultipliesByTheElement) {
  EXPECT_EQ(ByteSize(DType::kFloat32, Dims{2, 3}), 24u);
  EXPECT_EQ(ByteSize(DType::kFloat64, Dims{}), 8u);
  EXPECT_EQ(ByteSize(DType::kUndefined, Dims{5}), 5u);
  EXPECT_EQ(ByteSize(DType::kFloat32, Dims{0}), 0u);
}

TEST(ByteSize, RoundsPackedElementsUpToWholeBytes) {
  for (const DType dtype : {DType::kInt4, DType::kUInt4}) {
    EXPECT_EQ(ByteSize(dtype, Dims{}), 1u);
    EXPECT_EQ(ByteSize(dtype, Dims{0}), 0u);
    EXPECT_EQ(ByteSize(dtype, Dims{4}), 2u);
    EXPECT_EQ(ByteSize(dtype, Dims{3, 3}), 5u);
    EXPECT_EQ(ByteSize(dtype, Dims{UINT64_MAX - 2}), UINT64_MAX / 2) << "odd, and no overflow while rounding";
  }
}

TEST(ByteSize, IsNothingWhenTheBytesWrap) {
  EXPECT_EQ(ByteSize(DType::kFloat32, Dims{UINT64_MAX / 4}), UINT64_MAX - 3);
  EXPECT_FALSE(ByteSize(DType::kFloat32, Dims{UINT64_MAX / 4 + 1}));
  EXPECT_FALSE(ByteSize(DType::kFloat64, Dims{uint64_t{1} << 61}));
  EXPECT_EQ(ByteSize(DType::kUInt8, Dims{UINT64_MAX - 1}), UINT64_MAX - 1);
}

TEST(ShapeText, ShowsFreeExtentsAsQuestionMarks) {
  EXPECT_EQ(ToString(Dims{}), "[]");
  EXPECT_EQ(ToString(Dims{2, kFreeDimension, 4}), "[2, ?, 4]");
  EXPECT_EQ(ToString(DType::kFloat32, Dims{1}), "float32 [1]");
}

TEST(Matches, FreeExtentsTakeAnyValue) {
  EXPECT_TRUE(Matches(Dims{2, kFreeDimension}, Dims{2, 9}));
  EXPECT_TRUE(Matches(Dims{kFreeDimension}, Dims{0}));
  EXPECT_TRUE(Matches(Dims{}, Dims{}));
  EXPECT_FALSE(Matches(Dims{2, kFreeDimension}, Dims{3, 9}));
  EXPECT_FALSE(Matches(Dims{kFreeDimension}, Dims{}));
  EXPECT_FALSE(Matches(Dims{1, 2}, Dims{2}));
}

}  // namespace
}  // namespace owml
