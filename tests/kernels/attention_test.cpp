// Attention over cached keys and values.
#include "kernels/kernel_fixture.h"

namespace owml::test {
namespace {

using namespace owml::kernels;  // NOLINT

static_assert(kMaxAttendRows == 32);
constexpr CacheType kCaches[] = {CacheType::kF16, CacheType::kBF16, CacheType::kQ8};

class AttentionTest : public KernelTest {
 protected:
  void Fill(size_t width, size_t positions, CacheType type = CacheType::kF16) {
    width_ = width;
    type_ = type;
    // NaN where nothing is stored.
    const size_t whole = (positions + 15) / 16 * 16;
    keys_.assign(whole * KeyBytes(type, width), std::byte{0xFF});
    values_.assign(whole * ValueBytes(type, width), std::byte{0xFF});
    plain_keys_ = Floats(positions * width, -2, 2);
    plain_values_ = Floats(positions * width);
    for (size_t p = 0; p < positions; ++p) Store(oracle(), p, &keys_, &values_);
  }

  void Store(const Kernels& kernels, size_t position, std::vector<std::byte>* keys,
             std::vector<std::byte>* values) const {
    const auto type = static_cast<size_t>(type_);
    kernels.store_key[type](&plain_keys_[position * width_], width_, keys->data(), position);
    kernels.store_value[type](&plain_values_[position * width_], width_, values->data(), position);
  }

  // What a row sees.
  struct Range {
    size_t first = 0;
    size_t length = 0;
  };

  // How the segments of a range are given to a kernel: so many in a call, or each alone, merged in order.
  enum class Segments { kTogether, kTwoByTwo, kAlone };

  // [rows][width]
  std::vector<float> Attend(const Kernels& kernels, const std::vector<float>& queries, const std::vector<Range>& ranges,
                            float cap = 0, Segments how = Segments::kTogether) const {
    const size_t rows = ranges.size(), size = AttentionStateSize(width_);
    std::vector<float> total(rows * size), part(rows * size), parts(kRowsTogether * size), out(rows * width_);
    std::vector<AttentionSegment> segments;
    const size_t begin = ranges[0].first / kAttentionSegment * kAttentionSegment;
    size_t end = 0;
    for (const Range& range : ranges) end = std::max(end, range.length);
    for (size_t at = begin; at < end; at += kAttentionSegment) {
      segments.push_back({&keys_[at * KeyBytes(type_, width_)], &values_[at * ValueBytes(type_, width_)]});
    }
    const size_t step = how == Segments::kTogether ? segments.size() : how == Segments::kTwoByTwo ? 2 : 1;
    for (size_t first = 0; first < segments.size(); first += step) {
      const size_t start = begin + first * kAttentionSegment, stop = start + step * kAttentionSegment;
      AttendCall call{};
      for (const Range& range : ranges) {
        call.queries[call.rows] = &queries[call.rows * width_];
        call.firsts[call.rows] = std::max(range.first, start) - start;
        call.ends[call.rows] = std::min(range.length, stop) - start;
        ++call.rows;
      }
      call.width = width_;
      call.segments = &segments[first];
      call.cap = cap;
      const bool merge = how == Segments::kAlone && first > 0;
      call.states = merge ? part.data() : total.data();
      call.continues = !merge && first > 0;
      if (step > 1) call.parts = parts.data();
      kernels.attend[static_cast<size_t>(type_)](call);
      for (size_t r = 0; merge && r < rows; ++r) kernels.merge_attention(&total[r * size], &part[r * size], width_);
    }
    for (size_t r = 0; r < rows; ++r) kernels.finish_attention(&total[r * size], width_, &out[r * width_]);
    return out;
  }
  std::vector<float> Attend(const Kernels& kernels, const std::vector<float>& queries, size_t length, size_t first = 0,
                            float cap = 0) const {
    return Attend(kernels, queries, std::vector<Range>(queries.size() / width_, {first, length}), cap);
  }

