// Several sequences in one batch: each gets what it would get alone, whatever its slot and company.
#include "backend/native/sequences.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "backend/native/random_models.h"
#include "backend/native/sequences_fixture.h"

namespace owml::test {
namespace {

using native::Continuation;
using native::ForwardSettings;
using native::LogitRows;
using native::Sequences;
using testing::HasSubstr;

using Logits = std::vector<float>;
using Tokens = std::vector<int32_t>;

// The logits after each token of a sequence that has the engine for itself.
Logits Alone(const std::shared_ptr<const native::ModelWeights>& weights, const Tokens& tokens,
             ForwardSettings settings) {
  settings.batch_size = 512;
  settings.threads = 1;
  settings.slots = 1;
  const auto sequences = MakeSequences(weights, settings);
  return Append(*sequences, sequences->Add().value(), tokens, LogitRows::kAll);
}

std::span<const float> Row(const Logits& logits, size_t row) {
  return std::span(logits).subspan(row * kTinyVocabulary, kTinyVocabulary);
}

// Continues sequences by seeded pieces of up to `longest` tokens, in an order and with wishes that change from step to
// step, and compares every row with the one that the sequence gets alone.
void ExpectRowsOfAlone(Sequences& sequences, const std::vector<Tokens>& texts, const std::vector<Logits>& expected,
                       size_t longest, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<uint32_t> slots;
  std::vector<size_t> order(texts.size());
  std::iota(order.begin(), order.end(), 0u);
  for (size_t i = 0; i < texts.size(); ++i) slots.push_back(sequences.Add().value());
  while (true) {
    std::shuffle(order.begin(), order.end(), random);
    std::vector<Continuation> step;
    std::vector<std::span<const float>> rows;
    for (const size_t i : order) {
      const size_t position = sequences.position(slots[i]);
      const size_t count = std::min(texts[i].size() - position, 1 + random() % longest);
      if (count == 0) continue;
      const auto wish = static_cast<LogitRows>(random() % 3);
      step.push_back({slots[i], std::span(texts[i]).subspan(position, count), wish});
      if (wish == LogitRows::kLast) rows.push_back(Row(expected[i], position + count - 1));
      for (size_t j = 0; wish == LogitRows::kAll && j < count; ++j) rows.push_back(Row(expected[i], position + j));
    }
    if (step.empty()) return;
    Logits logits(rows.size() * kTinyVocabulary);
    sequences.Step(step, {logits});
    for (size_t row = 0; row < rows.size(); ++row) {
      ASSERT_TRUE(std::ranges::equal(Row(logits, row), rows[row])) << "row " << row << " of " << rows.size();
    }
  }
}

class SequencesOfModelsTest : public testing::TestWithParam<RandomModel> {
 protected:
  void SetUp() override {
    weights_ = LoadWeights(folder_.Write("random.gguf", RandomModelFile(GetParam()).Bytes()));
    // Short and long, beyond windows and more than one segment of attention.
    for (const size_t length : {1, 31, 560, 140}) {
      texts_.push_back(RandomTokens(length, kTinyVocabulary, static_cast<uint32_t>(length)));
      expected_.push_back(Alone(weights_, texts_.back(), {.capacity = 560}));
    }
  }

  TemporaryFolder folder_;
  std::shared_ptr<const native::ModelWeights> weights_;
  std::vector<Tokens> texts_;
  std::vector<Logits> expected_;
};

TEST_P(SequencesOfModelsTest, LogitsAreThoseOfASequenceAloneBitForBit) {
  for (const uint32_t threads : {1, 3}) {
    for (const uint32_t batch : {5, 64}) {
      const auto sequences =
          MakeSequences(weights_, {.capacity = 560, .batch_size = batch, .threads = threads, .slots = 4});
      ExpectRowsOfAlone(*sequences, texts_, expected_, /*longest=*/40, threads + batch);
    }
  }
}

// As generating does it, past the first segment.
TEST_P(SequencesOfModelsTest, SingleTokensOfFourSequencesAreThoseOfSequencesAlone) {
  const auto sequences = MakeSequences(weights_, {.capacity = 560, .batch_size = 64, .threads = 4, .slots = 4});
  for (uint32_t slot = 0; slot < 4; ++slot) {
    ASSERT_EQ(sequences->Add(), slot);
    Append(*sequences, slot, std::span(texts_[2]).first(510 + 10 * slot));
  }
  for (size_t i = 0; i < 4; ++i) {
    std::vector<Continuation> step;
    for (uint32_t slot = 0; slot < 4; ++slot) {
      step.push_back({slot, std::span(texts_[2]).subspan(sequences->position(slot), 1)});
    }
    Logits logits(4 * kTinyVocabulary);
    sequences->Step(step, {logits});
    for (uint32_t slot = 0; slot < 4; ++slot) {
      ASSERT_TRUE(std::ranges::equal(Row(logits, slot), Row(expected_[2], 510 + 10 * slot + i))) << slot;
    }
  }
}

// The `count` highest of whole rows, as a sampler ranks them.
std::vector<TokenLogit> BestOf(std::span<const float> logits, size_t count) {
  std::vector<TokenLogit> all;
  for (size_t i = 0; i < logits.size(); ++i) all.push_back({static_cast<int32_t>(i), logits[i]});
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.logit > b.logit; });
  all.resize(count);
  return all;
}

