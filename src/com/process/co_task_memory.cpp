// CoTaskMemAlloc and its family, exported by the runtime library off Windows.
// Memory is malloc's, so a sanitizer sees every block.
#include <objbase.h>

#include <cstdlib>

extern "C" {

LPVOID CoTaskMemAlloc(SIZE_T bytes) { return std::malloc(bytes ? bytes : 1); }

LPVOID CoTaskMemRealloc(LPVOID memory, SIZE_T bytes) {
  if (memory && bytes == 0) {
    std::free(memory);
    return nullptr;
  }
  return std::realloc(memory, bytes ? bytes : 1);
}

void CoTaskMemFree(LPVOID memory) { std::free(memory); }

}  // extern "C"
