// Threads of a block as fibers. A fiber is entered by way of ucontext once and lives on from block to block; after that
// fibers change by setjmp and longjmp, which cost no system call.
#undef _FORTIFY_SOURCE  // longjmp to another stack is meant here
#include "support/cuda/emulation.h"

#include <ucontext.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "support/cuda/cuda_runtime.h"

#if defined(__SANITIZE_ADDRESS__)
#define OWML_ADDRESS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWML_ADDRESS_SANITIZER
#endif
#endif
#ifdef OWML_ADDRESS_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

namespace cuda_emulation {
namespace {

constexpr unsigned kWarp = 32, kMostThreads = 1024;
constexpr size_t kStackBytes = size_t{1} << 16;

[[noreturn]] void Stop(const char* sentence) {
  std::fprintf(stderr, "CUDA emulation: %s\n", sentence);
  std::abort();
}

struct Fiber {
  jmp_buf state;
  std::unique_ptr<char[]> stack;  // null for that of the caller
  Fiber* next = nullptr;          // of the block, in a ring
  Fiber* lane = nullptr;          // the next of the warp, in a ring
  unsigned index = 0;
  bool entered = false;
  bool ended = true;       // in this block
  unsigned exchanges = 0;  // of its warp, in this block
  void* shadow = nullptr;  // of the sanitizer
  const void* bottom = nullptr;
  size_t stack_bytes = 0;
};

struct Meeting {
  unsigned arrived = 0;
  uint64_t round = 0;
};

struct Warp {
  Meeting meeting;
  uint64_t bits[2][kWarp];  // of this exchange and of the one before, which a lane may still have to read
};

// All of one launch; launches take turns.
struct Machine {
  std::mutex mutex;
  Fiber caller;
  Fiber fibers[kMostThreads];
  Fiber* running = &caller;
  const std::function<void()>* thread = nullptr;
  unsigned threads = 0, alive = 0;
  bool descending = false;
  uint64_t progress = 0;  // counts arrivals and ends
  Meeting block;
  Warp warps[kMostThreads / kWarp];
} machine;

void Change(Fiber* to);

// There is one.
Fiber* NextAlive(const Fiber& fiber) {
  Fiber* next = fiber.next;
  while (next->ended) next = next->next;
  return next;
}

void Enter() {
#ifdef OWML_ADDRESS_SANITIZER
  const void* bottom;
  size_t bytes;
  __sanitizer_finish_switch_fiber(nullptr, &bottom, &bytes);
  if (!machine.caller.bottom) machine.caller.bottom = bottom, machine.caller.stack_bytes = bytes;
#endif
  for (;;) {
    (*machine.thread)();
    Fiber& self = *machine.running;
    self.ended = true;
    ++machine.progress;
    if (--machine.alive == 0) {
      Change(&machine.caller);
      continue;
    }
    Change(NextAlive(self));
  }
}

// Where `to` stopped, until somebody changes back.
__attribute__((noinline)) void Change(Fiber* to) {
  Fiber* const from = machine.running;
  machine.running = to;
  if (to != &machine.caller) threadIdx = dim3(to->index, 0, 0);
  if (_setjmp(from->state) == 0) {
#ifdef OWML_ADDRESS_SANITIZER
    const void* bottom = to->stack ? to->stack.get() : to->bottom;
    __sanitizer_start_switch_fiber(&from->shadow, bottom, to->stack ? kStackBytes : to->stack_bytes);
#endif
    if (to->entered) _longjmp(to->state, 1);
    to->entered = true;
    ucontext_t context;
    getcontext(&context);
    context.uc_stack.ss_sp = to->stack.get();
    context.uc_stack.ss_size = kStackBytes - to->index * 320 % 16384;  // tops that lie in different lines of a cache
    context.uc_link = nullptr;
    makecontext(&context, Enter, 0);
    setcontext(&context);
  }
#ifdef OWML_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(from->shadow, nullptr, nullptr);
#endif
}

// Lets the others run until the round is over: for an exchange those of the warp, so that warps are as far apart as
// waits of the block let them.
void Meet(Meeting* meeting, unsigned members, bool of_warp) {
  const uint64_t round = meeting->round;
  ++machine.progress;
  if (++meeting->arrived == members) {
    meeting->arrived = 0;
    ++meeting->round;
    return;
  }
  Fiber* const self = machine.running;
  uint64_t seen = machine.progress;
  unsigned turns = 0;
  while (meeting->round == round) {
    Fiber* const next = of_warp ? self->lane : NextAlive(*self);
    if (next == self || next->ended) Stop("a thread waits for others that have ended");
    Change(next);
    if (machine.progress != seen) {
      seen = machine.progress;
      turns = 0;
    } else if (++turns > machine.threads) {
      Stop("the threads of a block wait for one another at different places");
    }
  }
}

void RunBlock(unsigned threads) {
  machine.threads = machine.alive = threads;
  machine.block = {};
  for (unsigned i = 0; i < threads; ++i) {
    Fiber& fiber = machine.fibers[i];
    fiber.index = i;
    const auto after = [&](unsigned first, unsigned count) {
      const unsigned step = machine.descending ? count - 1 : 1;
      return &machine.fibers[first + (i - first + step) % count];
    };
    fiber.next = after(0, threads);
    fiber.lane = after(i / kWarp * kWarp, kWarp);
    fiber.ended = false;
    fiber.exchanges = 0;
    if (!fiber.stack) fiber.stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
    machine.warps[i / kWarp].meeting = {};
  }
  machine.caller.entered = true;
  Change(&machine.fibers[machine.descending ? threads - 1 : 0]);
}

struct DeviceState {
  std::mutex mutex;
  Counts counts;
  uint64_t memory = UINT64_MAX;
  uint64_t launches_left = UINT64_MAX;  // until it breaks
  std::map<void*, size_t> allocations;

