// Reading of GGUF: header, metadata, tensor list, then the layout of the data section.
// GgufParser holds the cursor while one file is read.
#include "formats/gguf.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "formats/bad_data.h"
#include "formats/byte_reader.h"

namespace owml {
namespace {

// Smallest entries that can be stored: key of one byte, type, one byte of value; name, rank, type, offset.
constexpr uint64_t kSmallestEntry = 8 + 1 + 4 + 1;
constexpr uint64_t kSmallestTensor = 8 + 1 + 4 + 4 + 8;

std::string Count(uint64_t number, const char* thing) {
  return std::to_string(number) + " " + thing + (number == 1 ? "" : "s");
}

}  // namespace

class GgufParser {
 public:
  GgufParser(std::span<const std::byte> bytes, GgufFile* file) : bytes_(bytes), reader_(bytes), file_(*file) {}

  void Parse() {
    ReadHeader();
    ReadMetadata();
    ReadTensorList();
    SortNames();
    LayOutData();
  }

 private:
  [[noreturn]] void Bad(const std::string& sentence) const { ThrowBadData(file_.label_, sentence); }

  [[noreturn]] void CutShort(const std::string& what) const {
    Bad("the file ends inside " + what + " (it has " + Count(bytes_.size(), "byte") + ")");
  }

  template <typename T>
  T Number(const std::string& what) {
    if (const std::optional<T> value = reader_.Read<T>()) return *value;
    CutShort(what);
  }

  void ReadHeader() {
    const auto magic = reader_.Take(4);
    if (!magic || AsText(*magic) != "GGUF") Bad("it does not start with the letters GGUF");
    file_.version_ = Number<uint32_t>("the GGUF header");
    const uint32_t version = file_.version_;
    if (version != 0 && (version & 0xFFFF) == 0) {
      Bad("it is a big-endian GGUF file; only little-endian files can be read here");
    }
    if (version == 1) Bad("it is GGUF version 1, which is no longer in use; convert the model again");
    if (version != 2 && version != 3) Bad("its GGUF version is " + std::to_string(version) + "; 2 and 3 can be read");
    tensor_count_ = Number<uint64_t>("the GGUF header");
    entry_count_ = Number<uint64_t>("the GGUF header");
    CheckCount(entry_count_, kSmallestEntry, "metadata keys");
    CheckCount(tensor_count_, kSmallestTensor, "tensors");
  }

  void CheckCount(uint64_t count, uint64_t smallest, const char* things) const {
    const uint64_t left = reader_.remaining();
    if (count > left / smallest) {
      Bad("it announces " + std::to_string(count) + " " + things + ", but only " + Count(left, "byte") + " follow");
    }
    // Positions in the lists have 32 bits.
    if (count > static_cast<uint64_t>(INT32_MAX)) Bad("it announces " + std::to_string(count) + " " + things);
  }

  // A length and that many bytes.
  std::string_view String(const std::string& what) {
    const uint64_t length = Number<uint64_t>(what);
    const uint64_t left = reader_.remaining();
    if (const auto text = reader_.Take(length)) return AsText(*text);
    Bad(what + " is announced as " + Count(length, "byte") + " long, but only " + std::to_string(left) + " are left");
  }

  GgufValueType ValueType(const std::string& what) {
    const uint32_t number = Number<uint32_t>(what);
    if (!IsKnownGgufValueType(number)) Bad(what + " has the unknown value type " + std::to_string(number));
    return static_cast<GgufValueType>(number);
  }

  void CheckBools(std::span<const std::byte> payload, const std::string& what) const {
    for (const std::byte byte : payload) {
      if (std::to_integer<unsigned>(byte) > 1) {
        Bad(what + " holds a bool of value " + std::to_string(std::to_integer<unsigned>(byte)) + "; 0 and 1 are valid");
      }
    }
  }

  std::span<const std::byte> StringArray(uint64_t count, const std::string& what) {
    const uint64_t left = reader_.remaining();
    if (count > left / 8) {
      Bad(what + " announces " + std::to_string(count) + " strings, but only " + Count(left, "byte") + " are left");
    }
    const uint64_t start = reader_.position();
    for (uint64_t i = 0; i < count; ++i) {
      const std::optional<uint64_t> length = reader_.Read<uint64_t>();
      if (!length || !reader_.Take(*length)) {
        Bad("string " + std::to_string(i) + " of " + what +
            (length ? " is announced as " + Count(*length, "byte") + " long, but only " +
                          std::to_string(reader_.remaining()) + " are left"
                    : " is beyond the end of the file"));
      }
    }
    return bytes_.subspan(static_cast<size_t>(start), static_cast<size_t>(reader_.position() - start));
  }

