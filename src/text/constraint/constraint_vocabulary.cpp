// Reads the tokens once, sorts them into trees and finds the plain ones.
// Called when a tokenizer is first asked for a constraint.
#include "text/constraint/constraint_vocabulary.h"

#include "base/error.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr uint32_t kSlices[] = {32, 16, 8, 4};

// The number of characters when they are whole and need no escape in JSON, else 0.
uint32_t PlainCharacters(std::string_view bytes) {
  if (ValidPrefix(bytes) < bytes.size()) return 0;
  uint32_t count = 0;
  for (char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte < 0x20 || byte == '"' || byte == '\\') return 0;
    if ((byte & 0xC0) != 0x80) ++count;
  }
  return count;
}

void AddNumber(Sha256* hash, uint32_t value) {
  std::string bytes;
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(static_cast<char>(value >> shift));
  hash->Add(bytes);
}

}  // namespace

ConstraintVocabulary::ConstraintVocabulary(std::shared_ptr<const Tokenizer> tokenizer)
    : tokenizer_(std::move(tokenizer)), eos_(tokenizer_->limit()), all_(tokenizer_->limit()) {
  const uint32_t limit = tokenizer_->limit();
  for (uint32_t id : tokenizer_->eos()) {
    if (id < limit) eos_.Add(id);
  }
  std::vector<std::pair<size_t, size_t>> places(limit);
  for (uint32_t id = 0; id < limit; ++id) {
    if (!tokenizer_->Has(id)) continue;
    all_.Add(id);
    if (tokenizer_->IsSpecial(id) || eos_.Has(id)) continue;
    const std::string bytes = tokenizer_->Bytes(id);
    if (bytes.size() > VocabularyTrie::kLongestToken) continue;  // never allowed, as if it were special
    places[id] = {storage_.size(), bytes.size()};
    storage_ += bytes;
  }
  texts_.resize(limit);
  std::vector<VocabularyTrie::Entry> entries, long_entries;
  std::vector<uint32_t> plain;
  for (uint32_t id = 0; id < limit; ++id) {
    texts_[id] = std::string_view(storage_).substr(places[id].first, places[id].second);
    if (texts_[id].empty()) continue;
    if (texts_[id].size() > kShort) {
      long_entries.push_back({texts_[id], id});
      continue;
    }
    entries.push_back({texts_[id], id});
    plain.push_back(PlainCharacters(texts_[id]));
  }
  for (uint32_t characters : kSlices) {
    Slice slice{characters, TokenSet(limit), {}};
    std::vector<VocabularyTrie::Entry> others;
    for (size_t i = 0; i < entries.size(); ++i) {
      if (plain[i] != 0 && plain[i] <= characters) {
        slice.plain.Add(entries[i].token);
      } else {
        others.push_back(entries[i]);
      }
    }
    slice.others = VocabularyTrie(std::move(others));
    slices_.push_back(std::move(slice));
  }
  trie_ = VocabularyTrie(std::move(entries));
  long_trie_ = VocabularyTrie(std::move(long_entries));
}

const Sha256::Digest& ConstraintVocabulary::Identity() const {
  std::call_once(identity_once_, [&] {
    Sha256 hash;
    for (uint32_t id = 0; id < limit(); ++id) {
      if (!all_.Has(id)) continue;
      const std::string bytes = tokenizer_->Bytes(id);
      AddNumber(&hash, id);
      hash.Add(tokenizer_->IsSpecial(id) ? std::string_view("\1", 1) : std::string_view("\0", 1));
      AddNumber(&hash, static_cast<uint32_t>(bytes.size()));
      hash.Add(bytes);
    }
    AddNumber(&hash, static_cast<uint32_t>(tokenizer_->eos().size()));
    for (uint32_t id : tokenizer_->eos()) AddNumber(&hash, id);
    identity_ = hash.Finish();
  });
  return identity_;
}

}  // namespace owml::text
