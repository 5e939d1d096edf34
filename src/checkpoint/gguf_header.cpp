#include "checkpoint/gguf_header.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <set>
#include <span>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::array<char, 4> kMagic{'G', 'G', 'U', 'F'};
constexpr std::size_t kChunkBytes = 1 << 16;
constexpr std::uint64_t kLongestName = 1000;
constexpr std::uint64_t kLongestText =
    10'000;                                   // bytes of one in a list; tokens of spaces have 2048
constexpr std::uint64_t kLongestKept = 4096;  // elements of a list of the metadata
constexpr std::uint64_t kMostTensors = 1'000'000;
constexpr std::uint64_t kMostEntries = 10'000;  // looked up one after the other
constexpr std::uint32_t kMostDimensions = 4;
constexpr std::uint64_t kLeastAlignment = 8;  // and a multiple of it
constexpr std::uint64_t kLargestAlignment = 1 << 20;
constexpr int kDeepestList = 4;

/// Reads the file from a position on, in blocks.
class Reader {
 public:
  explicit Reader(ByteSource& source, std::uint64_t position = 0)
      : source_(source), position_(position) {}

  template <class Number>
  Number number() {
    std::array<std::byte, sizeof(Number)> bytes;
    fill(bytes);
    Number value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

  /// Reads a length and so many bytes; skips a text longer than `most` and returns nothing.
  std::optional<std::string> text(std::uint64_t most) {
    const auto length = number<std::uint64_t>();
    if (length > most) {
      skip(length);
      return std::nullopt;
    }
    std::string text(static_cast<std::size_t>(length), '\0');
    fill(std::as_writable_bytes(std::span(text)));
    return text;
  }

  void skip(std::uint64_t bytes) {
    if (bytes > source_.size() - position_) refuse("its header must end inside the file");
    position_ += bytes;
  }

  std::uint64_t position() const { return position_; }

  [[noreturn]] void refuse(const std::string& message) const {
    throw FormatError(source_.name(), message);
  }

 private:
  void fill(std::span<std::byte> out) {
    if (out.size() > source_.size() - position_) refuse("its header must end inside the file");
    while (!out.empty()) {
      if (position_ < start_ || position_ >= start_ + chunk_.size()) load();
      const auto at = static_cast<std::size_t>(position_ - start_);
      const std::size_t count = std::min(out.size(), chunk_.size() - at);
      std::copy_n(chunk_.begin() + static_cast<std::ptrdiff_t>(at), count, out.begin());
      out = out.subspan(count);
      position_ += count;
    }
  }

  void load() {
    start_ = position_;
    chunk_.resize(
        static_cast<std::size_t>(std::min<std::uint64_t>(kChunkBytes, source_.size() - start_)));
    source_.read(start_, chunk_);
  }

  ByteSource& source_;
  std::vector<std::byte> chunk_;
  std::uint64_t start_ = 0;  // of the chunk
  std::uint64_t position_;   // of the next byte
};

/// The shortest decimal number with the same single precision: 1e-6 of a config.json was stored so.
double shortest(float value) {
  if (!std::isfinite(value)) return value;
  std::array<char, 32> text;
  for (int digits = 6; digits < std::numeric_limits<float>::max_digits10; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text.data(), nullptr) == value) return std::strtod(text.data(), nullptr);
  }
  return value;
}

constexpr std::uint32_t kFloat = 6, kFlag = 7, kText = 8, kList = 9;

/// A type of metadata; texts and lists have no fixed size.
struct ValueType {
  std::uint64_t bytes;
  OrderedJson (*read)(Reader&);  ///< null for lists
};
template <class Number>
constexpr ValueType number_type() {
  return {sizeof(Number), [](Reader& reader) { return OrderedJson(reader.number<Number>()); }};
}

/// The types by their numbers in the file.
constexpr std::array kValueTypes{
    number_type<std::uint8_t>(),
    number_type<std::int8_t>(),
    number_type<std::uint16_t>(),
    number_type<std::int16_t>(),
    number_type<std::uint32_t>(),
    number_type<std::int32_t>(),
    ValueType{4, [](Reader& reader) { return OrderedJson(shortest(reader.number<float>())); }},
    ValueType{1, [](Reader& reader) { return OrderedJson(reader.number<std::uint8_t>() != 0); }},
    ValueType{0,
              [](Reader& reader) { return OrderedJson(reader.text(kLongestName).value_or("")); }},
    ValueType{0, nullptr},
    number_type<std::uint64_t>(),
    number_type<std::int64_t>(),
    number_type<double>(),
};

