// Signatures of model formats and of what is found under their names by mistake.
// ONNX has no signature: its protobuf fields are walked instead.
#include "formats/file_identity.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/bad_data.h"
#include "formats/byte_reader.h"

namespace owml {
namespace {

bool StartsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

bool HasAt(std::string_view text, size_t offset, std::string_view what) {
  return text.size() >= offset + what.size() && text.substr(offset, what.size()) == what;
}

// `start` is lower case.
bool StartsWithIgnoringCase(std::string_view text, std::string_view start) {
  if (text.size() < start.size()) return false;
  return std::equal(start.begin(), start.end(), text.begin(),
                    [](char a, char b) { return a == ((b >= 'A' && b <= 'Z') ? static_cast<char>(b + 32) : b); });
}

std::string_view WithoutLeadingSpace(std::string_view text) {
  if (StartsWith(text, "\xEF\xBB\xBF")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n\f");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

bool LooksLikeText(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<uint8_t>(c);
    if ((byte < 0x20 && std::string_view("\t\n\f\r\x1b").find(c) == std::string_view::npos) || byte == 0x7F)
      return false;
  }
  // The window may end inside a character.
  for (size_t cut = 0; cut < 4 && cut <= text.size(); ++cut) {
    if (IsValidUtf8(text.substr(0, text.size() - cut))) return true;
  }
  return false;
}

// An 8-byte length and then a JSON object of that length.
bool LooksLikeSafetensors(std::span<const std::byte> start) {
  if (start.size() < 10 || start[8] != std::byte{'{'}) return false;
  const auto length = LoadLittleEndian<uint64_t>(start.data());
  const char next = static_cast<char>(start[9]);
  return length >= 2 && length <= (uint64_t{1} << 32) && (next == '"' || next == '}' || next == ' ' || next == '\n');
}

std::optional<uint64_t> ReadVarint(ByteReader* reader) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::optional<uint8_t> byte = reader->Read<uint8_t>();
    if (!byte) return std::nullopt;
    value |= uint64_t{*byte & 0x7Fu} << shift;
    if (*byte < 0x80) return value;
  }
  return std::nullopt;
}

// Every field in the window is one that a ModelProto may have, with its wire type, and one that every model has is
// among them.
bool LooksLikeOnnx(std::span<const std::byte> start) {
  constexpr uint64_t kVarint = 0;
  constexpr uint64_t kBytes = 2;
  ByteReader reader(start);
  bool typical = false;
  while (reader.remaining() > 0) {
    const bool first = reader.position() == 0;
    const std::optional<uint64_t> tag = ReadVarint(&reader);
    if (!tag) return !first && typical;
    const uint64_t field = *tag >> 3;
    const uint64_t wire = *tag & 7;
    const bool number = field == 1 || field == 5;
    const bool text = field == 2 || field == 3 || field == 4 || field == 6 || field == 7 || field == 8 || field == 14 ||
                      field == 20 || field == 25 || field == 26;
    if (!(number && wire == kVarint) && !(text && wire == kBytes)) return false;
    const std::optional<uint64_t> value = ReadVarint(&reader);
    if (!value) return typical;
    if (field == 1 && *value > 1000) return false;  // IR versions are small
    if (field == 1 || field == 7 || field == 8) typical = true;
    if (text && !reader.Take(*value)) return typical;  // goes on behind the window
  }
  return typical;
}

bool IsPyTorchZip(std::string_view text) {
  return text.find("/data.pkl") != std::string_view::npos || text.find("archive/") != std::string_view::npos ||
         text.find("/byteorder") != std::string_view::npos;
}

FileIdentity IdentifyText(std::string_view text) {
  const std::string_view body = WithoutLeadingSpace(text);
  if (StartsWith(body, "version https://git-lfs")) return FileIdentity::kGitLfsPointer;
  for (const std::string_view tag : {"<!doctype html", "<html", "<head", "<body", "<script", "<meta"}) {
    if (StartsWithIgnoringCase(body, tag)) return FileIdentity::kHtml;
  }
  if (StartsWith(body, "{") || StartsWith(body, "[")) return FileIdentity::kJson;
  return FileIdentity::kText;
}

}  // namespace

