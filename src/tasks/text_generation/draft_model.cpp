// Each proposal first brings the model's sequence to that of the target.
// See draft_model.h.
#include "tasks/text_generation/draft_model.h"

#include <algorithm>

#include "com/guard.h"

namespace owml {

DraftModel::DraftModel(const DraftParts& parts, IWinMLExecutionTarget* token_target)
    : parts_(parts),
      input_(parts.token_input.stage.Get(), parts.token_input.index, token_target, "the draft token input"),
      output_(parts.output.stage.Get(), parts.output.index, WINML_TEXT_GENERATION_OUTPUT_KIND_LOGITS,
              "the draft output"),
      state_(Query<IWinMLStatefulStage>(parts.state_owner.Get())) {
  Require(state_ != nullptr, E_INVALIDARG, "the draft state owner stage keeps no sequence (IWinMLStatefulStage)");
  Require(input_.fixed_length() <= 1, E_INVALIDARG,
          "the draft token input takes " + std::to_string(input_.fixed_length()) + " tokens a run");
}

DraftModel::~DraftModel() {
  output_.ReleaseLogits();
  input_.Unbind();
  if (published_) output_.Withdraw();
}

bool DraftModel::Fits(size_t tokens) const {
  UINT64 capacity = 0;
  if (FAILED(state_->GetSequenceCapacity(&capacity))) return false;
  return capacity == 0 || tokens <= capacity;
}

// A run that fails leaves nothing known.
void DraftModel::Run(std::span<const uint32_t> tokens) {
  const size_t length = input_.fixed_length() == 1 ? 1 : tokens.size();
  for (size_t done = 0; done < tokens.size(); done += length) {
    const auto piece = tokens.subspan(done, length);
    output_.ReleaseLogits();
    input_.Bind(piece);
    ClearThreadError();
    const HRESULT result = parts_.pipeline->Run();
    if (FAILED(result)) {
      lost_ = true;
      ThrowResult(result, "running the draft pipeline");
    }
    consumed_.insert(consumed_.end(), piece.begin(), piece.end());
  }
}

bool DraftModel::Follow(std::span<const uint32_t> sequence) {
  const uint64_t ids = output_.vocabulary_size() ? output_.vocabulary_size() : uint64_t{INT32_MAX} + 1;
  const auto differ = std::mismatch(consumed_.begin(), consumed_.end(), sequence.begin(), sequence.end());
  // The last token runs again where everything is known, because its logits are needed.
  size_t keep = std::min<size_t>(static_cast<size_t>(differ.second - sequence.begin()), sequence.size() - 1);
  const auto unknown = [&](uint32_t token) { return token >= ids; };
  if (std::any_of(sequence.begin() + static_cast<ptrdiff_t>(keep), sequence.end(), unknown)) return false;
  if (keep != consumed_.size()) {
    const bool back = keep != 0 && SUCCEEDED(state_->RewindTo(keep));
    // One that remembers a part only begins anew; one that cannot take its own drafts back would do so all the time.
    const bool anew = !back && (keep == 0 || consumed_.size() - keep > proposed_);
    lost_ = !back && !(anew && SUCCEEDED(parts_.pipeline->ResetExecutionState()));
    if (lost_) return false;
    if (anew) keep = 0;
    consumed_.resize(keep);
  }
  Run(sequence.subspan(keep));
  return true;
}

std::vector<uint32_t> DraftModel::Propose(std::span<const uint32_t> sequence, uint32_t most) {
  std::vector<uint32_t> drafts;
  if (lost_ || sequence.empty() || most == 0 || !Fits(sequence.size() + most)) return drafts;
  if (!published_) {
    output_.Publish();
    published_ = true;
    ClearThreadError();
    CheckResult(parts_.pipeline->ResetExecutionState(), "resetting the draft pipeline");
  }
  if (!Follow(sequence)) return drafts;
  proposed_ = most;
  while (true) {
    const std::span<const float> logits = output_.ReadLogits();
    size_t best = 0;
    for (size_t i = 1; i < logits.size(); ++i) {
      if (logits[i] > logits[best] || logits[best] != logits[best]) best = i;  // not a number never stays
    }
    output_.ReleaseLogits();
    drafts.push_back(static_cast<uint32_t>(best));
    if (drafts.size() == most) return drafts;
    Run(std::span(&drafts.back(), 1));
  }
}

}  // namespace owml
