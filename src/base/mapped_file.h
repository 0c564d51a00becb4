// Reading model files: a read-only map of a whole regular file, and a bounded read into memory.
// Called by format readers and backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/map_guard.h"

namespace owml {

// What a file system says of a file: another file, or other contents, give another stamp.
struct FileStamp {
  uint64_t device = 0;
  uint64_t inode = 0;
  uint64_t size = 0;        // bytes
  int64_t modified_ns = 0;  // since 1970
};

// Unmaps when the last shared_ptr goes. The map stays valid when the file is renamed over or unlinked. Where it is cut
// short in place, bytes become zeros, and RequireWhole tells: whoever reads a map asks behind its reads.
class MappedFile {
 public:
  // Throws Error: ERROR_FILE_NOT_FOUND, E_INVALIDARG for a folder or another non-regular file, E_ACCESSDENIED, ...
  // The sentence names the path.
  static std::shared_ptr<const MappedFile> Open(const std::filesystem::path& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(address_), size_}; }
  const std::filesystem::path& path() const { return path_; }
  // When it was opened.
  const FileStamp& stamp() const { return stamp_; }

  // Throws ERROR_INVALID_DATA when a read of the map has found the file cut short. A cut within the last page that was
  // read is not seen.
  void RequireWhole() const;

  // read(bytes()), unless the file was cut short meanwhile: that is thrown in place of its result or error.
  template <class Function>
  auto Read(Function&& read) const {
    try {
      auto result = read(bytes());
      RequireWhole();
      return result;
    } catch (...) {
      RequireWhole();
      throw;
    }
  }

 private:
  MappedFile(std::filesystem::path path, void* address, const FileStamp& stamp);

  std::filesystem::path path_;
  void* address_;
  size_t size_;
  FileStamp stamp_;
  std::optional<MapGuard> guard_;
};

// At most `limit` bytes from the start of a regular file; the errors of MappedFile::Open.
std::vector<std::byte> ReadFileStart(const std::filesystem::path& path, size_t limit);

// Throws what Open would throw when `path` is no readable regular file.
void RequireRegularFile(const std::filesystem::path& path);

}  // namespace owml
