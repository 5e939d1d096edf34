// Writes .safetensors files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace eigenscope {

/// Type of all numbers in a file.
enum class TensorFormat { f32, f16, bf16 };

/// A tensor to be written: `values` row-major, as many as the shape has.
struct TensorToWrite {
  std::string name;
  std::vector<std::uint64_t> shape;
  std::span<const float> values;
};

/// The bytes of a file with these tensors, in their order, and the free text of "__metadata__". Names
/// and texts must be UTF-8. 16-bit formats round to the nearest, ties to even. Source: see parse_safetensors_header.
std::vector<std::byte> write_safetensors(const std::vector<TensorToWrite>& tensors,
                                         const std::map<std::string, std::string>& metadata,
                                         TensorFormat format = TensorFormat::f32);

}  // namespace eigenscope
