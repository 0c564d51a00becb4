// Schemas go as a response format, or as a grammar where nothing but the value may be said.
// See answer_shape.h.
#include "answer_shape.h"

#include <fstream>
#include <iterator>

#include "failure.h"
#include "utf8.h"

namespace owml::cli {

void AddShapeOptions(CLI::App& verb, ShapeOptions& options) {
  CLI::Option* schema = verb.add_option("--json-schema", options.schema_file,
                                        "The answer is JSON that fits the JSON Schema in this file");
  CLI::Option* grammar =
      verb.add_option("--grammar", options.grammar_file, "The answer follows the GBNF grammar in this file");
  CLI::Option* regex = verb.add_option("--regex", options.regex, "The answer matches this regular expression");
  schema->excludes(grammar)->excludes(regex);
  grammar->excludes(regex);
}

void AddShape(const ShapeOptions& options, bool alone, Json* request) {
  if (!options.schema_file.empty()) {
    const Json schema = ReadJsonFile(options.schema_file, "--json-schema");
    if (alone) {
      // A string of JSON is a string of the grammar.
      (*request)["extensions"]["openwinml"]["grammar"] =
          "root ::= %json_schema " + CompactJson(Json(CompactJson(schema))) + "\n";
    } else {
      (*request)["response_format"] = {{"type", "json_schema"},
                                       {"json_schema", {{"name", "answer"}, {"strict", true}, {"schema", schema}}}};
    }
  }
  if (!options.grammar_file.empty()) {
    (*request)["extensions"]["openwinml"]["grammar"] = ReadTextFile(options.grammar_file, "--grammar");
  }
  if (!options.regex.empty()) (*request)["extensions"]["openwinml"]["regex"] = options.regex;
}

std::string ReadTextFile(const std::string& path, const std::string& option) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw Failure(option + ": cannot read " + path, HRESULT_FROM_WIN32(ERROR_FILE_NOT_FOUND));
  RequireUtf8(text, path);
  return text;
}

Json ReadJsonFile(const std::string& path, const std::string& option) {
  try {
    return Json::parse(ReadTextFile(path, option));
  } catch (const Json::exception& error) {
    throw Failure(option + ": " + path + " is no JSON: " + error.what(), HRESULT_FROM_WIN32(ERROR_INVALID_DATA));
  }
}

}  // namespace owml::cli
