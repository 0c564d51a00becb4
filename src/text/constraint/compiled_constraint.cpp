// From what the formatter asks to a program over the vocabulary.
// Called by the constraint factory.
#include "text/constraint/compiled_constraint.h"

#include "base/error.h"
#include "base/sha256.h"
#include "text/constraint/begun_grammar.h"
#include "text/constraint/gbnf_reader.h"
#include "text/constraint/json_schema.h"
#include "text/unicode/utf8.h"

namespace owml::text {
namespace {

constexpr size_t kMostTriggers = 1000;
constexpr size_t kMostPreserved = 10000;

// Everything that decides about the result.
std::string KeyOf(const ConstraintRequest& request, std::span<const PreservedToken> preserved) {
  Sha256 hash;
  const auto add = [&](std::string_view text) {
    hash.Add(std::to_string(text.size()) + ":");
    hash.Add(text);
  };
  const auto add_id = [&](const std::optional<uint32_t>& id) { add(id ? std::to_string(*id) : std::string("-")); };
  add(request.syntax);
  add(std::to_string(request.syntax_version));
  add(request.value);
  add(request.lazy ? "lazy" : "");
  add(std::to_string(request.triggers.size()));
  for (const auto& trigger : request.triggers) {
    add(std::to_string(static_cast<int>(trigger.kind)));
    add_id(trigger.token_id);
    add(trigger.value);
  }
  for (const auto& token : preserved) {
    add_id(token.token_id);
    add(token.text);
  }
  const Sha256::Digest digest = hash.Finish();
  return std::string(digest.begin(), digest.end());
}

CompiledConstraint::Trigger ReadTrigger(const ConstraintTrigger& trigger, size_t index, uint32_t limit) {
  const std::string where = "trigger " + std::to_string(index);
  CompiledConstraint::Trigger result;
  result.kind = trigger.kind;
  switch (trigger.kind) {
    case ConstraintTrigger::Kind::kToken:
      if (!trigger.token_id) throw Error(E_INVALIDARG, where + ": a token trigger without a token id");
      if (*trigger.token_id >= limit) {
        throw Error(E_INVALIDARG, where + ": the vocabulary has no token " + std::to_string(*trigger.token_id));
      }
      result.token_id = *trigger.token_id;
      break;
    case ConstraintTrigger::Kind::kText:
      if (trigger.value.empty()) throw Error(E_INVALIDARG, where + ": a text trigger without text");
      if (trigger.value.size() > Pattern::kLongest || ValidPrefix(trigger.value) < trigger.value.size()) {
        throw Error(E_INVALIDARG, where + ": the text is too long or no valid UTF-8");
      }
      result.pattern = std::make_shared<Pattern>(Pattern::Literal(trigger.value));
      break;
    case ConstraintTrigger::Kind::kPattern:
    case ConstraintTrigger::Kind::kFullPattern:
      result.pattern = std::make_shared<Pattern>(Pattern::ParseTrigger(trigger.value, where));
      break;
  }
  return result;
}

}  // namespace

Grammar ReadConstraint(const ConstraintRequest& request) {
  const CompileBudget budget;
  if (request.syntax_version != 1) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "version " + std::to_string(request.syntax_version) +
                                                             " of the constraint syntax '" + request.syntax +
                                                             "' is not known");
  }
  if (request.syntax == ConstraintRequest::kJsonSchema) return CompileJsonSchema(request.value);
  if (request.syntax == ConstraintRequest::kGbnf) return ReadGbnf(SplitBegunGrammar(request.value).rules);
  if (request.syntax == ConstraintRequest::kRegex) {
    auto automaton = std::make_shared<Automaton>(Pattern::Parse(request.value, "regex").Whole());
    if (automaton->empty()) throw Error(E_INVALIDARG, "regex: no text matches \"" + request.value + "\"");
    Grammar grammar;
    const Grammar::Rule root = grammar.AddRule("root");
    grammar.Define(root, grammar.Of(std::move(automaton)));
    return grammar;
  }
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED),
              "the constraint syntax '" + request.syntax + "' is not known; there are json_schema, gbnf and regex");
}

ConstraintCompiler::ConstraintCompiler(std::shared_ptr<const ConstraintVocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)) {}

std::shared_ptr<const CompiledConstraint> ConstraintCompiler::Compile(const ConstraintRequest& request,
                                                                      std::span<const PreservedToken> preserved) {
  std::string key = KeyOf(request, preserved);
  {
    const std::lock_guard lock(mutex_);
    for (auto entry = recent_.begin(); entry != recent_.end(); ++entry) {
      if (entry->first != key) continue;
      recent_.splice(recent_.begin(), recent_, entry);
      return entry->second;
    }
  }
  auto made = Make(request, preserved);
  const std::lock_guard lock(mutex_);
  recent_.emplace_front(std::move(key), made);
  if (recent_.size() > kRemembered) recent_.pop_back();
  return made;
}

std::shared_ptr<const CompiledConstraint> ConstraintCompiler::Make(const ConstraintRequest& request,
                                                                   std::span<const PreservedToken> preserved) const {
  auto made = std::make_shared<CompiledConstraint>();
  made->vocabulary = vocabulary_;
  made->lazy = request.lazy;
  if (request.triggers.size() > kMostTriggers || preserved.size() > kMostPreserved) {
    throw Error(E_INVALIDARG, "a constraint has too many triggers or preserved tokens");
  }
  if (request.lazy && request.triggers.empty()) {
    throw Error(E_INVALIDARG, "a lazy constraint without triggers would never begin");
  }
  for (size_t i = 0; i < request.triggers.size(); ++i) {
    made->triggers.push_back(ReadTrigger(request.triggers[i], i, vocabulary_->limit()));
  }
  for (const PreservedToken& token : preserved) {
    if (!token.token_id) continue;  // no single token, so its text is text
    const uint32_t id = *token.token_id;
    if (!vocabulary_->tokenizer().Has(id)) {
      throw Error(E_INVALIDARG, "preserved token: the vocabulary has no token " + std::to_string(id));
    }
    made->preserved.emplace_back(id, vocabulary_->tokenizer().Bytes(id));
  }
  if (request.syntax == ConstraintRequest::kGbnf) made->begun_with = SplitBegunGrammar(request.value).begun_with;
  made->program = std::make_shared<GrammarProgram>(GrammarProgram::Compile(ReadConstraint(request)));
  made->masks = std::make_shared<TokenMasks>(made->program, vocabulary_);
  return made;
}

}  // namespace owml::text
