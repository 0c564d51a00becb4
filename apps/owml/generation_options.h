// The options that generate and chat share, and what they report.
// Each option has an environment variable where it is a habit rather than part of one question.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "answer_shape.h"
#include "text_session.h"

namespace owml::cli {

struct GenerationOptions {
  std::string model;
  std::string prompt;
  StageSettings stage;
  SamplingOptions sampling;
  ShapeOptions shape;
  bool lookup = false;  // speculative decoding from the text itself
  bool stats = false;
};

void AddGenerationOptions(CLI::App& verb, GenerationOptions& options);

// "-" stands for standard input, read to its end. Throws Failure for a prompt that is empty or not UTF-8.
std::string ReadPrompt(const std::string& argument);

// The line of --stats, on standard error.
void PrintStats(const GenerationStats& stats, const TextSession& session);

// The finish reason when it is not the model's own, as a note on standard error.
void PrintFinish(const GenerationStats& stats);

}  // namespace owml::cli
