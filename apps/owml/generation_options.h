// The options that generate and chat share.
// Each has an environment variable.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "language_session.h"

namespace owml::cli {

struct GenerationOptions {
  std::string model;
  std::string prompt;
  uint32_t max_tokens = 512;
  StageSettings stage;
  SamplerSettings sampler;
  bool stats = false;
};

void AddGenerationOptions(CLI::App& verb, GenerationOptions& options);

// "-" stands for standard input, read to its end. Throws Failure for a prompt that is empty or not UTF-8.
std::string ReadPrompt(const std::string& argument);

// The line of --stats, on standard error.
void PrintStats(const GenerationStats& stats, const LanguageSession& session);

// The finish reason when it is not the model's own, as a note on standard error.
void PrintFinish(const GenerationStats& stats);

}  // namespace owml::cli
