// Reading model files: a read-only map of a whole regular file, and a bounded read into memory.
// Called by format readers and backends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

namespace owml {

// Unmaps when the last shared_ptr goes. The map stays valid when the file is renamed over or unlinked.
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

 private:
  MappedFile(std::filesystem::path path, void* address, size_t size);

  std::filesystem::path path_;
  void* address_;
  size_t size_;
};

// At most `limit` bytes from the start of a regular file; the errors of MappedFile::Open.
std::vector<std::byte> ReadFileStart(const std::filesystem::path& path, size_t limit);

// Throws what Open would throw when `path` is no readable regular file.
void RequireRegularFile(const std::filesystem::path& path);

}  // namespace owml
