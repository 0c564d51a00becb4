// Attention over cached keys and values.
#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

class AttentionTest : public KernelTest {
 protected:
  void Fill(size_t width, size_t positions) {
    width_ = width;
    keys_.assign((positions + 15) / 16 * 16 * width, 0x7E00);  // NaN where nothing is stored
    values_.assign(positions * PaddedWidth(width), 0x7E00);
    plain_keys_ = Floats(positions * width, -2, 2);
    plain_values_ = Floats(positions * width);
    for (size_t p = 0; p < positions; ++p) {
      oracle().store_key(&plain_keys_[p * width], width, keys_.data(), p);
      oracle().store_value(&plain_values_[p * width], width, values_.data(), p);
    }
  }

  // [rows][width]; segments of kAttentionSegment positions merged in order.
  std::vector<float> Attend(const Kernels& kernels, const std::vector<float>& queries, size_t length, size_t first = 0,
                            float cap = 0) const {
    const size_t rows = queries.size() / width_, size = AttentionStateSize(width_);
    std::vector<float> total(rows * size), part(rows * size), out(rows * width_);
    const size_t first_segment = first / kAttentionSegment * kAttentionSegment;
    for (size_t segment = first_segment; segment < length; segment += kAttentionSegment) {
      kernels.attend({.queries = queries.data(),
                      .rows = rows,
                      .width = width_,
                      .keys = keys_.data(),
                      .values = values_.data(),
                      .begin = std::max(segment, first / kAttentionBlock * kAttentionBlock),
                      .end = std::min(length, segment + kAttentionSegment),
                      .first = first,
                      .cap = cap,
                      .states = segment == first_segment ? total.data() : part.data()});
      for (size_t r = 0; r < rows && segment > first_segment; ++r) {
        kernels.merge_attention(&total[r * size], &part[r * size], width_);
      }
    }
    for (size_t r = 0; r < rows; ++r) kernels.finish_attention(&total[r * size], width_, &out[r * width_]);
    return out;
  }

  std::vector<double> Reference(const float* query, size_t length, size_t first = 0, double cap = 0) const {
    std::vector<double> scores(length), out(width_);
    double highest = -1e300, sum = 0;
    for (size_t p = first; p < length; ++p) {
      for (size_t d = 0; d < width_; ++d) {
        scores[p] += double{query[d]} * HalfToFloat(FloatToHalf(plain_keys_[p * width_ + d]));
      }
      if (cap != 0) scores[p] = cap * std::tanh(scores[p] / cap);
      highest = std::max(highest, scores[p]);
    }
    for (size_t p = first; p < length; ++p) sum += scores[p] = std::exp(scores[p] - highest);
    for (size_t p = first; p < length; ++p) {
      for (size_t d = 0; d < width_; ++d) {
        out[d] += scores[p] / sum * HalfToFloat(FloatToHalf(plain_values_[p * width_ + d]));
      }
    }
    return out;
  }

  size_t width_ = 0;
  std::vector<uint16_t> keys_, values_;
  std::vector<float> plain_keys_, plain_values_;
};

TEST_P(AttentionTest, EqualsItsScalarTwinAndTheFormula) {
  for (const size_t width : {2, 8, 16, 24, 64, 80, 128}) {
    for (const size_t length : {1, 15, 16, 17, 63, 64, 65, 130}) {
      Fill(width, length);
      for (size_t rows = 1; rows <= kMaxAttendRows; ++rows) {
        const auto queries = Floats(rows * width);
        const auto out = Attend(kernels(), queries, length);
        ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, length))) << width << " x " << length << ", " << rows;
        for (size_t r = 0; r < rows; ++r) {
          const auto expected = Reference(&queries[r * width], length);
          for (size_t d = 0; d < width; ++d) ASSERT_NEAR(out[r * width + d], expected[d], 2e-5);
        }
      }
    }
  }
}

