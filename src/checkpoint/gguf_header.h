// The header of a GGUF file: its metadata, and the types, shapes and places of its tensors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_source.h"
#include "io/json.h"

namespace eigenscope {

/// Whether the file begins as GGUF does.
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

struct GgufHeader {
  /// By key: numbers, truth values, texts of at most 1000 bytes and lists of at most 4096 of these. What is longer,
  /// such as a vocabulary, is left out.
  OrderedJson metadata = OrderedJson::object();
  std::vector<GgufTensor> tensors;

  /// A number of the metadata that is an integer from 0 on; 0 where there is none.
  std::uint64_t integer(const std::string& key) const;

  /// Reads versions 2 and 3, little-endian. Throws FormatError, naming the file or the tensor, for anything that the
  /// format forbids, such as a key or tensor that occurs twice and an offset that is no multiple of the alignment, and
  /// for data that begin outside the file. Source: docs/gguf.md of github.com/ggml-org/ggml.
  static GgufHeader read(ByteSource& source);
};

}  // namespace eigenscope
