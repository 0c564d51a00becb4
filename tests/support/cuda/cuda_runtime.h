// As much of CUDA as the kernels of the native engine use, for an ordinary C++ compiler: the types and functions of a
// kernel, and the calls of the runtime, over memory of the process. Found in place of the toolkit's header by the tests
// that run the CUDA device without a GPU.
//
// A launch runs its blocks one after the other, and the threads of a block as fibers that change at __syncthreads and
// at the exchanges of a warp (emulation.cpp). Both need all threads of their block or warp: a kernel that would wait
// for one that has ended, or is somewhere else, ends the program with a sentence.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>

#define __host__
#define __device__
#define __global__
#define __shared__ static
#define __launch_bounds__(threads)

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// Of the fiber that runs.
inline dim3 threadIdx, blockIdx, blockDim, gridDim;

// Numbers.
inline float __uint_as_float(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof(x));
  return x;
}
inline unsigned __float_as_uint(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
// NaN is 0, and what is too large the largest number.
inline int __float2int_rn(float x) {
  if (std::isnan(x)) return 0;
  return static_cast<int>(std::lrint(std::clamp(x, -2147483648.0f, 2147483520.0f)));
}
// c and the products of four signed bytes each.
inline int __dp4a(int a, int b, int c) {
  for (int shift = 0; shift < 32; shift += 8) c += static_cast<int8_t>(a >> shift) * static_cast<int8_t>(b >> shift);
  return c;
}
// Four bytes of the eight of b and a, lowest first, each chosen by three bits of a selector's nibble.
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  unsigned chosen = 0;
  for (unsigned i = 0; i < 4; ++i)
    chosen |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7) * 8 & 0xFF) << 8 * i;
  return chosen;
}

// Threads.
namespace cuda_emulation {
// Gives `bits` to the warp and returns those of a lane, when all have given theirs.
uint64_t Exchange(uint64_t bits, unsigned lane);
unsigned Lane();
}  // namespace cuda_emulation
void __syncthreads();
template <class T>
T __shfl_xor_sync(unsigned, T x, unsigned lanes) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &x, sizeof(T));
  bits = cuda_emulation::Exchange(bits, cuda_emulation::Lane() ^ lanes);
  std::memcpy(&x, &bits, sizeof(T));
  return x;
}

// The runtime.
enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorMemoryAllocation = 2,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
constexpr unsigned cudaStreamNonBlocking = 1, cudaHostAllocDefault = 0;
using cudaStream_t = struct CudaEmulatedStream*;
struct cudaDeviceProp {
  char name[256];
  int major, minor, integrated;
};
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaMalloc(void** memory, size_t bytes);
cudaError_t cudaFree(void* memory);
cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
};
namespace cuda_emulation {
cudaError_t Launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread);
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  return cuda_emulation::Launch(*config, [&] { kernel(arguments...); });
}