std::uint32_t type_number(Reader& reader) {
  const auto type = reader.number<std::uint32_t>();
  if (type < kValueTypes.size()) return type;
  reader.refuse("the types of its metadata must be 0 to 12, but one is " + std::to_string(type));
}

/// Reads a value of `type`; null for a list longer than kLongestKept, which is skipped.
OrderedJson value_of(Reader& reader, const ValueType& type, int depth) {
  if (type.read != nullptr) return type.read(reader);
  if (depth == kDeepestList) reader.refuse("its metadata must not nest deeper than 4 lists");
  const ValueType& inner = kValueTypes[type_number(reader)];
  const auto count = reader.number<std::uint64_t>();
  if (count > kLongestKept && inner.bytes > 0) {
    if (count > std::numeric_limits<std::uint64_t>::max() / inner.bytes)
      reader.refuse("a list is longer than the file");
    reader.skip(count * inner.bytes);
    return nullptr;
  }
  OrderedJson list = OrderedJson::array();
  for (std::uint64_t i = 0; i < count; ++i) {
    OrderedJson value = value_of(reader, inner, depth + 1);
    if (count <= kLongestKept) list.push_back(std::move(value));
  }
  if (count > kLongestKept) return nullptr;
  return list;
}

GgufTensor tensor_of(Reader& reader) {
  GgufTensor tensor;
  tensor.name = reader.text(kLongestName).value_or("");
  if (tensor.name.empty()) reader.refuse("the names of its tensors must have 1 to 1000 bytes");
  const auto dimensions = reader.number<std::uint32_t>();
  if (dimensions > kMostDimensions) {
    refuse_item(tensor.name,
                "it must have at most 4 dimensions, but has " + std::to_string(dimensions));
  }
  std::uint64_t count = 1;
  for (std::uint32_t i = 0; i < dimensions; ++i) {
    const auto size = reader.number<std::uint64_t>();
    if (size == 0 || size > std::numeric_limits<std::uint32_t>::max() ||
        count > (std::uint64_t{1} << 48) / size) {
      refuse_item(tensor.name, "its sizes must be positive and their product below 2^48");
    }
    count *= size;
    tensor.shape.insert(tensor.shape.begin(), size);
  }
  tensor.type = reader.number<std::uint32_t>();
  tensor.begin = reader.number<std::uint64_t>();
  return tensor;
}

std::uint64_t alignment_of(const OrderedJson& metadata, const Reader& reader) {
  const auto given = metadata.find("general.alignment");
  if (given == metadata.end()) return 32;
  const std::uint64_t alignment = given->is_number_unsigned() ? given->get<std::uint64_t>() : 0;
  if (alignment == 0 || alignment % kLeastAlignment != 0 || alignment > kLargestAlignment) {
    reader.refuse("general.alignment must be a multiple of " + std::to_string(kLeastAlignment) +
                  " up to " + std::to_string(kLargestAlignment) + ", but is " +
                  shown_name(write_json(*given)));
  }
  return alignment;
}

}  // namespace

bool is_gguf(ByteSource& source) {
  std::array<char, kMagic.size()> first;
  if (source.size() < first.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(first)));
  return first == kMagic;
}

std::uint64_t GgufTensor::elements() const {
  std::uint64_t count = 1;
  for (const std::uint64_t size : shape) count *= size;
  return count;
}

const OrderedJson& only_value(const OrderedJson& value) {
  if (!value.is_array() || value.empty()) return value;
  const auto is_any = [](const OrderedJson& each) { return each != 0; };
  const auto first = std::find_if(value.begin(), value.end(), is_any);
  if (first == value.end()) return value.front();
  const bool is_same = std::all_of(
      first, value.end(), [&](const OrderedJson& each) { return each == *first || each == 0; });
  return is_same ? *first : value;
}

std::uint64_t GgufHeader::integer(const std::string& key) const {
  const auto entry = metadata.find(key);
  if (entry == metadata.end()) return 0;
  const OrderedJson& value = only_value(*entry);
  if (!value.is_number_integer()) return 0;
  const bool fits = value.is_number_unsigned() || value.get<std::int64_t>() >= 0;
  return fits ? value.get<std::uint64_t>() : 0;
}

std::string GgufHeader::text(const std::string& key) const {
  const auto entry = metadata.find(key);
  return entry != metadata.end() && entry->is_string() ? entry->get<std::string>() : "";
}

