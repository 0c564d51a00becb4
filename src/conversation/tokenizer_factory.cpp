// Choice of the tokenizer by path.
// Called by the export.
#include "conversation/tokenizer_factory.h"

#include "base/error.h"
#include "conversation/tokenizer.h"
#include "conversation/vocabulary.h"

namespace owml {

ComPtr<IWinMLTokenizer> CreateTokenizerFromFile(const std::filesystem::path& path) {
  if (path.empty()) throw Error(E_INVALIDARG, "the path of the tokenizer is empty");
  return Make<Tokenizer>(Vocabulary::Open(path));
}

}  // namespace owml
