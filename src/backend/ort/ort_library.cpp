// The search for ONNX Runtime, its version check and the environment.
// See ort_library.h for the order.
#include "backend/ort/ort_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>

#include "backend/ort/ort_log.h"
#include "backend/ort/ort_status.h"
#include "base/error.h"
#include "base/log.h"

namespace owml {
namespace {

namespace fs = std::filesystem;

constexpr char kFileName[] = "libonnxruntime.so";
constexpr char kSoName[] = "libonnxruntime.so.1";

std::atomic<const OrtApi*> loaded_api{nullptr};

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string LoaderMessage() {
  const char* text = dlerror();
  return text ? text : "unknown loader error";
}

// The file that a loaded object came from; empty when the loader cannot tell.
std::string FileOf(const void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return "";
  std::error_code error;
  fs::path path = fs::canonical(info.dli_fname, error);
  // For the program itself the loader knows argv[0] only, which need not be a path.
  if (error) path = fs::read_symlink("/proc/self/exe", error);
  return error ? "" : path.string();
}

// One attempt: `handle` is an open library, or null. Fills `library`, or says why not and closes the handle.
bool Accept(void* handle, const std::string& label, OrtLibrary& library, std::string& why_not) {
  if (!handle) {
    why_not = LoaderMessage();
    return false;
  }
  using GetApiBase = const OrtApiBase* (*)();
  const auto get_base = reinterpret_cast<GetApiBase>(dlsym(handle, "OrtGetApiBase"));
  const OrtApiBase* base = get_base ? get_base() : nullptr;
  if (!base) {
    why_not = label + " has no OrtGetApiBase";
    dlclose(handle);
    return false;
  }
  const std::string version = base->GetVersionString();
  // Asked first because GetApi writes to standard error when the level is too high for it.
  if (OrtMinorVersion(version) < ORT_API_VERSION) {
    why_not = label + " is ONNX Runtime " + version + ", too old: 1." + std::to_string(ORT_API_VERSION) +
              " or newer is needed";
    dlclose(handle);
    return false;
  }
  library.api = base->GetApi(ORT_API_VERSION);
  if (!library.api) {
    why_not = label + " (ONNX Runtime " + version + ") does not offer API level " + std::to_string(ORT_API_VERSION);
    dlclose(handle);
    return false;
  }
  library.version = version;
  library.path = FileOf(reinterpret_cast<const void*>(get_base));
  return true;
}

void* Open(const std::string& file, int extra_flags = 0) {
  return dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | extra_flags);
}

[[noreturn]] void ThrowMissing(const std::string& sentence) {
  throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "ONNX Runtime is not available: " + sentence);
}

void FindNamed(const std::string& file, OrtLibrary& library) {
  std::string why_not;
  if (!Accept(Open(file), "'" + file + "'", library, why_not))
    ThrowMissing("OWML_ONNXRUNTIME names '" + file + "': " + why_not);
}

void FindUnderRoot(const std::string& root, OrtLibrary& library) {
  const std::vector<std::string> files = OrtLibrariesUnder(root);
  if (files.empty()) {
    ThrowMissing("ONNXRUNTIME_ROOT names '" + root + "', which has no " + kFileName +
                 " in it or in its lib, lib64 or capi folder");
  }
  std::string why_not;
  if (!Accept(Open(files.front()), "'" + files.front() + "'", library, why_not)) {
    ThrowMissing("ONNXRUNTIME_ROOT names '" + root + "': " + why_not);
  }
}

void FindAnywhere(OrtLibrary& library) {
  std::string why_not;
  std::string rejected;
  const auto pass_over = [&] {
    Log(OWML_LOG_LEVEL_WARNING, "ort", why_not);
    rejected += "; " + why_not;
  };
  for (const char* name : {kSoName, kFileName}) {
    if (void* handle = Open(name, RTLD_NOLOAD)) {
      if (Accept(handle, std::string("the loaded ") + name, library, why_not)) return;
      pass_over();
    }
  }
  for (const char* name : {kSoName, kFileName}) {
    if (void* handle = Open(name)) {
      if (Accept(handle, std::string("the system's ") + name, library, why_not)) return;
      pass_over();
    }
  }
  const fs::path own = FileOf(reinterpret_cast<const void*>(&LoadedOrtLibrary));
  if (!own.empty()) {
    for (const fs::path& folder :
         {own.parent_path(), own.parent_path() / "openwinml", own.parent_path().parent_path()}) {
      for (const std::string& file : OrtLibrariesUnder(folder.string())) {
        if (Accept(Open(file), "'" + file + "'", library, why_not)) return;
        pass_over();
      }
    }
  }
  ThrowMissing(std::string("no usable ") + kSoName + " on the system's loader path" +
               (own.empty() ? "" : " or beside '" + own.string() + "'") + rejected +
               "; install it, or set OWML_ONNXRUNTIME to the library or ONNXRUNTIME_ROOT to the folder of its package");
}

std::unique_ptr<const OrtLibrary> Load() {
  auto library = std::make_unique<OrtLibrary>();
  const std::string named = Environment("OWML_ONNXRUNTIME");
  const std::string root = Environment("ONNXRUNTIME_ROOT");
  if (!named.empty()) {
    FindNamed(named, *library);
  } else if (!root.empty()) {
    FindUnderRoot(root, *library);
  } else {
    FindAnywhere(*library);
  }
  loaded_api.store(library->api, std::memory_order_release);
  Check(library->api->CreateEnvWithCustomLogger(WriteOrtLog, nullptr, OrtSeverityForLog(), "openwinml",
                                                &library->environment),
        "the ONNX Runtime environment could not be made");
  Check(library->api->DisableTelemetryEvents(library->environment), "telemetry could not be turned off");
  Log(OWML_LOG_LEVEL_INFO, "ort", "ONNX Runtime " + library->version + " from " + library->path);
  return library;
}

}  // namespace

const OrtLibrary& LoadedOrtLibrary() {
  static std::mutex mutex;
  // Reachable for the whole life of the process and never unloaded: threads of the library may outlive static objects.
  static const OrtLibrary* library = nullptr;
  const std::lock_guard lock(mutex);
  if (!library) library = Load().release();
  return *library;
}

const OrtApi& Ort() noexcept { return *loaded_api.load(std::memory_order_acquire); }

int OrtMinorVersion(const std::string& version) {
  if (version.rfind("1.", 0) != 0) return -1;
  int minor = 0;
  size_t at = 2;
  for (; at < version.size() && version[at] >= '0' && version[at] <= '9' && minor < 100000; ++at) {
    minor = minor * 10 + (version[at] - '0');
  }
  return at == 2 ? -1 : minor;
}

std::vector<std::string> OrtLibrariesUnder(const std::string& root) {
  std::vector<std::string> found;
  for (const char* folder : {"lib", "lib64", "capi", ""}) {
    std::vector<std::string> here;
    std::error_code error;
    for (fs::directory_iterator entry(fs::path(root) / folder, error), end; !error && entry != end;
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      if (name == kFileName || name.rfind(std::string(kFileName) + ".", 0) == 0) here.push_back(entry->path().string());
    }
    // Shortest first: the plain name, then the soname, then full versions.
    std::sort(here.begin(), here.end(), [](const std::string& a, const std::string& b) {
      return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    found.insert(found.end(), here.begin(), here.end());
  }
  return found;
}

}  // namespace owml
