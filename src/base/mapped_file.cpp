// POSIX file maps and bounded reads.
// A Windows build supplies its own version of this file.
#include "base/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/error.h"

namespace owml {
namespace {

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() { ::close(fd_); }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Opens without blocking, so that a FIFO under a model's name is refused instead of waited for.
int OpenRegular(const std::filesystem::path& path, FileStamp* stamp) {
  if (path.empty()) throw Error(E_INVALIDARG, "the path is empty");
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) ThrowErrno(errno, "cannot open '" + path.string() + "'");
  struct stat info = {};
  if (::fstat(fd, &info) != 0) {
    const int error_number = errno;
    ::close(fd);
    ThrowErrno(error_number, "cannot examine '" + path.string() + "'");
  }
  if (!S_ISREG(info.st_mode)) {
    ::close(fd);
    throw Error(E_INVALIDARG, "'" + path.string() + "' is " + (S_ISDIR(info.st_mode) ? "a folder" : "no regular file") +
                                  ", not a file");
  }
  *stamp = {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
            int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec};
  return fd;
}

}  // namespace

std::shared_ptr<const MappedFile> MappedFile::Open(const std::filesystem::path& path) {
  FileStamp stamp;
  const FileDescriptor fd(OpenRegular(path, &stamp));
  void* address = nullptr;
  if (stamp.size > 0) {
    address = ::mmap(nullptr, stamp.size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (address == MAP_FAILED) ThrowErrno(errno, "cannot map '" + path.string() + "'");
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, address, stamp));
}

MappedFile::MappedFile(std::filesystem::path path, void* address, const FileStamp& stamp)
    : path_(std::move(path)),
      address_(address),
      size_(stamp.size),
      stamp_(stamp),
      guard_(std::in_place, address, stamp.size) {}

MappedFile::~MappedFile() {
  guard_.reset();  // before another map can lie there
  if (address_) ::munmap(address_, size_);
}

void MappedFile::RequireWhole() const {
  if (guard_->lost()) guard_->RequireWhole("'" + path_.string() + "'");
}

std::vector<std::byte> ReadFileStart(const std::filesystem::path& path, size_t limit) {
  FileStamp stamp;
  const FileDescriptor fd(OpenRegular(path, &stamp));
  std::vector<std::byte> bytes(static_cast<size_t>(std::min<uint64_t>(stamp.size, limit)));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::read(fd.get(), bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) ThrowErrno(errno, "cannot read '" + path.string() + "'");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

void RequireRegularFile(const std::filesystem::path& path) {
  FileStamp stamp;
  const FileDescriptor fd(OpenRegular(path, &stamp));
}

}  // namespace owml