  static float ToBfloat(float x) {
    const uint32_t bits = std::bit_cast<uint32_t>(x);
    return std::bit_cast<float>((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000);
  }
  float Stored(float x) const {
    return type_ == CacheType::kF16 ? HalfToFloat(FloatToHalf(x)) : type_ == CacheType::kBF16 ? ToBfloat(x) : x;
  }
  // A cache in BF16 is multiplied by queries in BF16.
  float Asked(float x) const { return type_ == CacheType::kBF16 ? ToBfloat(x) : x; }

  std::vector<double> Reference(const float* query, size_t length, size_t first = 0, double cap = 0) const {
    std::vector<double> scores(length), out(width_);
    double highest = -1e300, sum = 0;
    for (size_t p = first; p < length; ++p) {
      for (size_t d = 0; d < width_; ++d) scores[p] += double{Asked(query[d])} * Stored(plain_keys_[p * width_ + d]);
      if (cap != 0) scores[p] = cap * std::tanh(scores[p] / cap);
      highest = std::max(highest, scores[p]);
    }
    for (size_t p = first; p < length; ++p) sum += scores[p] = std::exp2(scores[p] - highest);
    for (size_t p = first; p < length; ++p) {
      for (size_t d = 0; d < width_; ++d) out[d] += scores[p] / sum * Stored(plain_values_[p * width_ + d]);
    }
    return out;
  }

  size_t width_ = 0;
  CacheType type_ = CacheType::kF16;
  std::vector<std::byte> keys_, values_;
  std::vector<float> plain_keys_, plain_values_;
};

TEST_P(AttentionTest, EqualsItsScalarTwinAndTheFormula) {
  for (const size_t width : {2, 8, 16, 24, 64, 80, 128}) {
    for (const size_t length : {1, 15, 16, 17, 63, 64, 65, 130}) {
      Fill(width, length);
      for (const size_t rows : {1, 2, 3, 4, 5, 6, 7, 13, 20, 32}) {
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

TEST_P(AttentionTest, SegmentsGiveTheSameBitsTogetherAndAlone) {
  for (const CacheType type : kCaches) {
    Fill(40, 2200, type);
    for (const size_t last : {520, 1024, 2200}) {
      for (const size_t window : {3000, 1100, 300}) {
        std::vector<Range> ranges;
        for (size_t r = 0; r < 8; ++r) ranges.push_back({last - 8 > window ? last - 8 - window : 0, last - 7 + r});
        const auto queries = Floats(8 * width_, -3, 3);
        const auto together = Attend(kernels(), queries, ranges);
        for (const Segments how : {Segments::kTwoByTwo, Segments::kAlone}) {
          ASSERT_TRUE(SameBits(together, Attend(oracle(), queries, ranges, 0, how)))
              << static_cast<int>(type) << ", " << last << ", " << window << ", " << static_cast<int>(how);
        }
      }
    }
  }
}

// Scores that rise by far, within a block and from one to the next, and a range that begins with its highest.
TEST_P(AttentionTest, WeightsFollowAScoreThatRises) {
  for (const CacheType type : kCaches) {
    Fill(16, 1200, type);
    for (const float rise : {0.01f, 0.5f, 40.0f, -0.5f, -40.0f}) {
      for (size_t p = 0; p < 1200; ++p) {
        plain_keys_[p * width_] = rise * static_cast<float>(p);
        Store(oracle(), p, &keys_, &values_);
      }
      std::vector<float> queries(3 * width_);
      for (size_t r = 0; r < 3; ++r) queries[r * width_] = static_cast<float>(r);
      const auto out = Attend(kernels(), queries, 1200);
      ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, 1200))) << static_cast<int>(type) << ", " << rise;
      if (type == CacheType::kQ8) continue;  // its rounding moves such scores
      for (size_t r = 0; r < 3; ++r) {
        const auto expected = Reference(&queries[r * width_], 1200);
        for (size_t d = 1; d < width_; ++d) ASSERT_NEAR(out[r * width_ + d], expected[d], 0x1p-9) << rise << ", " << r;
      }
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

TEST_P(AttentionTest, RowsOfNeighbouringTokensGetTheBitsThatTheyGetAlone) {
  for (const CacheType type : kCaches) {
    Fill(40, 1100, type);
    for (const size_t window : {2000, 700, 64, 3, 1}) {
      for (const size_t last : {8, 64, 200, 520, 1096}) {
        for (const size_t rows : {2, 3, 4, 5, 6, 8, 12, 15, 24, 32}) {
          std::vector<Range> ranges;
          for (size_t r = 0; r < rows; ++r) {
            const size_t length = last - 7 + r * 8 / rows;
            ranges.push_back({length > window ? length - window : 0, length});
          }
          if (ranges[0].first / kAttentionBlock != ranges.back().first / kAttentionBlock) continue;
          const auto queries = Floats(rows * width_, -2, 2);
          const auto together = Attend(kernels(), queries, ranges);
          for (size_t r = 0; r < rows; ++r) {
            const auto begin = queries.begin() + static_cast<std::ptrdiff_t>(r * width_);
            const auto alone = Attend(oracle(), {begin, begin + static_cast<std::ptrdiff_t>(width_)}, {ranges[r]});
            ASSERT_TRUE(SameBits(alone, std::span(together).subspan(r * width_, width_)))
                << static_cast<int>(type) << ", " << window << ", " << last << ", row " << r << " of " << rows;
          }
        }
      }
    }
  }
}

TEST_P(AttentionTest, EveryTypeOfCacheGivesTheFormulaUpToItsRounding) {
  for (const CacheType type : kCaches) {
    // Weights are rounded to F32, to BF16 (by 2^-9 at most), and 8 bits of keys and values are not in the formula.
    const double tolerance = type == CacheType::kF16 ? 2e-5 : type == CacheType::kBF16 ? 0x1p-9 : 4e-2;
    for (const size_t width : {2, 24, 33, 64, 80, 300}) {
      Fill(width, 129, type);  // no number behind the last
      const auto queries = Floats(3 * width);
      const auto out = Attend(kernels(), queries, 129);
      ASSERT_TRUE(SameBits(out, Attend(oracle(), queries, 129))) << static_cast<int>(type) << ", " << width;
      for (size_t r = 0; r < 3; ++r) {
        const auto expected = Reference(&queries[r * width], 129);
        for (size_t d = 0; d < width; ++d) ASSERT_NEAR(out[r * width + d], expected[d], tolerance);
      }
    }
  }
}

TEST_P(AttentionTest, ScoresFarApartChooseOneValue) {
  Fill(16, 100);
  std::vector<float> query(width_);
  for (size_t p = 0; p < 100; ++p) {
    plain_keys_[p * width_] = p == 70 ? 60.0f : -60.0f;
    Store(oracle(), p, &keys_, &values_);
  }
  query[0] = 50;
  const auto out = Attend(kernels(), query, 100);
  for (size_t d = 0; d < width_; ++d) {
    EXPECT_NEAR(out[d], HalfToFloat(FloatToHalf(plain_values_[70 * width_ + d])), 1e-5);
  }
}

TEST_P(AttentionTest, StoredEntriesEqualThoseOfTheScalarTwin) {
  for (const CacheType type : kCaches) {
    for (const size_t width : {2, 8, 24, 33, 64}) {
      Fill(width, 40, type);
      std::vector<std::byte> keys(keys_.size(), std::byte{0xFF}), values(values_.size(), std::byte{0xFF});
      for (size_t p = 0; p < 40; ++p) Store(kernels(), p, &keys, &values);
      EXPECT_EQ(keys, keys_);
      EXPECT_EQ(values, values_);
    }
  }
}

TEST_P(AttentionTest, RoundingToBfloatGoesToTheNearestAndKeepsWhatIsNoNumber) {
  width_ = 1;
  type_ = CacheType::kBF16;
  const std::pair<uint32_t, uint16_t> cases[] = {{0x3F800000, 0x3F80}, {0x3F807FFF, 0x3F80}, {0x3F808000, 0x3F80},
                                                 {0x3F808001, 0x3F81}, {0x3F818000, 0x3F82}, {0x7F7FFFFF, 0x7F80},
                                                 {0x7F800000, 0x7F80}, {0xFF800001, 0xFFC0}, {0x80000001, 0x8000}};
  for (const auto& [bits, expected] : cases) {
    const float value = std::bit_cast<float>(bits);
    std::vector<std::byte> values(2 * ValueBytes(type_, 1));
    kernels().store_value[1](&value, 1, values.data(), 0);
    uint16_t stored;
    std::memcpy(&stored, values.data(), sizeof(stored));
    EXPECT_EQ(stored, expected) << bits;
  }
}

OWML_INSTANTIATE_FOR_EVERY_ISA(AttentionTest);

}  // namespace
}  // namespace owml::test