  GgufValue Array(const std::string& what) {
    GgufValue value;
    value.type = GgufValueType::kArray;
    value.element_type = ValueType(what);
    value.count = Number<uint64_t>(what);
    if (value.element_type == GgufValueType::kArray) Bad(what + " is an array of arrays, which no GGUF file needs");
    if (value.element_type == GgufValueType::kString) {
      value.payload = StringArray(value.count, what);
      return value;
    }
    const uint64_t size = ByteSize(value.element_type);
    if (value.count > reader_.remaining() / size) {
      Bad(what + " announces " + std::to_string(value.count) + " elements of " + Count(size, "byte") + ", but only " +
          Count(reader_.remaining(), "byte") + " are left");
    }
    value.payload = *reader_.Take(value.count * size);
    if (value.element_type == GgufValueType::kBool) CheckBools(value.payload, what);
    return value;
  }

  GgufValue Value(const std::string& what) {
    GgufValue value;
    value.type = ValueType(what);
    if (value.type == GgufValueType::kArray) return Array(what);
    if (value.type == GgufValueType::kString) {
      const std::string_view text = String(what);
      value.payload = std::as_bytes(std::span(text.data(), text.size()));
      return value;
    }
    const auto payload = reader_.Take(ByteSize(value.type));
    if (!payload) CutShort(what);
    value.payload = *payload;
    if (value.type == GgufValueType::kBool) CheckBools(value.payload, what);
    return value;
  }

  void ReadMetadata() {
    std::vector<GgufEntry> entries;
    for (uint64_t i = 0; i < entry_count_; ++i) {
      GgufEntry entry;
      entry.key = String("metadata key " + std::to_string(i));
      if (entry.key.empty()) Bad("metadata key " + std::to_string(i) + " is empty");
      // Readers in C would see a shorter key, which could then stand for another one.
      if (entry.key.find('\0') != std::string_view::npos)
        Bad("the metadata key " + Quoted(entry.key) + " holds a zero byte");
      entry.value = Value(Quoted(entry.key));
      entries.push_back(entry);
    }
    file_.metadata_ = GgufMetadata(std::move(entries), file_.label_);
    ReadAlignment();
  }

  void ReadAlignment() {
    const GgufValue* value = file_.metadata_.Find("general.alignment");
    if (!value) return;
    if (value->type != GgufValueType::kUInt32) {
      Bad("'general.alignment' has type " + value->TypeName() + "; it must be uint32");
    }
    const auto alignment = static_cast<uint32_t>(*value->AsUnsigned());
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
      Bad("'general.alignment' is " + std::to_string(alignment) + ", which is no power of two");
    }
    if (alignment > kGgufMaxAlignment) {
      Bad("'general.alignment' is " + std::to_string(alignment) + "; at most " + std::to_string(kGgufMaxAlignment) +
          " is accepted");
    }
    file_.alignment_ = alignment;
  }

  void ReadTensorList() {
    for (uint64_t i = 0; i < tensor_count_; ++i) {
      GgufTensor tensor;
      tensor.name = String("the name of tensor " + std::to_string(i));
      if (tensor.name.empty()) Bad("tensor " + std::to_string(i) + " has no name");
      if (tensor.name.size() > kGgufMaxTensorName) {
        Bad("the name of tensor " + std::to_string(i) + ", " + Quoted(tensor.name) + ", has " +
            Count(tensor.name.size(), "byte") + "; at most " + std::to_string(kGgufMaxTensorName) + " are allowed");
      }
      if (tensor.name.find('\0') != std::string_view::npos)
        Bad("the tensor name " + Quoted(tensor.name) + " holds a zero byte");
      ReadTensor("tensor " + Quoted(tensor.name), &tensor);
      file_.tensors_.push_back(tensor);
    }
  }

