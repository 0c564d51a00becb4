// --json-schema, --grammar and --regex: what an answer must look like, as the parts of a conversation request.
// Used by generate and chat.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "json_output.h"

namespace owml::cli {

struct ShapeOptions {
  std::string schema_file;
  std::string grammar_file;
  std::string regex;

  bool any() const { return !schema_file.empty() || !grammar_file.empty() || !regex.empty(); }
};

void AddShapeOptions(CLI::App& verb, ShapeOptions& options);

// Adds to `request`, an object as ConversationFile reads it, what the options ask for. `alone` says that the answer is
// the shaped text and nothing around it. Throws Failure for a file that cannot be read or is no JSON.
void AddShape(const ShapeOptions& options, bool alone, Json* request);

// The whole of a text file. Throws Failure; `option` names it.
std::string ReadTextFile(const std::string& path, const std::string& option);

// The same as JSON.
Json ReadJsonFile(const std::string& path, const std::string& option);

}  // namespace owml::cli
