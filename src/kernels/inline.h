// What the vector code needs from the compiler.
// Included by the kernel templates and vector types only.
#pragma once

// The scalar file keeps its functions and loops: its vectors are arrays anyway, and unrolled they take a compiler
// minutes.
#if defined(OWML_SCALAR_KERNELS)
#define OWML_INLINE inline
#define OWML_INLINE_LAMBDA
#define OWML_NOINLINE
#define OWML_UNROLL
#else

// Everything in kernels_<isa>.cpp must be inlined or local to the file: a shared copy of an inline function, compiled
// there with wider instructions, could be picked by the linker for the whole program.
#define OWML_INLINE inline __attribute__((always_inline))
// Behind the arguments of a lambda.
#define OWML_INLINE_LAMBDA __attribute__((always_inline))
// For what an inner loop rarely needs, so that its registers stay with the loop.
#define OWML_NOINLINE __attribute__((noinline))

// In front of a loop whose count is a template argument, so that arrays of vectors become registers.
#if defined(__clang__)
#define OWML_UNROLL _Pragma("clang loop unroll(full)")
#else
#define OWML_UNROLL _Pragma("GCC unroll 16")
#endif

#endif
