// Bytes in, whole characters out: what is incomplete waits for the next bytes, what cannot be completed becomes U+FFFD.
// Used by the streaming decoder.
#pragma once

#include <string>
#include <string_view>

#include "text/unicode/utf8.h"

namespace owml::text {

class Utf8Stream {
 public:
  // Appends to `text` every character that is whole after `bytes`.
  void Take(std::string_view bytes, std::string* text) {
    pending_.append(bytes);
    std::string_view left = pending_;
    while (!left.empty()) {
      const int length = CharacterLength(left);
      if (length == 0) break;
      if (length > 0) {
        text->append(left.substr(0, static_cast<size_t>(length)));
        left.remove_prefix(static_cast<size_t>(length));
      } else {
        AppendCharacter(text, kReplacementCharacter);
        left.remove_prefix(static_cast<size_t>(-length));
      }
    }
    pending_.erase(0, pending_.size() - left.size());
  }

  // What waits can no longer be completed.
  void Flush(std::string* text) {
    if (!pending_.empty()) AppendCharacter(text, kReplacementCharacter);
    pending_.clear();
  }

  bool empty() const { return pending_.empty(); }
  void Clear() { pending_.clear(); }

 private:
  std::string pending_;  // at most 3 bytes between calls
};

}  // namespace owml::text
