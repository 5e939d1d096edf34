// The header of a .safetensors file: which tensors there are, their types, shapes and places.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/dtype.h"

namespace eigenscope {

/// One tensor as the header describes it. Elements are stored row-major, without padding.
struct TensorInfo {
  Dtype dtype = Dtype::kF32;
  std::vector<std::uint64_t> shape;  ///< sizes, slowest first; empty for a scalar
  std::uint64_t begin = 0;           ///< first byte, counted from the end of the header
  std::uint64_t end = 0;             ///< one past the last byte
  std::size_t shard = 0;             ///< which file of several, from 0
};

/// "[384, 384]".
std::string shape_text(const TensorInfo& tensor);

/// Elements that the tensor's bytes hold.
std::uint64_t element_count(const TensorInfo& tensor);

struct SafetensorsHeader {
  std::map<std::string, TensorInfo> tensors;
  std::map<std::string, std::string> metadata;  ///< the entry "__metadata__"; empty without one
};

/// Parses and checks the JSON `text` of a header; `data_size` is the number of bytes that follow
/// it in the file called `file`. Throws FormatError, naming the tensor where there is one, for
/// anything that the format forbids: text that is not a JSON object in UTF-8, duplicate or unknown
/// or missing keys, unknown types, sizes that are not natural numbers or whose product overflows,
/// and data that does not fit the shape, runs past the end, overlaps, or leaves bytes unused.
/// Source: the format section of the safetensors documentation (huggingface.co/docs/safetensors).
SafetensorsHeader parse_safetensors_header(std::string_view text, std::uint64_t data_size,
                                           const std::string& file);

/// The entry of a header for a tensor whose data are the bytes [begin, end): `"name":{"dtype":"F32",...}`. Headers are
/// joined as text: a key of an ordered object is looked up among all others.
std::string header_entry(const std::string& name, std::string_view dtype,
                         const std::vector<std::uint64_t>& shape, std::uint64_t begin,
                         std::uint64_t end);

}  // namespace eigenscope
