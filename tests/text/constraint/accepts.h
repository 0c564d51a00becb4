// What a constraint lets through, byte by byte and without a vocabulary.
// Used by the tests of this folder.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "text/constraint/compiled_constraint.h"
#include "text/constraint/parser_states.h"

namespace owml::text {

class Acceptor {
 public:
  Acceptor(const char* syntax, std::string value) {
    ConstraintRequest request;
    request.syntax = syntax;
    request.value = std::move(value);
    states_ = std::make_unique<ParserStates>(
        std::make_shared<GrammarProgram>(GrammarProgram::Compile(ReadConstraint(request))));
  }

  // The whole text.
  bool operator()(std::string_view text) const {
    const ParserStates::Set set = After(text);
    return set != ParserStates::kDead && states_->CanEnd(set);
  }
  // The text as the beginning of another.
  bool Begins(std::string_view text) const { return After(text) != ParserStates::kDead; }

 private:
  ParserStates::Set After(std::string_view text) const {
    ParserStates::Set set = states_->Start();
    for (char c : text) {
      if (set == ParserStates::kDead) break;
      set = states_->Step(set, static_cast<uint8_t>(c));
    }
    return set;
  }

  std::unique_ptr<ParserStates> states_;
};

}  // namespace owml::text
