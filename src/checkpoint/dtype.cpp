#include "checkpoint/dtype.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "support/bits.h"
#include "support/error.h"

namespace eigenscope {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the elements of a file are little-endian and are copied as they are");

struct DtypeEntry {
  std::string_view name;
  unsigned bits;
};

/// The types in the order of Dtype.
constexpr std::array kDtypes{
    DtypeEntry{"BOOL", 8},        DtypeEntry{"F4", 4},          DtypeEntry{"F6_E2M3", 6},
    DtypeEntry{"F6_E3M2", 6},     DtypeEntry{"U8", 8},          DtypeEntry{"I8", 8},
    DtypeEntry{"F8_E5M2", 8},     DtypeEntry{"F8_E4M3", 8},     DtypeEntry{"F8_E8M0", 8},
    DtypeEntry{"F8_E4M3FNUZ", 8}, DtypeEntry{"F8_E5M2FNUZ", 8}, DtypeEntry{"I16", 16},
    DtypeEntry{"U16", 16},        DtypeEntry{"F16", 16},        DtypeEntry{"BF16", 16},
    DtypeEntry{"I32", 32},        DtypeEntry{"U32", 32},        DtypeEntry{"F32", 32},
    DtypeEntry{"C64", 64},        DtypeEntry{"F64", 64},        DtypeEntry{"I64", 64},
    DtypeEntry{"U64", 64},
};

const DtypeEntry& entry(Dtype dtype) { return kDtypes[static_cast<std::size_t>(dtype)]; }

// A signalling NaN would raise the invalid flag when widened, and trap where that is trapped.
std::uint32_t quiet(std::uint32_t bits) noexcept {
  const bool is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return bits | (static_cast<std::uint32_t>(is_nan) << 22);
}

double quiet_double(std::uint64_t bits) noexcept {
  const bool is_nan = (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
  return bits_as<double>(bits | (static_cast<std::uint64_t>(is_nan) << 51));
}

// memcpy because tensor data may start at any byte; compilers make it one unaligned load.
template <typename Code, typename Real, typename Convert>
void decode_all(const std::byte* raw, std::span<Real> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Code code;
    std::memcpy(&code, raw + i * sizeof code, sizeof code);
    out[i] = static_cast<Real>(convert(code));
  }
}

}  // namespace

std::optional<Dtype> dtype_from_name(std::string_view name) {
  for (std::size_t k = 0; k < kDtypes.size(); ++k) {
    if (kDtypes[k].name == name) return static_cast<Dtype>(k);
  }
  return std::nullopt;
}

std::string_view dtype_name(Dtype dtype) { return entry(dtype).name; }

unsigned dtype_bits(Dtype dtype) { return entry(dtype).bits; }

bool is_decodable(Dtype dtype) {
  return dtype == Dtype::kF16 || dtype == Dtype::kBF16 || dtype == Dtype::kF32 ||
         dtype == Dtype::kF64;
}

float half_to_float(std::uint16_t code) noexcept {
  constexpr std::uint32_t kRebias = (127u - 15u) << 23;  // exponent bias 15 -> 127
  const std::uint32_t sign = static_cast<std::uint32_t>(code & 0x8000u) << 16;
  const std::uint32_t magnitude = code & 0x7fffu;
  const std::uint32_t shifted = magnitude << 13;
  // Rebiasing once more takes the all-ones exponent, infinity and NaN, from 143 to 255.
  const std::uint32_t top = magnitude >= 0x7c00u ? kRebias : 0u;
  const std::uint32_t normal = shifted + kRebias + top;
  // A subnormal m 2^-24 is read as the normal number (1 + m 2^-10) 2^-14, less 2^-14: no
  // subnormal floats on the way, which are slow in hardware and lost where they flush to zero.
  const float lifted = bits_as<float>(shifted + kRebias + (1u << 23));
  const auto subnormal = bits_as<std::uint32_t>(lifted - 0x1p-14f);
  const std::uint32_t bits = magnitude < 0x0400u ? subnormal : normal;
  return bits_as<float>(quiet(bits) | sign);
}

float bfloat16_to_float(std::uint16_t code) noexcept {
  return bits_as<float>(quiet(static_cast<std::uint32_t>(code) << 16));
}

template <class Real>
void decode(Dtype dtype, std::span<const std::byte> raw, std::span<Real> out) {
  if (!is_decodable(dtype) || raw.size() != out.size() * (dtype_bits(dtype) / 8)) {
    throw InvalidArgument("dtype", "be F16, BF16, F32 or F64",
                          "found " + std::string(dtype_name(dtype)));
  }
  if (dtype == Dtype::kF16) decode_all<std::uint16_t>(raw.data(), out, half_to_float);
  if (dtype == Dtype::kBF16) decode_all<std::uint16_t>(raw.data(), out, bfloat16_to_float);
  if (dtype == Dtype::kF32) {
    decode_all<std::uint32_t>(raw.data(), out,
                              [](std::uint32_t code) { return bits_as<float>(quiet(code)); });
  }
  if (dtype == Dtype::kF64) decode_all<std::uint64_t>(raw.data(), out, quiet_double);
}

template void decode(Dtype, std::span<const std::byte>, std::span<double>);
template void decode(Dtype, std::span<const std::byte>, std::span<float>);

}  // namespace eigenscope
