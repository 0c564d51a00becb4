// Containment of external data by canonical path. The size is read through a handle that was opened relative to the
// allowed folder, one component at a time and without following links, so that a link put there meanwhile is not
// followed. POSIX; a Windows build supplies its own OpenInside.
#include "formats/external_data.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "formats/bad_data.h"

namespace owml {
namespace {

class Handle {
 public:
  explicit Handle(int fd = -1) : fd_(fd) {}
  ~Handle() {
    if (fd_ >= 0) ::close(fd_);
  }
  Handle(Handle&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

std::string InQuotes(const std::filesystem::path& path) { return "'" + path.string() + "'"; }

// True when canonical `path` is `folder` or below it.
bool IsInside(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto mismatch = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  // A root ends in an empty component when written with a trailing slash.
  return mismatch.first == folder.end() || (mismatch.first->empty() && std::next(mismatch.first) == folder.end());
}

std::filesystem::path Canonical(const std::filesystem::path& path, const std::string& context) {
  std::error_code error;
  std::filesystem::path canonical = std::filesystem::canonical(path, error);
  if (error) ThrowErrno(error.value(), context + InQuotes(path));
  return canonical;
}

// Opens canonical `path`, which lies inside canonical `folder`, and returns its size.
uint64_t OpenInside(const std::filesystem::path& folder, const std::filesystem::path& path,
                    const std::string& context) {
  Handle at(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (at.get() < 0) ThrowErrno(errno, context + "cannot open the folder " + InQuotes(folder));
  const std::filesystem::path relative = path.lexically_relative(folder);
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    const bool last = std::next(part) == relative.end();
    const int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | (last ? O_NONBLOCK : O_DIRECTORY);
    Handle next(::openat(at.get(), part->c_str(), flags));
    if (next.get() < 0) ThrowErrno(errno, context + "cannot open " + InQuotes(path));
    at = std::move(next);
  }
  struct stat info = {};
  if (::fstat(at.get(), &info) != 0) ThrowErrno(errno, context + "cannot examine " + InQuotes(path));
  if (!S_ISREG(info.st_mode)) throw Error(E_INVALIDARG, context + InQuotes(path) + " is no regular file");
  return static_cast<uint64_t>(info.st_size);
}

std::string Tensor(std::string_view name) { return "the external data of tensor " + Quoted(name); }

}  // namespace

void CheckExternalLocation(std::string_view location, const std::string& what, const std::string& label) {
  const auto refuse = [&](const std::string& why) {
    ThrowBadData(label, what + " is at " + Quoted(location) + ", " + why);
  };
  if (location.empty()) refuse("which is no file name");
  if (location.find('\0') != std::string_view::npos) refuse("which holds a zero byte");
  const bool drive = location.size() >= 2 && location[1] == ':';
  if (location[0] == '/' || location[0] == '\\' || drive) refuse("an absolute path; it must lie in the model's folder");
  if (location.find('\\') != std::string_view::npos) refuse("which holds a backslash; folders are separated by '/'");
  size_t start = 0;
  while (start <= location.size()) {
    const size_t end = std::min(location.find('/', start), location.size());
    if (location.substr(start, end - start) == "..") refuse("which climbs out of the model's folder");
    start = end + 1;
  }
}

ExternalDataFolder::ExternalDataFolder(const std::filesystem::path& model) : model_(model), label_(InQuotes(model)) {
  folder_ = model.has_parent_path() ? model.parent_path() : std::filesystem::path(".");
  canonical_folder_ = Canonical(folder_, label_ + ": cannot find the folder ");
  store_ = Canonical(model, label_ + ": cannot find ").parent_path();
}

ExternalFile ExternalDataFolder::Resolve(std::string_view location, const std::string& what) const {
  CheckExternalLocation(location, what, label_);
  const std::filesystem::path entry = folder_ / std::filesystem::path(std::string(location));
  const std::string context = label_ + ": " + what + ": ";
  ExternalFile file;
  file.path = Canonical(entry, context + "cannot find ");

  const std::filesystem::path* root = nullptr;
  if (IsInside(file.path, canonical_folder_)) {
    root = &canonical_folder_;
  } else {
    // Download caches: model and data are links, side by side, into one store of blobs.
    std::error_code error;
    const bool is_link = std::filesystem::is_symlink(std::filesystem::symlink_status(entry, error));
    if (is_link && store_ != canonical_folder_ && file.path.parent_path() == store_) root = &store_;
  }
  if (!root) {
    ThrowBadData(label_, what + " is at " + Quoted(location) + ", which leads out of the model's folder to " +
                             InQuotes(file.path));
  }
  file.size = OpenInside(*root, file.path, context);
  return file;
}

void ExternalDataFolder::Check(const OnnxHeader& header) const {
  std::map<std::string_view, ExternalFile> files;
  for (const OnnxExternalData& data : header.external_data) {
    auto known = files.find(data.location);
    if (known == files.end()) known = files.emplace(data.location, Resolve(data.location, Tensor(data.tensor))).first;
    CheckExternalRange(data, known->second.size, label_);
  }
}

void CheckExternalRange(const OnnxExternalData& data, uint64_t size, const std::string& label) {
  const uint64_t length = data.length.value_or(data.tensor_bytes.value_or(0));
  if (data.offset > size || length > size - data.offset) {
    ThrowBadData(label, Tensor(data.tensor) + " takes " + std::to_string(length) + " bytes at offset " +
                            std::to_string(data.offset) + " of " + Quoted(data.location) + ", which has only " +
                            std::to_string(size) + " bytes");
  }
}

}  // namespace owml
