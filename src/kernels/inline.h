// What the vector code needs from the compiler.
// Included by the kernel templates and vector types only.
#pragma once

// The scalar file keeps its functions and loops: its vectors are arrays anyway, and unrolled they take a compiler
// minutes.
#if defined(OWML_SCALAR_KERNELS)
#define OWML_INLINE inline
#define OWML_UNROLL
#else

// Everything in kernels_<isa>.cpp must be inlined or local to the file: a shared copy of an inline function, compiled
// there with wider instructions, could be picked by the linker for the whole program.
#define OWML_INLINE inline __attribute__((always_inline))

// In front of a loop whose count is a template argument, so that arrays of vectors become registers.
#if defined(__clang__)
#define OWML_UNROLL _Pragma("clang loop unroll(full)")
#else
#define OWML_UNROLL _Pragma("GCC unroll 16")
#endif

#endif
