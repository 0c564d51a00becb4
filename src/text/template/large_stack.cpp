// A thread with a stack of the asked size.
// Called by everything that renders templates or builds and runs their parsers.
#include "text/template/large_stack.h"

#include <pthread.h>
#include <sys/mman.h>

#include <exception>
#include <string>

#include "base/error.h"

namespace owml {
namespace {

struct Job {
  const std::function<void()>* work;
  std::exception_ptr failure;
};

void* RunJob(void* argument) {
  Job* job = static_cast<Job*>(argument);
  try {
    (*job->work)();
  } catch (...) {
    job->failure = std::current_exception();
  }
  return nullptr;
}

class Stack {
 public:
  explicit Stack(size_t bytes) : bytes_(bytes) {
    address_ =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (address_ == MAP_FAILED)
      throw Error(E_OUTOFMEMORY, "no memory for a stack of " + std::to_string(bytes_) + " bytes");
    ::mprotect(address_, kGuard, PROT_NONE);
  }
  ~Stack() { ::munmap(address_, bytes_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;

  void* base() const { return static_cast<char*>(address_) + kGuard; }
  size_t size() const { return bytes_ - kGuard; }

 private:
  static constexpr size_t kGuard = 64 * 1024;

  void* address_;
  size_t bytes_;
};

}  // namespace

void RunOnLargeStack(size_t stack_bytes, const std::function<void()>& work) {
  const Stack stack((stack_bytes + (size_t{1} << 20)) & ~size_t{0xffff});
  Job job{&work, nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstack(&attributes, stack.base(), stack.size());
  pthread_t thread;
  const int failed = pthread_create(&thread, &attributes, RunJob, &job);
  pthread_attr_destroy(&attributes);
  if (failed) throw Error(E_OUTOFMEMORY, "no thread for a text of this size");
  pthread_join(thread, nullptr);
  if (job.failure) std::rethrow_exception(job.failure);
}

}  // namespace owml
