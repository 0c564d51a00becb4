// Files of the cache: found, checked, written whole, evicted.
// Every failure here means running without the cache, never a failed load.
#include "backend/native/packed_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/native/thread_pool.h"
#include "base/cache_folder.h"
#include "base/cpu_info.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/write_all.h"

namespace owml::native {
namespace {

namespace fs = std::filesystem;

constexpr char kExtension[] = ".owmlpack";

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

// A name that goes away again unless it is kept.
class PartialName {
 public:
  explicit PartialName(fs::path path) : path_(std::move(path)) {}
  ~PartialName() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  PartialName(const PartialName&) = delete;
  PartialName& operator=(const PartialName&) = delete;
  const fs::path& path() const { return path_; }
  void Keep() { path_.clear(); }

 private:
  fs::path path_;
};

// One message a process: a home without room would repeat it with every model.
void SayOnce(const std::string& what, int error_number) {
  static std::atomic_flag said;
  const bool first = !said.test_and_set();
  Log(first ? OWML_LOG_LEVEL_WARNING : OWML_LOG_LEVEL_DEBUG, "native",
      "packed weights are not kept: " + what + ": " + std::system_category().message(error_number));
}

std::shared_ptr<PackedImage> Map(int descriptor, uint64_t bytes, int protection) {
  const size_t size = PackedFileHead::kBytes + static_cast<size_t>(bytes);
  void* map = ::mmap(nullptr, size, protection, MAP_SHARED | MAP_POPULATE, descriptor, 0);
  if (map == MAP_FAILED) return nullptr;
  return std::make_shared<PackedImage>(map, size);
}

// Room for head and weights that is no part of a file; null where a map is better.
std::shared_ptr<PackedImage> InHugePages(uint64_t bytes) {
  const size_t size = PackedFileHead::kBytes + static_cast<size_t>(bytes);
  auto memory = HugePages::Reserve(size);
  return memory ? std::make_shared<PackedImage>(std::move(memory), size) : nullptr;
}

// All of a file; false where it ends early or cannot be read.
bool ReadAll(int descriptor, std::byte* to, size_t count) {
  constexpr size_t kPiece = size_t{8} << 20;
  std::atomic<bool> whole{true};
  ThreadPool pool(UsableCpuCount());
  pool.Run(static_cast<uint32_t>((count + kPiece - 1) / kPiece), [&](uint32_t piece, uint32_t) noexcept {
    for (size_t at = piece * kPiece, end = std::min(count, at + kPiece); at < end;) {
      const ssize_t got = ::pread(descriptor, to + at, end - at, static_cast<off_t>(at));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        whole = false;
        return;
      }
      at += static_cast<size_t>(got);
    }
  });
  return whole;
}

std::shared_ptr<PackedImage> Open(int descriptor, uint64_t bytes) {
  auto image = InHugePages(bytes);
  if (!image) return Map(descriptor, bytes, PROT_READ);
  if (!ReadAll(descriptor, image->weights() - PackedFileHead::kBytes, PackedFileHead::kBytes + image->size())) {
    return nullptr;
  }
  return image;
}

bool Fits(uint64_t bytes) { return bytes <= uint64_t{PTRDIFF_MAX} - PackedFileHead::kBytes; }

}  // namespace

PackedFileHead::Key PackedKeyOf(const GgufModelFiles& model, std::string_view layout) {
  Sha256 sum;
  const auto add = [&sum](uint64_t number) { sum.Add(std::as_bytes(std::span(&number, 1))); };
  add(layout.size());
  sum.Add(layout);
  add(model.files.size());
  for (size_t i = 0; i < model.files.size(); ++i) {
    const FileStamp& stamp = model.maps[i]->stamp();
    for (const uint64_t number : {stamp.device, stamp.inode, stamp.size, static_cast<uint64_t>(stamp.modified_ns)})
      add(number);
    const auto bytes = model.maps[i]->bytes();
    sum.Add(bytes.first(static_cast<size_t>(std::min<uint64_t>(model.files[i].data_offset(), bytes.size()))));
  }
  return sum.Finish();
}

PackedImage::~PackedImage() {
  if (!memory_) ::munmap(map_, map_bytes_);
}

std::optional<PackedCache> PackedCache::OfUser() {
  const char* use = std::getenv("OWML_PACKED_CACHE");
  if (use && (std::string_view(use) == "off" || std::string_view(use) == "0")) return std::nullopt;
  const auto folder = UserCacheFolder();
  if (!folder) return std::nullopt;
  uint64_t limit = kDefaultLimit;
  if (const char* text = std::getenv("OWML_PACKED_CACHE_MIB")) {
    uint64_t mebibytes = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), mebibytes);
    if (error == std::errc() && *end == '\0' && mebibytes <= (UINT64_MAX >> 20)) {
      limit = mebibytes << 20;
    } else {
      Log(OWML_LOG_LEVEL_WARNING, "native",
          "OWML_PACKED_CACHE_MIB is '" + std::string(text) + "', which is no number of MiB");
    }
  }
  return PackedCache(*folder / "packed", limit);
}

