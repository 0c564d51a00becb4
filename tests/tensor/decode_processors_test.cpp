// The three decode processors of tensors.md 12, called directly.
// State is followed over whole sequences against an independent loop; every refusal leaves all tensors as they were.
#include <algorithm>
#include <limits>
#include <random>

#include "base/half.h"
#include "tensor/stranger_tensor.h"
#include "tensor/tensor_test_support.h"

namespace owml::test {
namespace {

class DecodeProcessors : public TensorTest {
 protected:
  // Runs with null outputs; the references that come back go into outputs_.
  HRESULT Execute(IWinMLProcessor* processor, std::vector<IWinMLTensor*> inputs, size_t output_count) {
    std::vector<IWinMLTensor*> outputs(output_count, nullptr);
    const HRESULT result = processor->Execute(static_cast<UINT32>(inputs.size()), inputs.data(),
                                              static_cast<UINT32>(output_count), outputs.data());
    outputs_.clear();
    for (IWinMLTensor* output : outputs) {
      outputs_.emplace_back();
      outputs_.back().Attach(output);
    }
    return result;
  }

  ComPtr<IWinMLProcessor> Sample(UINT32 vocabulary, BOOL is_float32, IWinMLTensor* ring, IWinMLTensor* position,
                                 IWinMLTensor* length, IWinMLTensor* observed) {
    ComPtr<IWinMLProcessor> processor;
    EXPECT_EQ(S_OK, processors_->CreateDecodeSampleProcessor(vocabulary, is_float32, ring, position, length, observed,
                                                             processor.GetAddressOf()));
    return processor;
  }

  ComPtr<IWinMLProcessor> Greedy(UINT32 vocabulary, BOOL is_float32, IWinMLTensor* next, IWinMLTensor* position,
                                 IWinMLTensor* state, IWinMLTensor* observed) {
    ComPtr<IWinMLProcessor> processor;
    EXPECT_EQ(S_OK, processors_->CreateDecodeGreedyProcessor(vocabulary, is_float32, next, position, state, observed,
                                                             processor.GetAddressOf()));
    return processor;
  }

