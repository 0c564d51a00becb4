// A constraint ready to be followed: its grammar over a vocabulary, and what wakes it. Immutable; shared by matchers.
// Made by ConstraintCompiler.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "text/constraint/constraint_request.h"
#include "text/constraint/constraint_vocabulary.h"
#include "text/constraint/pattern.h"
#include "text/constraint/token_masks.h"

namespace owml::text {

struct CompiledConstraint {
  struct Trigger {
    ConstraintTrigger::Kind kind = ConstraintTrigger::Kind::kText;
    uint32_t token_id = 0;                   // kToken
    std::shared_ptr<const Pattern> pattern;  // the others
  };

  std::shared_ptr<const ConstraintVocabulary> vocabulary;
  std::shared_ptr<const GrammarProgram> program;
  std::shared_ptr<const TokenMasks> masks;
  std::string begun_with;  // text that the grammar reads before the reply
  bool lazy = false;
  std::vector<Trigger> triggers;
  // Special tokens that stand for their text, as a grammar with tool calls writes them.
  std::vector<std::pair<uint32_t, std::string>> preserved;
};

// Compiles constraints for one vocabulary and remembers the last ones. Usable from several threads.
class ConstraintCompiler {
 public:
  static constexpr size_t kRemembered = 64;

  explicit ConstraintCompiler(std::shared_ptr<const ConstraintVocabulary> vocabulary);

  const std::shared_ptr<const ConstraintVocabulary>& vocabulary() const { return vocabulary_; }

  // Throws E_INVALIDARG for what is malformed or too large, ERROR_NOT_SUPPORTED for what is not enforced here; the
  // sentence names the place.
  std::shared_ptr<const CompiledConstraint> Compile(const ConstraintRequest& request,
                                                    std::span<const PreservedToken> preserved = {});

 private:
  std::shared_ptr<const CompiledConstraint> Make(const ConstraintRequest& request,
                                                 std::span<const PreservedToken> preserved) const;

  std::shared_ptr<const ConstraintVocabulary> vocabulary_;
  std::mutex mutex_;
  // The latest first.
  std::list<std::pair<std::string, std::shared_ptr<const CompiledConstraint>>> recent_;
};

// The grammar that a constraint asks for.
Grammar ReadConstraint(const ConstraintRequest& request);

}  // namespace owml::text
