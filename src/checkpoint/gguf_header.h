// The header of a GGUF file: its metadata, and the types, shapes and places of its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "io/json.h"

namespace eigenscope {

/// Whether the file begins with the letters GGUF.
bool is_gguf(ByteSource& source);

struct GgufTensor {
  std::string name;
  std::vector<std::uint64_t> shape;  ///< sizes, slowest first: the reverse of the file's order
  std::uint32_t type = 0;            ///< the file's number of the element type
  std::uint64_t begin = 0;           ///< first byte in the file

  std::uint64_t elements() const;
  /// Elements of the fastest dimension; 1 for a scalar.
  std::uint64_t row() const { return shape.empty() ? 1 : shape.back(); }
};

/// The common non-zero element of a list whose values, such as those of layers, are equal or 0; any other value
/// unchanged.
const OrderedJson& only_value(const OrderedJson& value);

struct GgufHeader {
  /// The most elements of a list that `texts` and `numbers` read.
  static constexpr std::uint64_t kLongestList = std::uint64_t{1} << 22;

  /// By key: numbers, booleans, texts of at most 1000 bytes and lists of at most 4096 of these. Longer lists, such as a
  /// vocabulary, are left out; longer texts are empty.
  OrderedJson metadata = OrderedJson::object();
  /// By key, for every list of the metadata: where it begins in the file, in bytes.
  std::map<std::string, std::uint64_t> lists;
  std::vector<GgufTensor> tensors;

  /// The non-negative integer of this key, or the only_value() of its list; 0 if the key is missing or has another
  /// value.
  std::uint64_t integer(const std::string& key) const;
  /// The string of this key; empty if the key is missing or has another value.
  std::string text(const std::string& key) const;

  /// A list of strings or of numbers of any length, read from `source`, the file of this header; empty if the key is
  /// missing. Throws FormatError naming the key for elements of another kind, a string of more than 10,000
  /// bytes, and more than kLongestList elements.
  std::vector<std::string> texts(ByteSource& source, const std::string& key) const;
  std::vector<double> numbers(ByteSource& source, const std::string& key) const;

  /// Reads versions 2 and 3, little-endian. Throws FormatError, naming the file or the tensor, for anything that the
  /// format forbids, such as a key or tensor that occurs twice and an offset that is no multiple of the alignment, and
  /// for data that begin outside the file. Source: docs/gguf.md of github.com/ggml-org/ggml.
  static GgufHeader read(ByteSource& source);
};

}  // namespace eigenscope
