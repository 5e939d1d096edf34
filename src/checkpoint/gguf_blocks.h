// The element types of GGUF files: which can be read as numbers, and how blocks of quantized numbers are decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace eigenscope {

/// One element type. A block is the smallest run of elements in whole bytes.
struct GgufType {
  std::uint32_t number;    ///< in the file
  std::string_view name;   ///< llama.cpp's
  std::string_view dtype;  ///< that of .safetensors with the same bytes; empty for a quantized type
  std::uint32_t elements;  ///< of a block
  std::uint32_t bytes;     ///< of a block
  void (*decode)(const std::byte* block,
                 float* out);  ///< all elements of a block; null where `dtype` has them
};

/// The file's number of the type F32.
inline constexpr std::uint32_t kGgufF32 = 0;

/// The type with a number in the file, or null for one that cannot be read. Source of the blocks: ggml-common.h and
/// ggml-quants.c of github.com/ggml-org/ggml.
const GgufType* gguf_type(std::uint32_t number);

/// "F32, F16, BF16, ...", for messages.
std::string gguf_type_names();

/// The name of a type by its number in the file, for messages: "IQ4_XS", or "type 99".
std::string gguf_type_name(std::uint32_t number);

}  // namespace eigenscope
