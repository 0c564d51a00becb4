// Bounds of one piece of work with templates or their parsers: steps, text, depth, time and stack.
// Used around every call into llama.cpp's Jinja, chat formats and parsers.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace owml::text {

// Runs `work` on a stack of its own under bounds that grow with `input_bytes`. What goes beyond them is reported as
// ERROR_INVALID_DATA: "<what> cannot be used: it takes too many steps".
void RunBounded(size_t input_bytes, const std::string& what, const std::function<void()>& work);

// The same bounds on the stack of the caller, for work whose depth is small.
void RunBoundedHere(size_t input_bytes, const std::string& what, const std::function<void()>& work);

}  // namespace owml::text
