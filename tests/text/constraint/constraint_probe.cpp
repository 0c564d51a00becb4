// Answers on standard output what a constraint lets through, for tests in Python. Input: commands with a number of
// bytes and as many bytes: "json_schema 17\n...", "gbnf 9\n...", "regex 3\n..." set the constraint and answer "ok" or
// the error; "text 5\n..." answers "yes", "no", or "more" when the text is only the beginning of one.
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>

#include "base/error.h"
#include "text/constraint/compiled_constraint.h"
#include "text/constraint/parser_states.h"

int main() {
  using namespace owml;
  std::unique_ptr<text::ParserStates> states;
  std::string command;
  size_t size = 0;
  while (std::cin >> command >> size) {
    std::cin.get();
    std::string value(size, '\0');
    std::cin.read(value.data(), static_cast<std::streamsize>(size));
    try {
      if (command == "text") {
        text::ParserStates::Set set = states->Start();
        for (char c : value) {
          set = states->Step(set, static_cast<uint8_t>(c));
          if (set == text::ParserStates::kDead) break;
        }
        std::cout << (set == text::ParserStates::kDead ? "no" : states->CanEnd(set) ? "yes" : "more") << std::endl;
      } else {
        text::ConstraintRequest request;
        request.syntax = command;
        request.value = value;
        states = std::make_unique<text::ParserStates>(
            std::make_shared<text::GrammarProgram>(text::GrammarProgram::Compile(text::ReadConstraint(request))));
        std::cout << "ok" << std::endl;
      }
    } catch (const Error& error) {
      char code[16];
      std::snprintf(code, sizeof(code), "0x%08X", static_cast<unsigned>(error.code()));
      std::cout << code << " " << error.what() << std::endl;
    }
  }
}