  // Shape, type and offset; leaves the size in bytes in sizes_.
  void ReadTensor(const std::string& what, GgufTensor* tensor) {
    tensor->rank = Number<uint32_t>(what);
    if (tensor->rank > kGgufMaxDims) {
      Bad(what + " has " + std::to_string(tensor->rank) + " dimensions; at most 4 are allowed");
    }
    uint64_t elements = 1;
    uint64_t positive = 1;  // the product without zeros, so that no order of factors can hide a wrap
    for (uint32_t d = 0; d < tensor->rank; ++d) {
      tensor->dims[d] = Number<uint64_t>(what);
      elements *= tensor->dims[d] ? 1 : 0;
      if (tensor->dims[d] && __builtin_mul_overflow(positive, tensor->dims[d], &positive)) positive = UINT64_MAX;
    }
    if (positive > static_cast<uint64_t>(INT64_MAX)) {
      Bad(what + " has the shape " + tensor->ShapeText() + ", whose element count does not fit 63 bits");
    }
    elements *= positive;

    const uint32_t number = Number<uint32_t>(what);
    const GgmlTypeInfo* info = FindGgmlType(number);
    if (!info) Bad(what + " has the element type " + DescribeGgmlType(number) + ", which cannot be read here");
    tensor->type = info->type;
    if (tensor->dims[0] % info->block_elements != 0) {
      Bad(what + " has rows of " + Count(tensor->dims[0], "element") + "; its type " + std::string(info->name) +
          " needs a multiple of " + std::to_string(info->block_elements));
    }
    uint64_t size = 0;
    if (__builtin_mul_overflow(elements / info->block_elements, uint64_t{info->block_bytes}, &size)) {
      Bad(what + " has the shape " + tensor->ShapeText() + ", whose size in bytes does not fit 64 bits");
    }
    tensor->offset = Number<uint64_t>(what);
    if (tensor->offset % file_.alignment_ != 0) {
      Bad(what + " starts at offset " + std::to_string(tensor->offset) +
          " of the data section, which is no multiple of the alignment " + std::to_string(file_.alignment_));
    }
    sizes_.push_back(size);
  }

  void SortNames() {
    const std::vector<GgufTensor>& tensors = file_.tensors_;
    file_.by_name_.resize(tensors.size());
    std::iota(file_.by_name_.begin(), file_.by_name_.end(), 0u);
    std::sort(file_.by_name_.begin(), file_.by_name_.end(),
              [&tensors](uint32_t a, uint32_t b) { return tensors[a].name < tensors[b].name; });
    for (size_t i = 1; i < file_.by_name_.size(); ++i) {
      const std::string_view name = tensors[file_.by_name_[i]].name;
      if (tensors[file_.by_name_[i - 1]].name == name) Bad("two tensors are named " + Quoted(name));
    }
  }

  void LayOutData() {
    std::vector<GgufTensor>& tensors = file_.tensors_;
    const uint64_t end_of_list = reader_.position();
    const uint64_t mask = uint64_t{file_.alignment_} - 1;
    // No wrap: a position in memory is far below 2^63, and the mask below 2^16.
    file_.data_offset_ = (end_of_list + mask) & ~mask;
    if (tensors.empty()) return;
    const uint64_t available = bytes_.size() > file_.data_offset_ ? bytes_.size() - file_.data_offset_ : 0;

    for (size_t i = 0; i < tensors.size(); ++i) {
      GgufTensor& tensor = tensors[i];
      if (tensor.offset > available || sizes_[i] > available - tensor.offset) {
        Bad("the data of tensor " + Quoted(tensor.name) + " takes " + Count(sizes_[i], "byte") + " at offset " +
            std::to_string(tensor.offset) + " of the data section, which has only " + Count(available, "byte") +
            "; the file may be cut short");
      }
      tensor.data =
          bytes_.subspan(static_cast<size_t>(file_.data_offset_ + tensor.offset), static_cast<size_t>(sizes_[i]));
    }

    std::vector<uint32_t> order(tensors.size());
    std::iota(order.begin(), order.end(), 0u);
    // An empty tensor may share its offset with the next one; it comes first then.
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return std::pair(tensors[a].offset, sizes_[a]) < std::pair(tensors[b].offset, sizes_[b]);
    });
    for (size_t i = 1; i < order.size(); ++i) {
      const GgufTensor& before = tensors[order[i - 1]];
      const GgufTensor& after = tensors[order[i]];
      if (before.offset + sizes_[order[i - 1]] > after.offset) {
        Bad("the data of the tensors " + Quoted(before.name) + " and " + Quoted(after.name) + " overlap at offset " +
            std::to_string(after.offset) + " of the data section");
      }
    }
  }

  std::span<const std::byte> bytes_;
  ByteReader reader_;
  GgufFile& file_;
  uint64_t tensor_count_ = 0;
  uint64_t entry_count_ = 0;
  std::vector<uint64_t> sizes_;  // bytes of each tensor
};

std::string GgufTensor::ShapeText() const {
  std::string text = "[";
  for (uint32_t d = 0; d < rank; ++d) text += (d ? ", " : "") + std::to_string(dims[d]);
  return text + "]";
}

GgufFile GgufFile::Parse(std::span<const std::byte> bytes, std::string label) {
  GgufFile file;
  file.label_ = std::move(label);
  GgufParser(bytes, &file).Parse();
  return file;
}

const GgufTensor* GgufFile::FindTensor(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name,
                                   [this](uint32_t i, std::string_view wanted) { return tensors_[i].name < wanted; });
  if (at == by_name_.end() || tensors_[*at].name != name) return nullptr;
  return &tensors_[*at];
}

}  // namespace owml
