// Lists of token ids that cross the ABI as a count and an array for CoTaskMemFree.
// Used by the skins of the tasks, both ways.
#pragma once

#include <objbase.h>

#include <string>
#include <vector>

#include "com/co_task_array.h"
#include "com/guard.h"

namespace owml {

// Both at once, so that nobody sees a count without an array; null when there are none.
inline void HandOutTokens(const std::vector<uint32_t>& tokens, UINT32* count, UINT32** ids) {
  if (count) *count = 0;
  if (ids) *ids = nullptr;
  RequirePointer(count, "tokenCount");
  RequirePointer(ids, "tokenIds");
  Require(tokens.size() <= UINT32_MAX, HRESULT_FROM_WIN32(ERROR_ARITHMETIC_OVERFLOW),
          "too many tokens for a 32-bit count");
  *ids = CoTaskArray(std::span<const UINT32>(tokens));
  *count = static_cast<UINT32>(tokens.size());
}

// Receives such a pair from some object.
class TokenArray {
 public:
  TokenArray() = default;
  TokenArray(const TokenArray&) = delete;
  TokenArray& operator=(const TokenArray&) = delete;
  ~TokenArray() { CoTaskMemFree(ids_); }

  UINT32* count() { return &count_; }
  UINT32** ids() { return &ids_; }

  // Throws E_UNEXPECTED for a count without an array; the sentence starts with `what`.
  std::vector<uint32_t> Take(const char* what) const {
    Require(ids_ || count_ == 0, E_UNEXPECTED,
            std::string(what) + " gave a count of " + std::to_string(count_) + " and no array");
    return std::vector<uint32_t>(ids_, ids_ + count_);
  }

 private:
  UINT32 count_ = 0;
  UINT32* ids_ = nullptr;
};

}  // namespace owml
