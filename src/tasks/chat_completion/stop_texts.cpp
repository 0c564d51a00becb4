// What is held back is shorter than the longest stop, so that a search of it is cheap.
// See stop_texts.h.
#include "tasks/chat_completion/stop_texts.h"

#include <algorithm>
#include <utility>

namespace owml {

std::wstring StopTexts::Push(std::wstring_view text) {
  if (stopped_) return {};
  held_ += text;
  size_t first = 0;
  size_t end = std::wstring::npos;
  for (const std::wstring& stop : stops_) {
    const size_t at = held_.find(stop);
    if (at == std::wstring::npos) continue;
    const size_t its_end = at + stop.size();
    first = its_end < end ? at : its_end == end ? std::min(first, at) : first;
    end = std::min(end, its_end);
  }
  stopped_ = end != std::wstring::npos;
  std::wstring certain = held_.substr(0, stopped_ ? first : held_.size() - PossibleBeginning());
  held_.erase(0, stopped_ ? held_.size() : certain.size());
  return certain;
}

std::wstring StopTexts::TakeRest() { return std::exchange(held_, {}); }

size_t StopTexts::PossibleBeginning() const {
  size_t longest = 0;
  for (const std::wstring& stop : stops_) {
    for (size_t length = std::min(stop.size() - 1, held_.size()); length > longest; --length) {
      if (held_.ends_with(std::wstring_view(stop).substr(0, length))) longest = length;
    }
  }
  return longest;
}

}  // namespace owml
