// Opening, checking and handing on of GGUF files to llama.cpp.
// The descriptors stay open, so that a later load reads the very files that were checked.
#include "llama/llama_artifact.h"

#include <fcntl.h>
#include <llama.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/error.h"
#include "base/file_map_guards.h"
#include "base/mapped_file.h"
#include "base/write_all.h"
#include "formats/gguf_llama_check.h"
#include "formats/gguf_shards.h"
#include "llama/llama_hooks.h"

namespace owml {
namespace {

int OpenForReading(const std::filesystem::path& path) {
  RequireRegularFile(path);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) ThrowErrno(errno, "cannot open '" + path.string() + "'");
  return descriptor;
}

void ReplaceAll(std::string* text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

// llama.cpp maps the files itself.
struct LlamaModelDeleter {
  std::shared_ptr<FileMapGuards> guards;

  void operator()(llama_model* model) {
    guards.reset();
    llama_model_free(model);
  }
};

}  // namespace

std::shared_ptr<const LlamaArtifact> LlamaArtifact::OpenFile(const std::filesystem::path& path) {
  std::shared_ptr<LlamaArtifact> artifact(new LlamaArtifact("'" + path.string() + "'"));
  artifact->Add(OpenForReading(path), artifact->label_);
  const std::vector<std::filesystem::path> shards = GgufShardPaths(path, artifact->gguf());
  if (shards.size() > 1) {
    OpenGgufModel(path);  // says what does not belong together
    for (size_t i = 1; i < shards.size(); ++i) artifact->Add(OpenForReading(shards[i]), "'" + shards[i].string() + "'");
  }
  CheckModelForLlama(artifact->files_);
  return artifact;
}

std::shared_ptr<const LlamaArtifact> LlamaArtifact::OpenBuffer(std::span<const std::byte> bytes) {
  std::shared_ptr<LlamaArtifact> artifact(new LlamaArtifact("the model buffer"));
  // llama.cpp reads files only; a memory file is mapped like any other.
  const int descriptor = ::memfd_create("owml-gguf", MFD_CLOEXEC);
  if (descriptor < 0) ThrowErrno(errno, "cannot make a memory file for the model buffer");
  artifact->descriptors_.push_back(descriptor);
  if (!WriteAll(descriptor, bytes)) ThrowErrno(errno, "cannot copy the model buffer into a memory file");
  artifact->descriptors_.pop_back();
  artifact->Add(descriptor, artifact->label_);
  const uint32_t count = artifact->gguf().metadata().FindUInt32("split.count").value_or(1);
  if (count > 1) {
    throw Error(HRESULT_FROM_WIN32(ERROR_NOT_SUPPORTED), "the model buffer is one of " + std::to_string(count) +
                                                             " shards; a sharded model is loaded from its first file");
  }
  CheckModelForLlama(artifact->files_);
  return artifact;
}

LlamaArtifact::~LlamaArtifact() {
  for (const int descriptor : descriptors_) ::close(descriptor);
}

void LlamaArtifact::Add(int descriptor, const std::string& label) {
  descriptors_.push_back(descriptor);
  descriptor_paths_.push_back("/proc/self/fd/" + std::to_string(descriptor));
  const auto map = MappedFile::Open(descriptor_paths_.back());
  maps_.push_back(map);
  files_.push_back(GgufFile::Parse(map->bytes(), label));
}

std::shared_ptr<llama_model> LlamaArtifact::LoadModel(const llama_model_params& params) const {
  InstallLlamaHooks();
  const LlamaErrorLines lines;
  std::string reason;
  try {
    std::vector<const char*> paths;
    for (const std::string& path : descriptor_paths_) paths.push_back(path.c_str());
    llama_model* model = paths.size() == 1 ? llama_model_load_from_file(paths[0], params)
                                           : llama_model_load_from_splits(paths.data(), paths.size(), params);
    if (model) {
      LlamaModelDeleter deleter{std::make_shared<FileMapGuards>()};
      for (const int descriptor : descriptors_) deleter.guards->Add(descriptor);
      return {model, deleter};
    }
    reason = lines.Reason();
  } catch (const LlamaAssertion& assertion) {
    reason = assertion.what();
  }
  for (size_t i = 0; i < files_.size(); ++i) ReplaceAll(&reason, descriptor_paths_[i], files_[i].label());
  const bool memory = reason.find("allocate") != std::string::npos || reason.find("bad_alloc") != std::string::npos;
  throw Error(memory ? E_OUTOFMEMORY : HRESULT_FROM_WIN32(ERROR_INVALID_DATA),
              label_ + ": llama.cpp cannot load it: " + (reason.empty() ? "no reason given" : reason));
}

void RequireWholeFiles(const std::shared_ptr<llama_model>& model, const std::string& label) {
  const auto* deleter = std::get_deleter<LlamaModelDeleter>(model);
  if (deleter) deleter->guards->RequireWhole(label);
}

}  // namespace owml