namespace {

/// Calls `read(reader, type)`, with the file's number of the type, for each element of the list that begins at byte
/// `place`. Throws FormatError naming the key for more than kLongestList elements, and unless
/// `fits(type)`.
template <class Fits, class Read>
void for_each_element(ByteSource& source, const std::string& key, std::uint64_t place,
                      const char* kind, const Fits& fits, const Read& read) {
  Reader reader(source, place);
  const std::uint32_t type = type_number(reader);
  const auto count = reader.number<std::uint64_t>();
  if (!fits(type) || count > GgufHeader::kLongestList) {
    refuse_item(key, {"it must be a list of at most ", std::to_string(GgufHeader::kLongestList),
                      " ", kind, ", but is one of ", std::to_string(count), " elements of type ",
                      std::to_string(type)});
  }
  for (std::uint64_t i = 0; i < count; ++i) read(reader, type);
}

}  // namespace

std::vector<std::string> GgufHeader::texts(ByteSource& source, const std::string& key) const {
  std::vector<std::string> texts;
  const auto list = lists.find(key);
  if (list == lists.end()) return texts;
  for_each_element(
      source, key, list->second, "strings", [](std::uint32_t type) { return type == kText; },
      [&](Reader& reader, std::uint32_t) {
        std::optional<std::string> text = reader.text(kLongestText);
        if (!text) {
          refuse_item(key, {"its strings must have at most ", std::to_string(kLongestText),
                            " bytes, but number ", std::to_string(texts.size()), " has more"});
        }
        texts.push_back(std::move(*text));
      });
  return texts;
}

std::vector<double> GgufHeader::numbers(ByteSource& source, const std::string& key) const {
  std::vector<double> numbers;
  const auto list = lists.find(key);
  if (list == lists.end()) return numbers;
  for_each_element(
      source, key, list->second, "numbers",
      [](std::uint32_t type) { return type != kFlag && kValueTypes[type].bytes > 0; },
      [&](Reader& reader, std::uint32_t type) {
        numbers.push_back(type == kFloat ? reader.number<float>()
                                         : kValueTypes[type].read(reader).get<double>());
      });
  return numbers;
}

GgufHeader GgufHeader::read(ByteSource& source) {
  Reader reader(source);
  reader.skip(std::min<std::uint64_t>(kMagic.size(), source.size()));
  const auto version = reader.number<std::uint32_t>();
  if (version != 2 && version != 3) {
    reader.refuse("it must be GGUF of version 2 or 3, little-endian, but its version is " +
                  std::to_string(version));
  }
  const auto tensors = reader.number<std::uint64_t>();
  const auto entries = reader.number<std::uint64_t>();
  if (tensors > kMostTensors || entries > kMostEntries) {
    reader.refuse("it must have at most 1000000 tensors and 10000 entries of metadata");
  }
  GgufHeader header;
  std::set<std::string> keys;
  for (std::uint64_t i = 0; i < entries; ++i) {
    std::string key = reader.text(kLongestName).value_or("");
    if (!key.empty() && !keys.insert(key).second)
      reader.refuse("the key '" + shown_name(key) + "' must occur once, but occurs twice");
    const std::uint32_t type = type_number(reader);
    if (type == kList) header.lists[key] = reader.position();
    OrderedJson value = value_of(reader, kValueTypes[type], 0);
    if (!key.empty() && !value.is_null()) header.metadata[std::move(key)] = std::move(value);
  }
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < tensors; ++i) {
    header.tensors.push_back(tensor_of(reader));
    if (names.insert(header.tensors.back().name).second) continue;
    refuse_item(header.tensors.back().name, "it must occur once, but occurs twice");
  }
  const std::uint64_t alignment = alignment_of(header.metadata, reader);
  const std::uint64_t start = (reader.position() + alignment - 1) / alignment * alignment;
  for (GgufTensor& tensor : header.tensors) {
    if (tensor.begin % alignment != 0) {
      refuse_item(tensor.name, {"its offset must be a multiple of ", std::to_string(alignment),
                                ", the alignment, but is ", std::to_string(tensor.begin), " in ",
                                source.name()});
    }
    if (start > source.size() || tensor.begin > source.size() - start) {
      refuse_item(tensor.name,
                  {"its data must lie inside ", source.name(), "; is the file cut off?"});
    }
    tensor.begin += start;
  }
  return header;
}

}  // namespace eigenscope
