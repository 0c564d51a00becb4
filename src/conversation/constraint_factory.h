// What a tokenizer object needs to make constraints: its vocabulary prepared once, and the compiler with its memory.
// Owned by the tokenizer object, which hands its calls on.
#pragma once

#include <WinMLConversation.h>

#include <memory>
#include <mutex>

#include "text/tokenizer/tokenizer.h"

namespace owml {

namespace text {
class ConstraintCompiler;
}

class ConstraintFactory {
 public:
  explicit ConstraintFactory(std::shared_ptr<const text::Tokenizer> tokenizer);
  ~ConstraintFactory();

  // The number of ids, and SHA-256 over the canonical vocabulary: see ConstraintVocabulary::Identity.
  WINML_CONSTRAINT_VOCABULARY_IDENTITY Identity();

  // A constraint for one generation, owned by the caller. `self` is the tokenizer object. Throws E_INVALIDARG for a
  // result of another tokenizer, ERROR_NOT_SUPPORTED for one that asks for no constraint or for what is not enforced.
  IWinMLTokenConstraint* Create(IWinMLTokenizer* self, IWinMLConversationFormatResult* result);

 private:
  text::ConstraintCompiler& Compiler();

  std::shared_ptr<const text::Tokenizer> tokenizer_;
  std::once_flag once_;
  std::unique_ptr<text::ConstraintCompiler> compiler_;
};

}  // namespace owml
