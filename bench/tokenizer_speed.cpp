// Our side of the tokenizer measurement: opens a tokenizer file, then encodes the files named on standard input, one
// string for each, and says how long it took on this thread. Started by tokenizer_speed.py, which runs the other side.
//
//   tokenizer_speed FILE
//
// Input: paths, a line for each; an empty line ends a turn. Output: "load SECONDS", then for each turn
// "turn SECONDS BYTES TOKENS", at the end of the input "peak KIBIBYTES".
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "text/tokenizer/model_folder.h"

namespace {

double ThreadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::string ReadAll(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

// Of the process so far, in KiB.
std::string PeakMemory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return line.substr(line.find_first_of("0123456789"));
  }
  return "0 kB";
}

void Run(const char* path) {
  const double start = ThreadSeconds();
  const auto tokenizer = owml::text::OpenTokenizer(path).tokenizer;
  std::printf("load %.6f\n", ThreadSeconds() - start);
  std::fflush(stdout);
  double seconds = 0;
  size_t bytes = 0;
  size_t tokens = 0;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) {
      std::printf("turn %.6f %zu %zu\n", seconds, bytes, tokens);
      std::fflush(stdout);
      seconds = 0;
      bytes = tokens = 0;
      continue;
    }
    const std::string text = ReadAll(line);
    const double before = ThreadSeconds();
    const std::vector<uint32_t> ids = tokenizer->Encode(text, {.add_special_tokens = true});
    seconds += ThreadSeconds() - before;
    bytes += text.size();
    tokens += ids.size();
  }
  std::printf("peak %s\n", PeakMemory().c_str());
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: tokenizer_speed FILE; see tokenizer_speed.py\n");
    return 2;
  }
  try {
    Run(arguments[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tokenizer_speed: %s\n", error.what());
    return 1;
  }
  return 0;
}
