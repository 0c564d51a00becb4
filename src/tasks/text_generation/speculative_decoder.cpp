// Rows are sampled in order while the sample is the draft; the first other one ends the step.
// See speculative_decoder.h.
#include "tasks/text_generation/speculative_decoder.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace owml {

SpeculativeDecoder::SpeculativeDecoder(Sequence* sequence, std::function<bool(uint32_t)> ends)
    : sequence_(sequence), ends_(std::move(ends)), statistics_{sequence->drafting()->method(), 0, 0, 0} {
  sequence_->drafting()->Begin();
}

// Ends and stops are for the sampler to find; drafts behind one would be consumed for nothing.
std::vector<uint32_t> SpeculativeDecoder::Draft(std::span<const uint32_t> history, uint64_t most) {
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(sequence_->drafting()->pacing().Count(), most));
  std::vector<uint32_t> drafts = sequence_->drafting()->Propose(history, count);
  const uint64_t ids = sequence_->pipelines().vocabulary_size();
  const auto end = std::find_if(drafts.begin(), drafts.end(), [&](uint32_t token) {
    return ends_(token) || token > INT32_MAX || (ids != 0 && token >= ids);
  });
  drafts.erase(end, drafts.end());
  if (drafts.size() > count) drafts.resize(count);
  return drafts;
}

uint32_t SpeculativeDecoder::Next(std::span<const uint32_t> history, uint64_t most, uint64_t room,
                                  SamplingChain* chain) {
  if (!ready_.empty()) {
    const uint32_t token = ready_.front();
    ready_.pop_front();
    return token;
  }
  const auto start = std::chrono::steady_clock::now();
  const uint32_t pending = history.back();
  const std::vector<uint32_t> drafts = Draft(history, std::min(most, room) - 1);
  uint32_t kept = 0;
  if (drafts.empty()) {
    sequence_->RunToken(pending);
    GenerationPipelines& pipelines = sequence_->pipelines();
    ready_.push_back(chain->Pick(pipelines.ReadLogits()));
    pipelines.ReleaseLogits();
    if (!ends_(ready_.back())) chain->Accept(ready_.back());
  } else {
    std::vector<uint32_t> tokens = {pending};
    tokens.insert(tokens.end(), drafts.begin(), drafts.end());
    const LogitRowsView rows = sequence_->StepAll(tokens);
    while (true) {
      const uint32_t token = chain->Pick(rows.Row(kept));
      ready_.push_back(token);
      if (ends_(token)) break;
      chain->Accept(token);
      if (kept == drafts.size() || token != drafts[kept]) break;
      ++kept;
    }
    sequence_->Commit(std::span(tokens).first(1 + kept));
    ++statistics_.verificationStepCount;
    statistics_.draftTokenCount += static_cast<UINT32>(drafts.size());
    statistics_.acceptedDraftTokenCount += kept;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  sequence_->drafting()->pacing().Observe(static_cast<uint32_t>(drafts.size()), kept, took.count());
  const uint32_t token = ready_.front();
  ready_.pop_front();
  return token;
}

}  // namespace owml
