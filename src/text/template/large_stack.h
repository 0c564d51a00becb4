// Runs work whose recursion depth is set by its input, such as a regular expression over a long text or a nested
// template. Used around third-party code that recurses once per character or bracket.
#pragma once

#include <cstddef>
#include <functional>

namespace owml {

// Runs `work` to its end on a stack of at least `stack_bytes`, in a thread of its own; exceptions come back. Only the
// part of the stack that is used takes memory. Throws E_OUTOFMEMORY when the stack cannot be had.
void RunOnLargeStack(size_t stack_bytes, const std::function<void()>& work);

}  // namespace owml