FileIdentity IdentifyFile(std::span<const std::byte> start) {
  start = start.first(std::min(start.size(), kIdentityBytes));
  const std::string_view text = AsText(start);
  if (text.empty()) return FileIdentity::kEmpty;
  if (StartsWith(text, "GGUF")) return FileIdentity::kGguf;
  if (HasAt(text, 4, "ORTM")) return FileIdentity::kOrtFlatbuffer;
  if (HasAt(text, 4, "TFL3")) return FileIdentity::kTfLite;
  for (const std::string_view magic : {"tjgg", "lmgg", "fmgg", "algg"}) {
    if (StartsWith(text, magic)) return FileIdentity::kOldGgml;
  }
  if (StartsWith(text, "\x93NUMPY")) return FileIdentity::kNumpy;
  if (StartsWith(text, "\x89HDF\r\n\x1a\n")) return FileIdentity::kHdf5;
  if (StartsWith(text, "PK\x03\x04")) return IsPyTorchZip(text) ? FileIdentity::kPyTorchZip : FileIdentity::kZip;
  if (StartsWith(text, "\x1f\x8b")) return FileIdentity::kGzip;
  if (StartsWith(text, "\x28\xb5\x2f\xfd") ||
      StartsWith(text,
                 "\xfd"
                 "7zXZ") ||
      StartsWith(text, "BZh") || StartsWith(text, "7z\xbc\xaf\x27\x1c") || HasAt(text, 257, "ustar")) {
    return FileIdentity::kOtherArchive;
  }
  if (StartsWith(text,
                 "\x7f"
                 "ELF") ||
      (StartsWith(text, "MZ") && !LooksLikeText(text)))
    return FileIdentity::kExecutable;
  if (StartsWith(text, "%PDF-")) return FileIdentity::kPdf;
  if (StartsWith(text, "\x89PNG") || StartsWith(text, "\xff\xd8\xff") || StartsWith(text, "GIF8"))
    return FileIdentity::kImage;
  // Protocol 2 to 5, then an opcode; protobuf cannot start with this byte pair and end up plausible.
  if (text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5) return FileIdentity::kPickle;
  if (LooksLikeSafetensors(start)) return FileIdentity::kSafetensors;
  if (LooksLikeText(text)) return IdentifyText(text);
  if (LooksLikeOnnx(start)) return FileIdentity::kOnnx;
  return FileIdentity::kUnknown;
}

std::string Describe(FileIdentity identity) {
  switch (identity) {
    case FileIdentity::kUnknown:
      return "of an unknown format";
    case FileIdentity::kEmpty:
      return "empty";
    case FileIdentity::kGguf:
      return "a GGUF model";
    case FileIdentity::kOrtFlatbuffer:
      return "an ONNX Runtime model in ORT format";
    case FileIdentity::kOnnx:
      return "an ONNX model";
    case FileIdentity::kGitLfsPointer:
      return "a Git LFS pointer, not the model itself: run `git lfs pull`";
    case FileIdentity::kHtml:
      return "an HTML page, perhaps the message of a download that failed";
    case FileIdentity::kSafetensors:
      return "a safetensors weight file: convert it to GGUF or ONNX first";
    case FileIdentity::kPyTorchZip:
      return "a PyTorch checkpoint: convert it to GGUF or ONNX first";
    case FileIdentity::kPickle:
      return "a Python pickle, perhaps an old PyTorch checkpoint: convert it to GGUF or ONNX first";
    case FileIdentity::kOldGgml:
      return "a model in a format older than GGUF: convert it again";
    case FileIdentity::kTfLite:
      return "a TensorFlow Lite model: convert it to ONNX first";
    case FileIdentity::kNumpy:
      return "a NumPy array";
    case FileIdentity::kHdf5:
      return "an HDF5 file, perhaps Keras weights: convert it to ONNX first";
    case FileIdentity::kZip:
      return "a ZIP archive: unpack it first";
    case FileIdentity::kGzip:
      return "compressed with gzip: unpack it first";
    case FileIdentity::kOtherArchive:
      return "a compressed file or archive: unpack it first";
    case FileIdentity::kExecutable:
      return "a program or library";
    case FileIdentity::kPdf:
      return "a PDF document";
    case FileIdentity::kImage:
      return "an image";
    case FileIdentity::kJson:
      return "a JSON text";
    case FileIdentity::kText:
      return "a text file";
  }
  return "of an unknown format";
}

}  // namespace owml
