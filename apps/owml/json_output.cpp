// Printing JSON in one way everywhere.
// Flushed, so that a reader at the other end of a pipe sees each object as it comes.
#include "json_output.h"

#include <cstdio>

namespace owml::cli {

void PrintJson(const Json& object) {
  std::printf("%s\n", object.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
  std::fflush(stdout);
}

std::string CompactJson(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace owml::cli
