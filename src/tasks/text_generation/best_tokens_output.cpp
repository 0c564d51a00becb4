// Asks once what the pipeline can, and checks each list: the pipeline may be a stranger's.
// See best_tokens_output.h.
#include "tasks/text_generation/best_tokens_output.h"

#include <algorithm>
#include <utility>

#include "com/guard.h"

namespace owml {

BestTokensOutput::BestTokensOutput(IWinMLPipeline* pipeline, std::string label)
    : pipeline_(Query<IOwmlPipelineBestTokens>(pipeline)), label_(std::move(label)) {
  if (!pipeline_) return;
  ClearThreadError();
  CheckResult(pipeline_->GetMaxBestTokenCount(&most_), label_.c_str(), "IOwmlPipelineBestTokens::GetMaxBestTokenCount");
}

bool BestTokensOutput::Ask(uint32_t count, uint64_t row_size) {
  if (count > most_ || count > row_size) count = 0;
  row_size_ = row_size;
  entries_.resize(count);
  candidates_.clear();
  return count != 0;
}

bool BestTokensOutput::Run() {
  candidates_.clear();
  ClearThreadError();
  const HRESULT result = pipeline_->RunForBestTokens(static_cast<UINT32>(entries_.size()), entries_.data());
  if (result == E_NOT_VALID_STATE) return false;
  if (FAILED(result)) ThrowResult(result, "running " + label_);
  for (const OWML_TOKEN_LOGIT& entry : entries_) candidates_.push_back({entry.logit, entry.tokenId});
  std::ranges::sort(candidates_, {}, &TokenCandidate::token);
  const auto twice = std::ranges::adjacent_find(candidates_, {}, &TokenCandidate::token);
  if (twice != candidates_.end()) {
    throw Error(E_UNEXPECTED, label_ + " gave token " + std::to_string(twice->token) + " twice");
  }
  if (candidates_.back().token >= row_size_) {
    throw Error(E_UNEXPECTED, label_ + " gave token " + std::to_string(candidates_.back().token) + " of " +
                                  std::to_string(row_size_));
  }
  return true;
}

}  // namespace owml
