// Fuzz target: any bytes in place of a file of packed weights. The engine takes them only where they are the panels of
// the model, and makes the file again otherwise; a file whose checksum somebody made right may hold other numbers, and
// nothing worse comes of it. Run by libFuzzer, and by the replay program on the corpus.
#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/native/architectures/architectures.h"
#include "backend/native/model_weights.h"
#include "backend/native/packed_cache.h"
#include "backend/native/sequences.h"
#include "base/error.h"
#include "formats/packed_file.h"
#include "native_samples.h"

namespace {

using namespace owml;  // NOLINT
namespace fs = std::filesystem;

void Require(bool condition) {
  if (!condition) std::abort();
}

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The file is written in place, so that whether it was made again can be seen by its node.
void Write(const fs::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  Require(file.good());
}

// A model on disk, and a folder as the user's cache that is its own.
class Place {
 public:
  Place() {
    std::string pattern = (fs::temp_directory_path() / "owml-fuzz-XXXXXX").string();
    Require(::mkdtemp(pattern.data()) != nullptr);
    folder_ = pattern;
    ::setenv("OWML_CACHE_DIR", folder_.c_str(), 1);
    ::unsetenv("OWML_PACKED_CACHE");
    ::unsetenv("OWML_PACKED_CACHE_MIB");
    Write(folder_ / "model.gguf", RandomModelFile(fuzz::ModelToPack()).Bytes());
    Load(/*cached=*/true);
    for (const auto& entry : fs::directory_iterator(folder_ / "packed")) path_ = entry.path();
    file_ = Read(path_);
    // Without the cache the panels are the same.
    const auto plain = Load(/*cached=*/false);
    Require(plain->memory().size() + PackedFileHead::kBytes == file_.size());
    Require(std::memcmp(plain->memory().data(), Payload(file_), plain->memory().size()) == 0);
  }
  ~Place() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  std::shared_ptr<const native::ModelWeights> Load(bool cached) const {
    auto model = std::make_shared<const GgufModelFiles>(OpenGgufModel(folder_ / "model.gguf"));
    const std::shared_ptr<const std::vector<GgufFile>> files(model, &model->files);
    const native::ModelPlan plan = native::PlanOf(files->front());
    return std::make_shared<const native::ModelWeights>(files, cached ? model.get() : nullptr, plan,
                                                        native::FindTensors(*files, plan));
  }

  static const char* Payload(const std::string& file) { return file.data() + PackedFileHead::kBytes; }
  const fs::path& path() const { return path_; }
  const std::string& file() const { return file_; }  // the right one

 private:
  fs::path folder_, path_;
  std::string file_;
};

PackedFileHead HeadOf(const std::string& file) {
  const auto head = PackedFileHead::Parse(std::as_bytes(std::span(file)));
  return head.value_or(PackedFileHead());
}

// The file that an input stands for.
std::string FileOf(std::span<const uint8_t> input, const Place& place) {
  const uint8_t what = input[0];
  const size_t at = input[1] | size_t{input[2]} << 8;
  const auto bytes = input.subspan(fuzz::kPackedInputStart);
  std::string file = what & fuzz::kOverRightFile ? place.file() : std::string();
  file.resize(std::max(file.size(), at + bytes.size()));
  for (size_t i = 0; i < bytes.size(); ++i) file[at + i] = static_cast<char>(file[at + i] ^ bytes[i]);
  if (what & fuzz::kCut) file.resize(at + bytes.size());
  if (what & fuzz::kRightLength) file.resize(place.file().size());
  if (file.size() < PackedFileHead::kBytes || !(what & (fuzz::kRightLength | fuzz::kRightKey | fuzz::kRightChecksum))) {
    return file;
  }
  const auto payload = std::as_bytes(std::span(file)).subspan(PackedFileHead::kBytes);
  PackedFileHead head = HeadOf(file);
  if (what & fuzz::kRightLength) head.payload_bytes = payload.size();
  if (what & fuzz::kRightKey) head.key = HeadOf(place.file()).key;
  if (what & fuzz::kRightChecksum) head.checksum = PackedChecksum(payload);
  const auto bytes_of_head = head.Bytes();
  std::memcpy(file.data(), bytes_of_head.data(), bytes_of_head.size());
  return file;
}

void CheckHead(const std::string& file) {
  const auto head = PackedFileHead::Parse(std::as_bytes(std::span(file)));
  if (!head) return;
  Require(head->source.size() <= PackedFileHead::kMaxSource);
  const auto bytes = head->Bytes();
  const auto again = PackedFileHead::Parse(bytes);
  Require(again && again->key == head->key && again->payload_bytes == head->payload_bytes &&
          again->checksum == head->checksum && again->source == head->source);
}

void RequireHolds(const native::ModelWeights& weights, const std::string& file) {
  const auto memory = weights.memory();
  Require(memory.size() + PackedFileHead::kBytes == file.size());
  Require(std::memcmp(memory.data(), Place::Payload(file), memory.size()) == 0);
}

void RunTokens(std::shared_ptr<const native::ModelWeights> weights) {
  const uint64_t vocabulary = weights->plan().vocabulary;
  const native::ForwardSettings settings{.capacity = 2, .batch_size = 2, .threads = 1};
  native::Sequences sequences(std::move(weights), settings, kernels::KernelsFor(kernels::ChosenIsa()));
  const int32_t tokens[] = {1, 2};
  std::vector<float> logits(2 * vocabulary);
  const native::Continuation next{.slot = *sequences.Add(), .tokens = tokens, .rows = native::LogitRows::kAll};
  sequences.Step({&next, 1}, {.logits = logits});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Place place;
  if (size < fuzz::kPackedInputStart) return 0;
  const std::string file = FileOf({data, size}, place);
  CheckHead(file);
  Write(place.path(), file);
  try {
    const auto weights = place.Load(/*cached=*/true);
    const std::string left = Read(place.path());
    if (left != file) {
      Require(left == place.file());
      RequireHolds(*weights, place.file());
      return 0;
    }
    const auto head = PackedFileHead::Parse(std::as_bytes(std::span(file)));
    const auto payload = std::as_bytes(std::span(file)).subspan(PackedFileHead::kBytes);
    Require(head && head->key == HeadOf(place.file()).key && head->checksum == PackedChecksum(payload));
    const bool made_right = (data[0] & fuzz::kRightChecksum) != 0;
    RequireHolds(*weights, made_right ? file : place.file());
    if (made_right) RunTokens(weights);
  } catch (const Error& error) {
    // The factors of angles are looked at wherever they come from.
    Require((data[0] & fuzz::kRightChecksum) != 0 && error.what()[0] != '\0');
  }
  return 0;
}