  std::vector<ComPtr<IWinMLTensor>> outputs_;
};

void ExpectDesc(const WINML_TENSOR_DESC& desc, WINML_TENSOR_DATA_TYPE type, const std::vector<UINT64>& dims) {
  EXPECT_EQ(desc.dataType, type);
  EXPECT_EQ(std::vector<UINT64>(desc.dimensions, desc.dimensions + desc.dimensionCount), dims);
}

using DecodeEmbed = DecodeProcessors;

TEST_F(DecodeEmbed, TellsItsSchema) {
  const auto hidden = Float16({1, 1, 4}, {0, 0, 0, 0});
  ComPtr<IWinMLProcessor> processor;
  ASSERT_EQ(S_OK, processors_->CreateDecodeEmbedProcessor(10, 4, 6, hidden.Get(), processor.GetAddressOf()));
  UINT32 count = 0;
  ASSERT_EQ(S_OK, processor->GetInputCount(&count));
  EXPECT_EQ(count, 3u);
  ASSERT_EQ(S_OK, processor->GetOutputCount(&count));
  EXPECT_EQ(count, 1u);
  WINML_TENSOR_DESC desc = {};
  ASSERT_EQ(S_OK, processor->GetInputTensorDesc(0, &desc));
  ExpectDesc(desc, WINML_TENSOR_DATA_TYPE_FLOAT16, {10, 4});
  ASSERT_EQ(S_OK, processor->GetInputTensorDesc(1, &desc));
  ExpectDesc(desc, WINML_TENSOR_DATA_TYPE_INT32, {6});
  ASSERT_EQ(S_OK, processor->GetInputTensorDesc(2, &desc));
  ExpectDesc(desc, WINML_TENSOR_DATA_TYPE_INT32, {});
  ASSERT_EQ(S_OK, processor->GetOutputTensorDesc(0, &desc));
  ExpectDesc(desc, WINML_TENSOR_DATA_TYPE_FLOAT16, {1, 1, 4});

  ExpectError(E_INVALIDARG, processor->GetInputTensorDesc(3, &desc), "index is 3, there are 3");
  EXPECT_EQ(desc.dimensions, nullptr);
  ExpectError(E_INVALIDARG, processor->GetOutputTensorDesc(1, &desc), "index is 1, there are 1");
  ExpectError(E_INVALIDARG, processor->GetOutputTensorDesc(UINT32_MAX, &desc), "there are 1");
  ExpectError(E_POINTER, processor->GetInputCount(nullptr), "count is null");
  ExpectError(E_POINTER, processor->GetOutputCount(nullptr), "count is null");
  ExpectError(E_POINTER, processor->GetInputTensorDesc(0, nullptr), "desc is null");
  ExpectError(E_POINTER, processor->GetOutputTensorDesc(0, nullptr), "desc is null");
  EXPECT_FALSE(Query<IWinMLD3D12Processor>(processor.Get()));
}

TEST_F(DecodeEmbed, CopiesTheRowOfTheTokenAtThePosition) {
  std::vector<float> rows(5 * 3);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i) / 4;
  const auto table = Float32({5, 3}, rows);
  const auto tokens = Int32({4}, {4, 0, 2, 1});
  const auto hidden = Float32({1, 3}, {-1, -1, -1});
  ComPtr<IWinMLProcessor> processor;
  ASSERT_EQ(S_OK, processors_->CreateDecodeEmbedProcessor(5, 3, 4, hidden.Get(), processor.GetAddressOf()));
  const std::vector<size_t> ids = {4, 0, 2, 1};
  for (int32_t at = 0; at < 4; ++at) {
    const auto position = Int32({}, {at});
    ASSERT_EQ(S_OK, Execute(processor.Get(), {table.Get(), tokens.Get(), position.Get()}, 1));
    EXPECT_EQ(outputs_[0].Get(), hidden.Get());
    const auto row = rows.begin() + static_cast<ptrdiff_t>(ids[static_cast<size_t>(at)] * 3);
    EXPECT_EQ(Contents<float>(hidden.Get()), std::vector<float>(row, row + 3));
  }
}

TEST_F(DecodeEmbed, TokenOrPositionOutsideIsOutOfBounds) {
  const auto table = Float32({2, 1}, {10, 20});
  const auto hidden = Float32({1}, {-1});
  ComPtr<IWinMLProcessor> processor;
  ASSERT_EQ(S_OK, processors_->CreateDecodeEmbedProcessor(2, 1, 2, hidden.Get(), processor.GetAddressOf()));
  const auto good = Int32({2}, {0, 1});
  for (const int32_t position : {-1, 2, INT32_MAX, INT32_MIN}) {
    ExpectError(E_BOUNDS, Execute(processor.Get(), {table.Get(), good.Get(), Int32({}, {position}).Get()}, 1),
                "the position is " + std::to_string(position));
    EXPECT_EQ(outputs_[0].Get(), nullptr);
  }
  for (const int32_t token : {-1, 2, INT32_MAX, INT32_MIN}) {
    ExpectError(E_BOUNDS,
                Execute(processor.Get(), {table.Get(), Int32({2}, {token, 0}).Get(), Int32({}, {0}).Get()}, 1),
                "the token id is " + std::to_string(token));
  }
  EXPECT_EQ(Contents<float>(hidden.Get()), std::vector<float>{-1});
}

TEST_F(DecodeEmbed, WritesIntoAGivenOutputToo) {
  const auto table = Float32({2, 2}, {1, 2, 3, 4});
  const auto tokens = Int32({1}, {1});
  const auto position = Int32({}, {0});
  const auto hidden = Float32({2}, {0, 0});
  const auto given = Float32({2}, {0, 0});
  ComPtr<IWinMLProcessor> processor;
  ASSERT_EQ(S_OK, processors_->CreateDecodeEmbedProcessor(2, 2, 1, hidden.Get(), processor.GetAddressOf()));
  IWinMLTensor* inputs[] = {table.Get(), tokens.Get(), position.Get()};
  IWinMLTensor* outputs[] = {given.Get()};
  ASSERT_EQ(S_OK, processor->Execute(3, inputs, 1, outputs));
  EXPECT_EQ(outputs[0], given.Get());
  EXPECT_EQ(Contents<float>(given.Get()), (std::vector<float>{3, 4}));
  EXPECT_EQ(Contents<float>(hidden.Get()), (std::vector<float>{3, 4}));

  const auto wrong = Float32({1, 2}, {0, 0});
  outputs[0] = wrong.Get();
  ExpectError(E_INVALIDARG, processor->Execute(3, inputs, 1, outputs), "output 0 is float32 [1, 2], not float32 [2]");
  EXPECT_EQ(outputs[0], wrong.Get());
}

TEST_F(DecodeEmbed, RefusesBadSizesAndTensors) {
  const auto hidden = Float32({1, 4}, {0, 0, 0, 0});
  ComPtr<IWinMLProcessor> processor;
  const auto create = [&](UINT32 vocabulary, UINT32 width, UINT64 capacity, IWinMLTensor* tensor) {
    return processors_->CreateDecodeEmbedProcessor(vocabulary, width, capacity, tensor,
                                                   processor.ReleaseAndGetAddressOf());
  };
  ExpectError(E_POINTER, processors_->CreateDecodeEmbedProcessor(1, 4, 1, hidden.Get(), nullptr), "processor is null");
  ExpectError(E_POINTER, create(1, 4, 1, nullptr), "hiddenOutput is null");
  ExpectError(E_INVALIDARG, create(0, 4, 1, hidden.Get()), "vocabularySize is 0");
  ExpectError(E_INVALIDARG, create(2147483648u, 4, 1, hidden.Get()), "vocabularySize is 2147483648");
  ExpectError(E_INVALIDARG, create(1, 0, 1, hidden.Get()), "hiddenSize is 0");
  ExpectError(E_INVALIDARG, create(1, 4, 0, hidden.Get()), "sequenceCapacity is 0");
  ExpectError(E_INVALIDARG, create(1, 4, 2147483648u, hidden.Get()), "sequenceCapacity is 2147483648");
  ExpectError(E_INVALIDARG, create(1, 5, 1, hidden.Get()), "not one row of 5");
  ExpectError(E_INVALIDARG, create(1, 2, 1, Float32({2, 2}, {0, 0, 0, 0}).Get()), "not one row of 2");
  ExpectError(E_INVALIDARG, create(1, 1, 1, Int32({1}, {0}).Get()), "hiddenOutput is int32 [1]");
  EXPECT_EQ(S_OK, create(2147483647u, 4, 2147483647u, hidden.Get()));
}

using DecodeSample = DecodeProcessors;

TEST_F(DecodeSample, FollowsASequenceUntilTheRingIsFull) {
  std::mt19937 random(3);
  std::uniform_real_distribution<float> logit(-5, 5);
  const auto ring = Int32({6}, {100, 0, 0, 0, 0, 0});
  const auto position = Int64({1}, {0});
  const auto length = Int32({}, {1});
  const auto observed = Int32({1}, {0});
  const auto processor = Sample(50, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  std::vector<int32_t> expected = {100, 0, 0, 0, 0, 0};
  for (int64_t step = 1; step <= 5; ++step) {
    std::vector<float> logits(50);
    for (float& value : logits) value = logit(random);
    const auto token = static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    expected[static_cast<size_t>(step)] = token;
    ASSERT_EQ(S_OK, Execute(processor.Get(), {Float32({1, 50}, logits).Get()}, 4));
    EXPECT_EQ(Contents<int32_t>(ring.Get()), expected);
    EXPECT_EQ(Contents<int64_t>(position.Get()), std::vector<int64_t>{step});
    EXPECT_EQ(Contents<int32_t>(length.Get()), std::vector<int32_t>{static_cast<int32_t>(step + 1)});
    EXPECT_EQ(Contents<int32_t>(observed.Get()), std::vector<int32_t>{token});
    EXPECT_EQ(outputs_[0].Get(), ring.Get());
    EXPECT_EQ(outputs_[1].Get(), position.Get());
    EXPECT_EQ(outputs_[2].Get(), length.Get());
    EXPECT_EQ(outputs_[3].Get(), observed.Get());
  }
  ExpectError(E_BOUNDS, Execute(processor.Get(), {Float32({1, 50}, std::vector<float>(50)).Get()}, 4),
              "no slot after position 5");
  EXPECT_EQ(Contents<int32_t>(ring.Get()), expected);
  EXPECT_EQ(Contents<int64_t>(position.Get()), std::vector<int64_t>{5});
}

TEST_F(DecodeSample, ChoosesAmongHalfLogitsAndTakesTheLowestOnATie) {
  const auto ring = Int32({1, 4}, {0, 0, 0, 0});
  const auto position = Int32({}, {0});
  const auto length = Int64({}, {0});
  const auto observed = Int32({}, {0});
  const auto processor = Sample(4, FALSE, ring.Get(), position.Get(), length.Get(), observed.Get());
  const auto logits = Float16({1, 4}, {FloatToHalf(-1.0f), FloatToHalf(0.25f), FloatToHalf(0.25f), FloatToHalf(-0.5f)});
  ASSERT_EQ(S_OK, Execute(processor.Get(), {logits.Get()}, 4));
  EXPECT_EQ(Contents<int32_t>(observed.Get()), std::vector<int32_t>{1});
}

TEST_F(DecodeSample, APositionOutsideTheRingChangesNothing) {
  const auto logits = Float32({1, 2}, {0, 1});
  for (const int64_t bad : {int64_t{-1}, int64_t{3}, int64_t{4}, INT64_MAX, INT64_MIN}) {
    const auto ring = Int32({4}, {9, 9, 9, 9});
    const auto position = Int64({}, {bad});
    const auto length = Int32({}, {9});
    const auto observed = Int32({}, {9});
    const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
    ExpectError(E_BOUNDS, Execute(processor.Get(), {logits.Get()}, 4), std::to_string(bad));
    EXPECT_EQ(Contents<int32_t>(ring.Get()), std::vector<int32_t>(4, 9));
    EXPECT_EQ(Contents<int64_t>(position.Get()), std::vector<int64_t>{bad});
    EXPECT_EQ(Contents<int32_t>(observed.Get()), std::vector<int32_t>{9});
  }
}

TEST_F(DecodeSample, RefusesBadTensorsWhenItIsMade) {
  const auto ring = Int32({4}, {0, 0, 0, 0});
  const auto one = Int32({}, {0}), two = Int32({1}, {0}), three = Int32({1, 1}, {0});
  ComPtr<IWinMLProcessor> processor;
  const auto create = [&](UINT32 vocabulary, IWinMLTensor* a, IWinMLTensor* b, IWinMLTensor* c, IWinMLTensor* d) {
    return processors_->CreateDecodeSampleProcessor(vocabulary, TRUE, a, b, c, d, processor.ReleaseAndGetAddressOf());
  };
  ExpectError(E_POINTER,
              processors_->CreateDecodeSampleProcessor(1, TRUE, ring.Get(), one.Get(), two.Get(), three.Get(), nullptr),
              "processor is null");
  ExpectError(E_POINTER, create(1, nullptr, one.Get(), two.Get(), three.Get()), "tokenRing is null");
  ExpectError(E_POINTER, create(1, ring.Get(), nullptr, two.Get(), three.Get()), "position is null");
  ExpectError(E_POINTER, create(1, ring.Get(), one.Get(), nullptr, three.Get()), "sequenceLength is null");
  ExpectError(E_POINTER, create(1, ring.Get(), one.Get(), two.Get(), nullptr), "observedToken is null");
  ExpectError(E_INVALIDARG, create(0, ring.Get(), one.Get(), two.Get(), three.Get()), "vocabularySize");
  ExpectError(E_INVALIDARG, create(1, Int64({1}, {0}).Get(), one.Get(), two.Get(), three.Get()), "tokenRing is int64");
  ExpectError(E_INVALIDARG, create(1, Int32({0}, {}).Get(), one.Get(), two.Get(), three.Get()),
              "tokenRing is int32 [0]");
  ExpectError(E_INVALIDARG, create(1, ring.Get(), Int32({2}, {0, 0}).Get(), two.Get(), three.Get()),
              "position is int32 [2]");
  ExpectError(E_INVALIDARG, create(1, ring.Get(), one.Get(), Float32({}, {0}).Get(), three.Get()),
              "sequenceLength is float32");
  ExpectError(E_INVALIDARG, create(1, ring.Get(), one.Get(), two.Get(), Int64({}, {0}).Get()),
              "observedToken is int64");
  ExpectError(E_INVALIDARG, create(1, ring.Get(), one.Get(), one.Get(), three.Get()),
              "position and sequenceLength are the same tensor");
  EXPECT_FALSE(processor);
  EXPECT_EQ(S_OK, create(2147483647u, ring.Get(), one.Get(), two.Get(), three.Get()));
}

TEST_F(DecodeSample, KeepsItsTensorsAlive) {
  auto ring = Int32({4}, {0, 0, 0, 0});
  auto position = Int32({}, {0}), length = Int32({}, {0}), observed = Int32({}, {0});
  const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  ring.Reset();
  position.Reset();
  length.Reset();
  observed.Reset();
  ASSERT_EQ(S_OK, Execute(processor.Get(), {Float32({1, 2}, {0, 1}).Get()}, 4));
  EXPECT_EQ(Contents<int32_t>(outputs_[0].Get()), (std::vector<int32_t>{0, 1, 0, 0}));
}

TEST_F(DecodeSample, ChecksTheCallBeforeItDoesAnything) {
  const auto ring = Int32({4}, {0, 0, 0, 0});
  const auto position = Int32({}, {0}), length = Int32({}, {0}), observed = Int32({}, {0});
  const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  const auto logits = Float32({1, 2}, {0, 1});
  IWinMLTensor* inputs[] = {logits.Get(), logits.Get()};
  IWinMLTensor* outputs[5] = {};
  ExpectError(E_INVALIDARG, processor->Execute(0, inputs, 4, outputs), "inputCount is 0, not 1");
  ExpectError(E_INVALIDARG, processor->Execute(2, inputs, 4, outputs), "inputCount is 2, not 1");
  ExpectError(E_INVALIDARG, processor->Execute(1, inputs, 3, outputs), "outputCount is 3, not 4");
  ExpectError(E_INVALIDARG, processor->Execute(1, inputs, 5, outputs), "outputCount is 5, not 4");
  ExpectError(E_POINTER, processor->Execute(1, nullptr, 4, outputs), "inputs is null");
  ExpectError(E_POINTER, processor->Execute(1, inputs, 4, nullptr), "outputs is null");
  inputs[0] = nullptr;
  ExpectError(E_POINTER, processor->Execute(1, inputs, 4, outputs), "input 0 is null");
  ExpectError(E_INVALIDARG, Execute(processor.Get(), {Float32({2}, {0, 1}).Get()}, 4),
              "input 0 is float32 [2], not float32 [1, 2]");
  ExpectError(E_INVALIDARG, Execute(processor.Get(), {Float16({1, 2}, {0, 1}).Get()}, 4), "float16 [1, 2]");
  ExpectError(E_INVALIDARG, Execute(processor.Get(), {Float32({1, 3}, {0, 1, 2}).Get()}, 4), "float32 [1, 3]");
  for (IWinMLTensor* output : outputs) EXPECT_EQ(output, nullptr);
  EXPECT_EQ(Contents<int32_t>(position.Get()), std::vector<int32_t>{0});
}

TEST_F(DecodeSample, GivenOutputsReceiveCopiesAndTheirOwnTensorsAreRecognised) {
  const auto ring = Int32({3}, {5, 0, 0});
  const auto position = Int32({}, {0}), length = Int32({}, {0}), observed = Int32({}, {0});
  const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  const auto logits = Float32({1, 2}, {0, 1});
  const auto given =
      NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {3}, {7, 7, 7}, {.needs_synchronization = true});
  IWinMLTensor* inputs[] = {logits.Get()};
  IWinMLTensor* outputs[] = {given.Get(), position.Get(), nullptr, observed.Get()};
  ASSERT_EQ(S_OK, processor->Execute(1, inputs, 4, outputs));
  EXPECT_EQ(outputs[0], given.Get());
  EXPECT_EQ(outputs[1], position.Get());
  EXPECT_EQ(outputs[2], length.Get());
  outputs[2]->Release();
  EXPECT_EQ(given->bytes(), (std::vector<BYTE>{5, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(given->references(), 1u);
  EXPECT_EQ(Contents<int32_t>(ring.Get()), (std::vector<int32_t>{5, 1, 0}));
}

TEST_F(DecodeSample, ALockedStateTensorStopsTheStep) {
  const auto ring = Int32({3}, {5, 0, 0});
  const auto position = Int32({}, {0}), length = Int32({}, {0}), observed = Int32({}, {0});
  const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  const auto reader = LockOf(observed.Get(), WINML_TENSOR_LOCK_MODE_READ);
  ExpectError(kLocked, Execute(processor.Get(), {Float32({1, 2}, {0, 1}).Get()}, 4), "observedToken");
  EXPECT_EQ(Contents<int32_t>(ring.Get()), (std::vector<int32_t>{5, 0, 0}));
  EXPECT_EQ(Contents<int32_t>(position.Get()), std::vector<int32_t>{0});
}

TEST_F(DecodeSample, WorksOnStrangersAndNoticesWhenTheyChange) {
  const auto ring = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {2}, {5, 0}, {.needs_synchronization = true});
  const auto position = Int32({}, {0}), length = Int32({}, {0}), observed = Int32({}, {0});
  const auto processor = Sample(2, TRUE, ring.Get(), position.Get(), length.Get(), observed.Get());
  ASSERT_EQ(S_OK, Execute(processor.Get(), {Float32({1, 2}, {0, 1}).Get()}, 4));
  EXPECT_EQ(ring->bytes(), (std::vector<BYTE>{5, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(ring->commits, 1);

  const auto shifting = NewStranger<int32_t>(WINML_TENSOR_DATA_TYPE_INT32, {1}, {5, 0, 0, 0}, {.grows = true});
  const auto other = Sample(2, TRUE, shifting.Get(), position.Get(), length.Get(), observed.Get());
  ExpectError(E_INVALIDARG, Execute(other.Get(), {Float32({1, 2}, {0, 1}).Get()}, 4),
              "tokenRing is int32 [3], not int32 [2]");
}

using DecodeGreedy = DecodeProcessors;

TEST_F(DecodeGreedy, AdvancesASequenceLength) {
  const auto next = Int64({1, 1}, {0});
  const auto position = Int32({}, {4});
  const auto length = Int64({}, {5});
  const auto observed = Int32({1}, {0});
  const auto processor = Greedy(3, TRUE, next.Get(), position.Get(), length.Get(), observed.Get());
  ASSERT_EQ(S_OK, Execute(processor.Get(), {Float32({1, 3}, {0, 2, 1}).Get()}, 4));
  EXPECT_EQ(Contents<int64_t>(next.Get()), std::vector<int64_t>{1});
  EXPECT_EQ(Contents<int32_t>(position.Get()), std::vector<int32_t>{5});
  EXPECT_EQ(Contents<int64_t>(length.Get()), std::vector<int64_t>{6});
  EXPECT_EQ(Contents<int32_t>(observed.Get()), std::vector<int32_t>{1});
  EXPECT_EQ(outputs_[0].Get(), next.Get());
  EXPECT_EQ(outputs_[2].Get(), length.Get());
}

TEST_F(DecodeGreedy, OpensTheMaskAtTheNewPosition) {
  const float hidden = -3.0e38f;
  const auto next = Int32({}, {0}), position = Int32({}, {0}), observed = Int32({}, {0});
  const auto mask = Float32({1, 1, 1, 3}, {0, hidden, hidden});
  const auto processor = Greedy(2, TRUE, next.Get(), position.Get(), mask.Get(), observed.Get());
  const auto logits = Float32({1, 2}, {0, 1});
  ASSERT_EQ(S_OK, Execute(processor.Get(), {logits.Get()}, 4));
  EXPECT_EQ(Contents<float>(mask.Get()), (std::vector<float>{0, 0, hidden}));
  ASSERT_EQ(S_OK, Execute(processor.Get(), {logits.Get()}, 4));
  EXPECT_EQ(Contents<float>(mask.Get()), (std::vector<float>{0, 0, 0}));
  ExpectError(E_BOUNDS, Execute(processor.Get(), {logits.Get()}, 4), "the mask has 3 entries");
  EXPECT_EQ(Contents<int32_t>(position.Get()), std::vector<int32_t>{2});
}

TEST_F(DecodeGreedy, OpensAHalfMaskAndChoosesAmongHalfLogits) {
  const uint16_t hidden = FloatToHalf(-65504.0f);
  const auto next = Int32({}, {0}), position = Int64({}, {0}), observed = Int32({}, {0});
  const auto mask = Float16({2}, {0, hidden});
  const auto processor = Greedy(2, FALSE, next.Get(), position.Get(), mask.Get(), observed.Get());
  ASSERT_EQ(S_OK, Execute(processor.Get(), {Float16({1, 2}, {FloatToHalf(-2.0f), FloatToHalf(-1.0f)}).Get()}, 4));
  EXPECT_EQ(Contents<uint16_t>(mask.Get()), (std::vector<uint16_t>{0, 0}));
  EXPECT_EQ(Contents<int32_t>(next.Get()), std::vector<int32_t>{1});
}

TEST_F(DecodeGreedy, APositionThatCannotAdvanceChangesNothing) {
  const auto logits = Float32({1, 2}, {0, 1});
  const auto next = Int32({}, {9}), observed = Int32({}, {9});
  const auto refuse = [&](const ComPtr<IWinMLTensor>& position, const ComPtr<IWinMLTensor>& state, const char* words) {
    const auto before = Contents<BYTE>(position.Get()), state_before = Contents<BYTE>(state.Get());
    const auto processor = Greedy(2, TRUE, next.Get(), position.Get(), state.Get(), observed.Get());
    ExpectError(E_BOUNDS, Execute(processor.Get(), {logits.Get()}, 4), words);
    EXPECT_EQ(Contents<BYTE>(position.Get()), before);
    EXPECT_EQ(Contents<BYTE>(state.Get()), state_before);
    EXPECT_EQ(Contents<int32_t>(next.Get()), std::vector<int32_t>{9});
  };
  refuse(Int32({}, {-1}), Int32({}, {0}), "below zero");
  refuse(Int64({}, {INT64_MIN}), Float32({2}, {0, 0}), "below zero");
  refuse(Int32({}, {INT32_MAX}), Int64({}, {0}), "its type ends there");
  refuse(Int64({}, {INT64_MAX}), Float32({2}, {0, 0}), "its type ends there");
  refuse(Int64({}, {INT32_MAX - 1}), Int32({}, {0}), "the type of stepState ends there");
  refuse(Int64({}, {int64_t{1} << 62}), Float32({2}, {0, 0}), "the mask has 2 entries");
}

TEST_F(DecodeGreedy, RefusesBadTensorsWhenItIsMade) {
  const auto one = Int32({}, {0}), two = Int32({1}, {0}), three = Int32({1, 1}, {0}), four = Int32({}, {0});
  ComPtr<IWinMLProcessor> processor;
  const auto create = [&](UINT32 vocabulary, IWinMLTensor* a, IWinMLTensor* b, IWinMLTensor* c, IWinMLTensor* d) {
    return processors_->CreateDecodeGreedyProcessor(vocabulary, TRUE, a, b, c, d, processor.ReleaseAndGetAddressOf());
  };
  ExpectError(E_POINTER,
              processors_->CreateDecodeGreedyProcessor(1, TRUE, one.Get(), two.Get(), three.Get(), four.Get(), nullptr),
              "processor is null");
  ExpectError(E_POINTER, create(1, nullptr, two.Get(), three.Get(), four.Get()), "nextToken is null");
  ExpectError(E_POINTER, create(1, one.Get(), nullptr, three.Get(), four.Get()), "position is null");
  ExpectError(E_POINTER, create(1, one.Get(), two.Get(), nullptr, four.Get()), "stepState is null");
  ExpectError(E_POINTER, create(1, one.Get(), two.Get(), three.Get(), nullptr), "observedToken is null");
  ExpectError(E_INVALIDARG, create(2147483648u, one.Get(), two.Get(), three.Get(), four.Get()), "vocabularySize");
  ExpectError(E_INVALIDARG, create(1, Float32({}, {0}).Get(), two.Get(), three.Get(), four.Get()),
              "nextToken is float32");
  ExpectError(E_INVALIDARG, create(1, one.Get(), Int32({0}, {}).Get(), three.Get(), four.Get()),
              "position is int32 [0]");
  ExpectError(E_INVALIDARG, create(1, one.Get(), two.Get(), Int32({2}, {0, 0}).Get(), four.Get()),
              "stepState is int32 [2]");
  ExpectError(E_INVALIDARG, create(1, one.Get(), two.Get(), Float16({3}, {0, 0, 0}).Get(), four.Get()), "even number");
  ExpectError(E_INVALIDARG, create(1, one.Get(), two.Get(), Float32({0}, {}).Get(), four.Get()),
              "stepState is float32 [0]");
  ExpectError(
      E_INVALIDARG,
      create(1, one.Get(), two.Get(), NewTensor<double>(WINML_TENSOR_DATA_TYPE_FLOAT64, {1}, {0}).Get(), four.Get()),
      "stepState is float64");
  ExpectError(E_INVALIDARG, create(1, one.Get(), two.Get(), three.Get(), Int64({}, {0}).Get()),
              "observedToken is int64");
  ExpectError(E_INVALIDARG, create(1, one.Get(), two.Get(), three.Get(), one.Get()), "nextToken and observedToken");
  EXPECT_EQ(S_OK, create(1, one.Get(), two.Get(), Float32({3}, {0, 0, 0}).Get(), four.Get()));
}

}  // namespace
}  // namespace owml::test
