// Allocation, copies, and the weights that sessions share.
// Weights are known by their place in the host's memory, which their owner keeps as long as the copy is there.
#include "backend/native/device/cuda/cuda_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"

namespace owml::native {
namespace {

[[noreturn]] void NoMemory(const CudaQueue& queue, uint64_t bytes, const std::string& purpose, cudaError_t error) {
  cudaGetLastError();  // said here, so not again
  throw Error(E_OUTOFMEMORY, queue.name() + " has no memory for " + purpose + " (" + std::to_string(bytes) +
                                 " bytes): " + cudaGetErrorString(error));
}

void* Pointer(DeviceAddress address) { return reinterpret_cast<void*>(static_cast<uintptr_t>(address)); }

// A copy that lives as long as the bytes it was made of.
struct SharedCopy {
  std::shared_ptr<const void> host;
  DeviceMemory memory;
};

struct SharedCopies {
  std::mutex mutex;
  std::map<std::pair<int, const std::byte*>, std::weak_ptr<const SharedCopy>> copies;  // by device and place
};

SharedCopies& Copies() {
  static SharedCopies copies;
  return copies;
}

}  // namespace

DeviceMemory AllocateOnCuda(const CudaQueue& queue, uint64_t bytes, const std::string& purpose) {
  void* memory = nullptr;
  cudaError_t error = cudaSetDevice(queue.ordinal());
  if (error == cudaSuccess) error = cudaMalloc(&memory, std::max<uint64_t>(bytes, 1));
  if (error != cudaSuccess) NoMemory(queue, bytes, purpose, error);
  const std::shared_ptr<const void> owner(memory, [ordinal = queue.ordinal()](void* pointer) {
    if (cudaSetDevice(ordinal) == cudaSuccess) cudaFree(pointer);
  });
  return {reinterpret_cast<uintptr_t>(memory), bytes, owner};
}

void CopyToCuda(CudaQueue& queue, DeviceAddress to, std::span<const std::byte> from) {
  queue.Use();
  queue.Note(cudaMemcpyAsync(Pointer(to), from.data(), from.size(), cudaMemcpyHostToDevice, queue.stream()));
  queue.Wait();
}

void CopyFromCuda(CudaQueue& queue, std::span<std::byte> to, DeviceAddress from) {
  queue.Use();
  queue.Note(cudaMemcpyAsync(to.data(), Pointer(from), to.size(), cudaMemcpyDeviceToHost, queue.stream()));
  queue.Wait();
}

DeviceMemory SharedOnCuda(CudaQueue& queue, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  SharedCopies& all = Copies();
  const std::lock_guard lock(all.mutex);  // held while bytes are copied, so that a second session waits for them
  std::weak_ptr<const SharedCopy>& known = all.copies[{queue.ordinal(), bytes.data()}];
  std::shared_ptr<const SharedCopy> copy = known.lock();
  if (!copy || copy->memory.bytes != bytes.size()) {
    DeviceMemory memory = AllocateOnCuda(queue, bytes.size(), "the weights");
    CopyToCuda(queue, memory.address, bytes);
    copy = std::make_shared<const SharedCopy>(SharedCopy{std::move(owner), std::move(memory)});
    known = copy;
  }
  std::erase_if(all.copies, [](const auto& entry) { return entry.second.expired(); });
  return {copy->memory.address, copy->memory.bytes, copy};
}

void PinnedMemory::Reserve(const CudaQueue& queue, uint64_t bytes, const std::string& purpose) {
  if (bytes <= bytes_) return;
  memory_.reset();
  bytes_ = 0;
  void* memory = nullptr;
  cudaError_t error = cudaSetDevice(queue.ordinal());
  if (error == cudaSuccess) error = cudaHostAlloc(&memory, bytes, cudaHostAllocDefault);
  if (error != cudaSuccess) NoMemory(queue, bytes, purpose, error);
  memory_.reset(memory, [](void* pointer) { cudaFreeHost(pointer); });
  bytes_ = bytes;
}

}  // namespace owml::native