TEST_P(AttentionTest, LongRangesAreMergedFromSegments) {
  Fill(32, 1300);
  for (const size_t length : {511, 512, 513, 1024, 1300}) {
    const auto queries = Floats(3 * width_, -2, 2);
    const auto out = Attend(kernels(), queries, length);
    ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, length))) << length;
    for (size_t r = 0; r < 3; ++r) {
      const auto expected = Reference(&queries[r * width_], length);
      for (size_t d = 0; d < width_; ++d) ASSERT_NEAR(out[r * width_ + d], expected[d], 2e-5);
    }
  }
}

TEST_P(AttentionTest, OnlyPositionsOfTheWindowAreSeen) {
  Fill(24, 1200);
  for (const size_t length : {1, 64, 100, 513, 1200}) {
    for (const size_t window : {1, 15, 63, 64, 65, 511, 700}) {
      const size_t first = length > window ? length - window : 0;
      const auto queries = Floats(2 * width_, -2, 2);
      const auto out = Attend(kernels(), queries, length, first);
      ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, length, first))) << length << ", " << window;
      for (size_t r = 0; r < 2; ++r) {
        const auto expected = Reference(&queries[r * width_], length, first);
        for (size_t d = 0; d < width_; ++d) ASSERT_NEAR(out[r * width_ + d], expected[d], 2e-5);
      }
    }
  }
}

TEST_P(AttentionTest, ScoresAreCapped) {
  Fill(32, 150);
  for (const float cap : {0.5f, 5.0f, 50.0f}) {
    const auto queries = Floats(3 * width_, -20, 20);
    const auto out = Attend(kernels(), queries, 150, 0, cap);
    ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, 150, 0, cap)));
    for (size_t r = 0; r < 3; ++r) {
      const auto expected = Reference(&queries[r * width_], 150, 0, cap);
      for (size_t d = 0; d < width_; ++d) ASSERT_NEAR(out[r * width_ + d], expected[d], 1e-4);
    }
  }
}

TEST_P(AttentionTest, AHeadGetsTheSameBitsAloneAndInAGroup) {
  Fill(64, 200);
  const auto queries = Floats(4 * width_);
  const auto together = Attend(kernels(), queries, 200);
  for (size_t r = 0; r < 4; ++r) {
    const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(r * width_);
    const auto alone = Attend(kernels(), {begin, begin + static_cast<std::ptrdiff_t>(width_)}, 200);
    EXPECT_TRUE(SameBits(alone, std::span(together).subspan(r * width_, width_)));
  }
}

TEST_P(AttentionTest, ScoresFarApartChooseOneValue) {
  Fill(16, 100);
  std::vector<float> query(width_);
  for (size_t p = 0; p < 100; ++p) {
    plain_keys_[p * width_] = p == 70 ? 60.0f : -60.0f;
    oracle().store_key(&plain_keys_[p * width_], width_, keys_.data(), p);
  }
  query[0] = 50;
  const auto out = Attend(kernels(), query, 100);
  for (size_t d = 0; d < width_; ++d) {
    EXPECT_NEAR(out[d], HalfToFloat(FloatToHalf(plain_values_[70 * width_ + d])), 1e-5);
  }
}

TEST_P(AttentionTest, StoredEntriesEqualThoseOfTheScalarTwin) {
  for (const size_t width : {2, 8, 24, 64}) {
    Fill(width, 40);
    std::vector<uint16_t> keys(keys_.size(), 0x7E00), values(values_.size(), 0x7E00);
    for (size_t p = 0; p < 40; ++p) {
      kernels().store_key(&plain_keys_[p * width], width, keys.data(), p);
      kernels().store_value(&plain_values_[p * width], width, values.data(), p);
    }
    EXPECT_EQ(keys, keys_);
    EXPECT_EQ(values, values_);
  }
}

OWML_INSTANTIATE_FOR_EVERY_ISA(AttentionTest);

}  // namespace
}  // namespace owml::test