  bool broken() const { return launches_left == 0; }
} device;

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t Remember(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

cudaError_t Health() {
  const std::lock_guard lock(device.mutex);
  return Remember(device.broken() ? cudaErrorLaunchFailure : cudaSuccess);
}

}  // namespace

unsigned Lane() { return machine.running->index % kWarp; }

uint64_t Exchange(uint64_t bits, unsigned lane) {
  Fiber& self = *machine.running;
  Warp& warp = machine.warps[self.index / kWarp];
  uint64_t(&round)[kWarp] = warp.bits[self.exchanges++ % 2];
  round[self.index % kWarp] = bits;
  Meet(&warp.meeting, kWarp, /*of_warp=*/true);
  return round[lane];
}

cudaError_t Launch(const cudaLaunchConfig_t& config, const std::function<void()>& thread) {
  if (config.blockDim.x == 0 || config.blockDim.x > kMostThreads || config.blockDim.x % kWarp != 0 ||
      config.blockDim.y != 1 || config.blockDim.z != 1 || config.gridDim.x == 0 || config.gridDim.y == 0 ||
      config.gridDim.z == 0 || config.gridDim.y > 65535 || config.gridDim.z > 65535) {
    Stop("a launch that a device would refuse, or of no whole warps");
  }
  {
    const std::lock_guard lock(device.mutex);
    ++device.counts.launches;
    if (!device.broken() && device.launches_left != UINT64_MAX) --device.launches_left;
    if (device.broken()) return Remember(cudaErrorLaunchFailure);
  }
  const std::lock_guard lock(machine.mutex);
  machine.thread = &thread;
  blockDim = config.blockDim;
  gridDim = config.gridDim;
  const unsigned x = gridDim.x, y = gridDim.y, blocks = x * y * gridDim.z;
  for (unsigned i = 0; i < blocks; ++i) {
    const unsigned block = machine.descending ? blocks - 1 - i : i;
    blockIdx = dim3(block % x, block / x % y, block / x / y);
    RunBlock(blockDim.x);
  }
  return cudaSuccess;
}

void SetDescending(bool descending) { machine.descending = descending; }

Counts CountsSoFar() {
  const std::lock_guard lock(device.mutex);
  return device.counts;
}

void BreakAtLaunch(uint64_t number) {
  const std::lock_guard lock(device.mutex);
  device.launches_left = number == 0 ? UINT64_MAX : number;
  last_error = cudaSuccess;
}

void SetMemory(uint64_t bytes) {
  const std::lock_guard lock(device.mutex);
  device.memory = bytes;
}

}  // namespace cuda_emulation

using namespace cuda_emulation;  // NOLINT

void __syncthreads() { Meet(&machine.block, machine.threads, /*of_warp=*/false); }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorLaunchFailure:
      return "unspecified launch failure";
  }
  return "unknown error";
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "Emulated GPU %d", number);
  properties->major = 9;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int number) {
  return Remember(number >= 0 && number < kDevices ? cudaSuccess : cudaErrorInvalidDevice);
}

// Filled with bytes that are NaN as any number: nothing may count on what it finds.
cudaError_t cudaMalloc(void** memory, size_t bytes) {
  const std::lock_guard lock(device.mutex);
  if (device.broken()) return Remember(cudaErrorLaunchFailure);
  if (bytes > device.memory - std::min(device.memory, device.counts.bytes_in_use)) {
    return Remember(cudaErrorMemoryAllocation);
  }
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(*memory, 0xFF, bytes);
  device.allocations[*memory] = bytes;
  ++device.counts.allocations;
  device.counts.bytes_in_use += bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  const std::lock_guard lock(device.mutex);
  const auto found = device.allocations.find(memory);
  if (found == device.allocations.end()) Stop("memory is freed that was not allocated");
  device.counts.bytes_in_use -= found->second;
  device.allocations.erase(found);
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaHostAlloc(void** memory, size_t bytes, unsigned) {
  *memory = std::malloc(bytes);
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return Health();
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }

cudaError_t cudaStreamSynchronize(cudaStream_t) {
  {
    const std::lock_guard lock(device.mutex);
    ++device.counts.waits;
  }
  return Health();
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  if (const cudaError_t error = Health(); error != cudaSuccess) return error;
  if (bytes != 0) std::memcpy(to, from, bytes);
  const std::lock_guard lock(device.mutex);
  if (kind == cudaMemcpyHostToDevice) device.counts.bytes_in += bytes;
  return cudaSuccess;
}
