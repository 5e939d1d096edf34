// The number formats of a .safetensors file, and their conversion to double or float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace eigenscope {

/// Every element type that the safetensors format names. Those of 4 and 6 bits are packed.
enum class Dtype {
  kBool,
  kF4,
  kF6E2M3,
  kF6E3M2,
  kU8,
  kI8,
  kF8E5M2,
  kF8E4M3,
  kF8E8M0,
  kF8E4M3Fnuz,
  kF8E5M2Fnuz,
  kI16,
  kU16,
  kF16,
  kBF16,
  kI32,
  kU32,
  kF32,
  kC64,
  kF64,
  kI64,
  kU64
};

/// The type written as `name` ("F16", "BF16", ...) in a header, or nothing for an unknown name.
std::optional<Dtype> dtype_from_name(std::string_view name);

/// The name in the header, such as "F8_E4M3".
std::string_view dtype_name(Dtype dtype);

/// Bits of one element: 4, 6, 8, 16, 32 or 64.
unsigned dtype_bits(Dtype dtype);

/// Whether `decode` takes it: F16, BF16, F32 and F64.
bool is_decodable(Dtype dtype);

/// The value of an IEEE 754 binary16 code; exact. Subnormals, infinities and NaN (made quiet)
/// included.
float half_to_float(std::uint16_t code) noexcept;

/// The value of a bfloat16 code, the upper half of a binary32; exact. NaN is made quiet.
float bfloat16_to_float(std::uint16_t code) noexcept;

/// Converts `out.size()` little-endian elements at `raw`, which need no alignment, to double or float;
/// exact for every decodable type but F64 in float, which is rounded. `raw` must hold
/// out.size() * dtype_bits(dtype) / 8 bytes and `dtype` be decodable; throws InvalidArgument with
/// field "dtype" otherwise.
template <class Real>
void decode(Dtype dtype, std::span<const std::byte> raw, std::span<Real> out);

}  // namespace eigenscope