fs::path PackedCache::PathOf(const PackedFileHead::Key& key) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (const uint8_t byte : key) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return folder_ / (name + kExtension);
}

std::shared_ptr<const PackedImage> PackedCache::Find(const PackedFileHead::Key& key, uint64_t bytes) const {
  const fs::path path = PathOf(key);
  const File file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info = {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0) return nullptr;
  // Somebody else's file is none of ours.
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid()) return nullptr;
  std::string damage;
  if (!Fits(bytes) || static_cast<uint64_t>(info.st_size) != PackedFileHead::kBytes + bytes) {
    damage = "its size is wrong";
  } else if (const auto image = Open(file.get(), bytes)) {
    const auto head = PackedFileHead::Parse({image->weights() - PackedFileHead::kBytes, PackedFileHead::kBytes});
    if (head && head->key == key && head->payload_bytes == bytes &&
        head->checksum == PackedChecksum({image->weights(), image->size()})) {
      ::futimens(file.get(), nullptr);  // its last use
      return image;
    }
    damage = "its contents are damaged";
  } else {
    return nullptr;
  }
  Log(OWML_LOG_LEVEL_INFO, "native", "'" + path.string() + "' is made again: " + damage);
  ::unlink(path.c_str());
  return nullptr;
}

std::shared_ptr<const PackedImage> PackedCache::Make(const PackedFileHead::Key& key, const std::string& source,
                                                     uint64_t bytes,
                                                     const std::function<void(std::byte*)>& fill) const {
  if (!Fits(bytes) || bytes > limit_) {
    SayOnce(std::to_string(bytes) + " bytes are above the limit of " + std::to_string(limit_), EFBIG);
    return nullptr;
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    SayOnce("'" + folder_.string() + "'", error.value());
    return nullptr;
  }
  const fs::path path = PathOf(key);
  static std::atomic<uint32_t> counter;
  fs::path partial_path = path;
  partial_path += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
  const File file(::open(partial_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) {
    SayOnce("'" + folder_.string() + "'", errno);
    return nullptr;
  }
  PartialName partial(std::move(partial_path));
  // All blocks now: a write into a map of a full disk would end the process.
  if (const int full = ::posix_fallocate(file.get(), 0, static_cast<off_t>(PackedFileHead::kBytes + bytes));
      full != 0) {
    SayOnce("no room for " + std::to_string(bytes) + " bytes in '" + folder_.string() + "'", full);
    return nullptr;
  }
  auto image = InHugePages(bytes);
  if (!image) image = Map(file.get(), bytes, PROT_READ | PROT_WRITE);
  if (!image) {
    SayOnce("'" + folder_.string() + "'", errno);
    return nullptr;
  }
  fill(image->weights());
  PackedFileHead head;
  head.key = key;
  head.payload_bytes = bytes;
  head.checksum = PackedChecksum({image->weights(), image->size()});
  head.source = source;
  const auto head_bytes = head.Bytes();
  std::byte* const whole = image->weights() - PackedFileHead::kBytes;
  const size_t whole_bytes = PackedFileHead::kBytes + image->size();
  std::memcpy(whole, head_bytes.data(), head_bytes.size());
  if (image->in_huge_pages() && !WriteAll(file.get(), {whole, whole_bytes})) {
    SayOnce("'" + path.string() + "'", errno);
    return image;
  }
  ::mprotect(whole, whole_bytes, PROT_READ);
  // Another process may have put the same file in place meanwhile; either will do.
  if (::rename(partial.path().c_str(), path.c_str()) != 0) {
    SayOnce("'" + path.string() + "'", errno);
  } else {
    partial.Keep();
    Evict(path);
  }
  return image;  // good without a name too
}

void PackedCache::Evict(const fs::path& keep) const {
  struct Entry {
    fs::path path;
    fs::file_time_type used;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const fs::path& path = at->path();
    const bool whole = path.extension() == kExtension;
    const bool partial = path.filename().string().find(std::string(kExtension) + ".tmp-") != std::string::npos;
    if (!(whole || partial) || !at->is_regular_file(ignored) || at->is_symlink(ignored)) continue;
    const auto used = at->last_write_time(ignored);
    if (ignored) continue;
    if (partial) {
      if (now - used > std::chrono::hours(24)) fs::remove(path, ignored);
      continue;
    }
    entries.push_back({path, used, at->file_size(ignored)});
    total += entries.back().bytes;
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_) return;
    if (entry.path == keep) continue;
    if (fs::remove(entry.path, error)) total -= entry.bytes;
  }
}

}  // namespace owml::native
