// Reading and writing .npy.
// The header is a Python dictionary literal with three keys; only that shape of it is accepted.
#include "npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "base/mapped_file.h"
#include "failure.h"

namespace owml::cli {
namespace {

struct TypeRow {
  std::string_view descr;
  DType dtype;
};
constexpr std::array<TypeRow, 12> kTypes = {{{"<f4", DType::kFloat32},
                                             {"<f2", DType::kFloat16},
                                             {"<f8", DType::kFloat64},
                                             {"|i1", DType::kInt8},
                                             {"|u1", DType::kUInt8},
                                             {"<i2", DType::kInt16},
                                             {"<u2", DType::kUInt16},
                                             {"<i4", DType::kInt32},
                                             {"<u4", DType::kUInt32},
                                             {"<i8", DType::kInt64},
                                             {"<u8", DType::kUInt64},
                                             {"|b1", DType::kBool}}};

// The text after "'key':" in the header, with leading spaces removed; empty when the key is missing.
std::string_view ValueOf(std::string_view header, std::string_view key) {
  const std::string quoted = "'" + std::string(key) + "'";
  const size_t at = header.find(quoted);
  if (at == std::string_view::npos) return {};
  std::string_view rest = header.substr(at + quoted.size());
  const size_t colon = rest.find(':');
  if (colon == std::string_view::npos) return {};
  rest.remove_prefix(colon + 1);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return rest;
}

std::optional<Dims> ParseShape(std::string_view text) {
  if (text.empty() || text.front() != '(') return std::nullopt;
  const size_t close = text.find(')');
  if (close == std::string_view::npos) return std::nullopt;
  Dims dims;
  const char* at = text.data() + 1;
  const char* end = text.data() + close;
  while (at < end) {
    if (*at == ' ' || *at == ',') {
      ++at;
      continue;
    }
    uint64_t extent = 0;
    const auto parsed = std::from_chars(at, end, extent);
    if (parsed.ec != std::errc() || dims.size() == kMaxRank) return std::nullopt;
    dims.push_back(extent);
    at = parsed.ptr;
  }
  return dims;
}

// One byte for each four-bit element.
std::vector<std::byte> Unpack(DType dtype, uint64_t count, std::span<const std::byte> packed) {
  std::vector<std::byte> values(std::min<uint64_t>(count, packed.size() * 2));
  for (size_t i = 0; i < values.size(); ++i) {
    const int nibble = (static_cast<int>(packed[i / 2]) >> (i % 2 ? 4 : 0)) & 15;
    values[i] = static_cast<std::byte>(dtype == DType::kInt4 && nibble > 7 ? nibble - 16 : nibble);
  }
  return values;
}

}  // namespace

NpyArray ReadNpy(const std::filesystem::path& path) {
  const auto file = MappedFile::Open(path);
  const std::span<const std::byte> bytes = file->bytes();
  auto fail = [&](const std::string& why) { throw Failure(fmt::format("'{}': {}", path.string(), why), E_INVALIDARG); };
  if (bytes.size() < 10 || std::memcmp(bytes.data(), "\x93NUMPY", 6) != 0) fail("no .npy file (magic is missing)");
  const int major = static_cast<int>(bytes[6]);
  const size_t length_bytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3) fail(fmt::format("format version {} is unknown", major));
  size_t header_size = 0;
  if (bytes.size() < 8 + length_bytes) fail("the header is cut short");
  for (size_t i = 0; i < length_bytes; ++i) header_size |= static_cast<size_t>(bytes[8 + i]) << (8 * i);
  const size_t data_start = 8 + length_bytes + header_size;
  if (header_size > bytes.size() || data_start > bytes.size()) fail("the header is cut short");
  const std::string_view header(reinterpret_cast<const char*>(bytes.data()) + 8 + length_bytes, header_size);

  NpyArray array;
  const std::string_view descr = ValueOf(header, "descr");
  const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& row) {
    return descr.size() > row.descr.size() + 1 && descr.substr(1, row.descr.size()) == row.descr;
  });
  if (type == kTypes.end())
    fail(fmt::format("element type {} is not supported", descr.substr(0, std::min<size_t>(descr.size(), 16))));
  if (ValueOf(header, "fortran_order").substr(0, 5) != "False")
    fail("Fortran order is not supported; save a C-ordered array");
  const std::optional<Dims> dims = ParseShape(ValueOf(header, "shape"));
  if (!dims) fail("the shape cannot be read");
  array.dtype = type->dtype;
  array.dims = *dims;
  const std::optional<uint64_t> size = ByteSize(array.dtype, array.dims);
  if (!size || *size != bytes.size() - data_start) {
    fail(fmt::format("{} needs {} bytes of data, the file has {}", ToString(array.dtype, array.dims),
                     size ? std::to_string(*size) : "more than 2^64", bytes.size() - data_start));
  }
  array.data.assign(bytes.begin() + static_cast<std::ptrdiff_t>(data_start), bytes.end());
  return array;
}

DType StoredType(DType dtype) {
  switch (dtype) {
    case DType::kBFloat16:
      return DType::kUInt16;
    case DType::kInt4:
      return DType::kInt8;
    case DType::kUInt4:
    case DType::kUndefined:
      return DType::kUInt8;
    default:
      return dtype;
  }
}

NpyArray Restore(NpyArray array, DType dtype, const std::filesystem::path& path) {
  if (array.dtype == dtype || array.dtype != StoredType(dtype)) return array;
  array.dtype = dtype;
  if (BytesPerElement(dtype) != 0) return array;
  const int least = dtype == DType::kInt4 ? -8 : 0;
  std::vector<std::byte> packed((array.data.size() + 1) / 2);
  for (size_t i = 0; i < array.data.size(); ++i) {
    const int stored = static_cast<int>(array.data[i]);
    const int value = dtype == DType::kInt4 && stored > 127 ? stored - 256 : stored;
    if (value < least || value > least + 15) {
      throw Failure(fmt::format("'{}': {} at element {} does not fit {}", path.string(), value, i, Name(dtype)),
                    E_INVALIDARG);
    }
    packed[i / 2] |= static_cast<std::byte>((value & 15) << (i % 2 ? 4 : 0));
  }
  array.data = std::move(packed);
  return array;
}

void WriteNpy(const std::filesystem::path& path, DType dtype, const Dims& dims, std::span<const std::byte> data) {
  const DType stored = StoredType(dtype);
  std::vector<std::byte> unpacked;
  if (dtype != DType::kUndefined && BytesPerElement(dtype) == 0) {
    unpacked = Unpack(dtype, ElementCount(dims).value_or(0), data);
    data = unpacked;
  }
  const Dims shape = dtype == DType::kUndefined ? Dims{data.size()} : dims;
  const auto type = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& row) { return row.dtype == stored; });
  std::string extents;
  for (uint64_t d : shape) extents += fmt::format("{}, ", d);
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type->descr, extents);
  // The data start at a multiple of 64: 10 bytes stand before the header, a newline ends it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write("\x93NUMPY\x01\x00", 8);
  const char length[2] = {static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  file.write(length, 2);
  file.write(header.data(), static_cast<std::streamsize>(header.size()));
  file.write(reinterpret_cast<const char*>(data.data()), static_cast<std::streamsize>(data.size()));
  file.flush();
  if (!file) throw Failure(fmt::format("cannot write '{}'", path.string()));
}

}  // namespace owml::cli