bool Same(std::span<const TokenLogit> a, std::span<const TokenLogit> b) {
  return std::ranges::equal(a, b,
                            [](const auto& x, const auto& y) { return x.token == y.token && x.logit == y.logit; });
}

TEST_P(SequencesOfModelsTest, TheBestTokensAreThoseOfWholeRowsBesideSequencesThatGetThese) {
  for (const uint32_t threads : {1, 3}) {
    const auto sequences =
        MakeSequences(weights_, {.capacity = 560, .batch_size = 64, .threads = threads, .slots = 4, .best = 12});
    std::vector<Continuation> step;
    for (uint32_t slot = 0; slot < 4; ++slot) {
      sequences->Add();
      step.push_back({slot, texts_[slot], LogitRows::kLast, /*best=*/slot % 2 == 1});
    }
    step[3].rows = LogitRows::kAll;
    for (const uint32_t count : {1u, 12u}) {
      Logits logits(2 * kTinyVocabulary);
      std::vector<TokenLogit> best((1 + texts_[3].size()) * count);
      sequences->Step(step, {.logits = logits, .best = best, .best_count = count});
      for (uint32_t slot = 0; slot < 4; ++slot) sequences->RewindTo(slot, 0);
      EXPECT_TRUE(std::ranges::equal(Row(logits, 0), Row(expected_[0], 0)));
      EXPECT_TRUE(std::ranges::equal(Row(logits, 1), Row(expected_[2], texts_[2].size() - 1)));
      EXPECT_TRUE(Same(std::span(best).first(count), BestOf(Row(expected_[1], texts_[1].size() - 1), count)));
      for (size_t i = 0; i < texts_[3].size(); ++i) {
        ASSERT_TRUE(Same(std::span(best).subspan((1 + i) * count, count), BestOf(Row(expected_[3], i), count))) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Model, SequencesOfModelsTest, testing::ValuesIn(RandomModels()), ModelName);

constexpr ForwardSettings kTiny = {.capacity = 64, .batch_size = 16, .threads = 1};

class SequencesTest : public testing::Test {
 protected:
  void SetUp() override { weights_ = LoadWeights(folder_.Write("tiny.gguf", TinyLlama().Bytes())); }
  std::unique_ptr<Sequences> Make(uint32_t slots) const {
    ForwardSettings settings = kTiny;
    settings.slots = slots;
    return MakeSequences(weights_, settings);
  }

  TemporaryFolder folder_;
  std::shared_ptr<const native::ModelWeights> weights_;
};

TEST_F(SequencesTest, EveryTypeOfCacheAndWeightsGivesTheBitsOfASequenceAlone) {
  for (const GgmlType type : {GgmlType::kF16, GgmlType::kQ8_0, GgmlType::kQ4_1}) {
    const auto weights = LoadWeights(folder_.Write("quantized.gguf", RandomLlama(type)));
    for (const auto cache : {kernels::CacheType::kF16, kernels::CacheType::kBF16, kernels::CacheType::kQ8}) {
      std::vector<Tokens> texts;
      std::vector<Logits> expected;
      for (const size_t length : {20, 70, 3}) {
        texts.push_back(RandomTokens(length, kTinyVocabulary, static_cast<uint32_t>(length)));
        expected.push_back(Alone(weights, texts.back(), {.capacity = 70, .cache_type = cache}));
      }
      const auto sequences =
          MakeSequences(weights, {.capacity = 70, .batch_size = 16, .threads = 2, .cache_type = cache, .slots = 3});
      ExpectRowsOfAlone(*sequences, texts, expected, /*longest=*/9, 1);
    }
  }
}

TEST_F(SequencesTest, ASlotThatIsFreeAgainBeginsEmpty) {
  const auto sequences = Make(2);
  EXPECT_EQ(sequences->Add(), 0u);
  EXPECT_EQ(sequences->Add(), 1u);
  EXPECT_EQ(sequences->Add(), std::nullopt);
  Append(*sequences, 0, RandomTokens(40, kTinyVocabulary, 1));
  const Tokens text = RandomTokens(30, kTinyVocabulary, 2);
  sequences->Remove(0);
  EXPECT_EQ(sequences->Add(), 0u);
  EXPECT_EQ(sequences->position(0), 0u);
  EXPECT_EQ(Append(*sequences, 0, text, LogitRows::kAll), Alone(weights_, text, kTiny));
}

TEST_F(SequencesTest, RewindingOneSequenceLeavesTheOthers) {
  const auto sequences = Make(3);
  const Tokens text = RandomTokens(30, kTinyVocabulary), other = RandomTokens(30, kTinyVocabulary, 9);
  for (uint32_t slot = 0; slot < 3; ++slot) {
    sequences->Add();
    Append(*sequences, slot, std::span(text).first(20));
  }
  sequences->RewindTo(1, 5);
  Tokens changed(text.begin(), text.begin() + 5);
  changed.insert(changed.end(), other.begin(), other.end());
  const Continuation step[] = {{0, std::span(text).subspan(20)}, {1, other}, {2, std::span(text).subspan(20)}};
  Logits logits(3 * kTinyVocabulary);
  sequences->Step(step, {logits});
  const Logits plain = Alone(weights_, text, kTiny), rewound = Alone(weights_, changed, kTiny);
  EXPECT_TRUE(std::ranges::equal(Row(logits, 0), Row(plain, text.size() - 1)));
  EXPECT_TRUE(std::ranges::equal(Row(logits, 1), Row(rewound, changed.size() - 1)));
  EXPECT_TRUE(std::ranges::equal(Row(logits, 2), Row(plain, text.size() - 1)));
  EXPECT_EQ(FailureOf([&] { sequences->RewindTo(1, 36); }).code, E_INVALIDARG);
  EXPECT_EQ(sequences->position(1), 35u);
}

TEST_F(SequencesTest, ARefusedStepAppendsToNoSequence) {
  const auto sequences = Make(3);
  sequences->Add();
  sequences->Add();
  Append(*sequences, 0, RandomTokens(60, kTinyVocabulary));
  const Tokens good = {1, 2, 3}, outside = {4, kTinyVocabulary}, five = {1, 2, 3, 4, 5};
  const struct {
    Continuation second;
    HRESULT code;
    const char* sentence;
  } kRefusals[] = {
      {{0, five}, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), "sequence 0: 5 tokens at position 60 do not fit"},
      {{0, outside}, E_INVALIDARG, "sequence 0: token id 259"},
      {{0, {}}, E_INVALIDARG, "sequence 0: there are no tokens"},
      {{1, good}, E_INVALIDARG, "sequence 1: it stands twice"},
      {{2, good}, E_INVALIDARG, "no sequence in slot 2 of 3"},
      {{77, good}, E_INVALIDARG, "no sequence in slot 77 of 3"},
      {{0, good, LogitRows::kAll}, HRESULT_FROM_WIN32(ERROR_INSUFFICIENT_BUFFER), "4 rows of 259 logits"},
      {{0, good, LogitRows::kLast, /*best=*/true}, E_INVALIDARG, "the 0 highest logits"},
  };
  for (const auto& refusal : kRefusals) {
    const Continuation step[] = {{1, good}, refusal.second};
    Logits logits(3 * kTinyVocabulary);
    const Failure failure = FailureOf([&] { sequences->Step(step, {logits}); });
    EXPECT_EQ(failure.code, refusal.code) << failure.sentence;
    EXPECT_THAT(failure.sentence, HasSubstr(refusal.sentence));
    EXPECT_EQ(sequences->position(0), 60u);
    EXPECT_EQ(sequences->position(1), 0u);
  }
  EXPECT_EQ(FailureOf([&] { sequences->Step({}, {}); }).code, E_INVALIDARG);
}

TEST_F(SequencesTest, ACancelledStepAppendsToNoSequence) {
  struct Canceled : CancellationCheck {
    bool canceled() noexcept override { return --looks < 0; }
    int looks = 3;
  } check;
  const auto sequences = Make(2);
  const Tokens text = RandomTokens(40, kTinyVocabulary);
  for (uint32_t slot = 0; slot < 2; ++slot) {
    sequences->Add();
    Append(*sequences, slot, std::span(text).first(10));
  }
  const Continuation step[] = {{0, std::span(text).subspan(10)}, {1, std::span(text).subspan(10)}};
  Logits logits(2 * kTinyVocabulary);
  EXPECT_EQ(FailureOf([&] { sequences->Step(step, {logits}, &check); }).code, HRESULT_FROM_WIN32(ERROR_CANCELLED));
  EXPECT_EQ(sequences->position(0), 10u);
  EXPECT_EQ(sequences->position(1), 10u);
  sequences->Step(step, {logits});
  const Logits expected = Alone(weights_, text, kTiny);
  for (uint32_t slot = 0; slot < 2; ++slot) {
    EXPECT_TRUE(std::ranges::equal(Row(logits, slot), Row(expected, text.size() - 1)));
  }
}

TEST_F(SequencesTest, AnImpossibleNumberOfSequencesIsRefused) {
  for (const uint32_t slots : {0u, native::kMaxSequences + 1, UINT32_MAX}) {
    const Failure failure = FailureOf([&] { Make(slots); });
    EXPECT_EQ(failure.code, E_INVALIDARG);
    EXPECT_THAT(failure.sentence, HasSubstr(std::to_string(slots) + " sequences"));
  }
}

}  // namespace
}  // namespace owml::test
