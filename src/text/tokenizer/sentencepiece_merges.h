// SentencePiece's byte-pair encoding as merges: it joins any two neighbours that form a token, the token with the
// highest score first.
// Used by the reader of GGUF tokenizers.
#pragma once

#include <string>
#include <vector>

#include "text/tokenizer/bpe_model.h"
#include "text/tokenizer/gguf_vocabulary.h"

namespace owml::text {

struct SentencePieceMerges {
  std::vector<BpeMerge> merges;
  std::vector<std::string> part_texts;  // characters that are parts of tokens and no tokens, behind the table's ids
};

// `label` names the file in messages. Throws ERROR_INVALID_DATA for a token of unlikely length.
SentencePieceMerges MakeSentencePieceMerges(const GgufVocabulary& vocabulary, const TokenTable& table,
                                            const std::string& label);

}  // namespace owml::text
