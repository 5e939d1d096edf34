#include "checkpoint/gguf_blocks.h"

#include <array>
#include <cmath>
#include <cstring>

#include "checkpoint/dtype.h"

namespace eigenscope {
namespace {

constexpr std::size_t kBlock = 32;        // elements of a plain block
constexpr std::size_t kSuperBlock = 256;  // of a block of K-quants, 8 parts of 32

unsigned byte_at(const std::byte* bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}
int signed_byte_at(const std::byte* bytes, std::size_t at) {
  return static_cast<std::int8_t>(byte_at(bytes, at));
}

float half_at(const std::byte* bytes) {
  std::uint16_t code;
  std::memcpy(&code, bytes, sizeof code);
  return half_to_float(code);
}

/// The 4-bit code of one of 32 elements, stored as the low halves of 16 bytes, then the high halves.
unsigned nibble(const std::byte* bytes, std::size_t element) {
  return element < kBlock / 2 ? byte_at(bytes, element) & 15
                              : byte_at(bytes, element - kBlock / 2) >> 4;
}

/// The scale is at byte 0, a minimum behind it where `HasMinimum`, then the fifth bits where `HasFifth`.
template <bool HasMinimum, bool HasFifth>
void decode_plain(const std::byte* block, float* out) {
  const float scale = half_at(block);
  const float minimum = HasMinimum ? half_at(block + 2) : 0;
  const std::byte* const fifths = block + (HasMinimum ? 4 : 2);
  const std::byte* const nibbles = fifths + (HasFifth ? 4 : 0);
  const int middle = HasMinimum ? 0 : HasFifth ? 16 : 8;
  for (std::size_t i = 0; i < kBlock; ++i) {
    unsigned code = nibble(nibbles, i);
    if (HasFifth) code |= (byte_at(fifths, i / 8) >> (i % 8) & 1) << 4;
    out[i] = scale * static_cast<float>(static_cast<int>(code) - middle) + minimum;
  }
}

void decode_q8_0(const std::byte* block, float* out) {
  const float scale = half_at(block);
  for (std::size_t i = 0; i < kBlock; ++i)
    out[i] = scale * static_cast<float>(signed_byte_at(block, 2 + i));
}

/// Scale and minimum of a part of a super-block: six bits each, packed into twelve bytes.
struct Part {
  unsigned scale, minimum;
};
Part part_of(const std::byte* packed, std::size_t part) {
  if (part < 4) return {byte_at(packed, part) & 63, byte_at(packed, part + 4) & 63};
  const unsigned low = byte_at(packed, part + 4);
  return {(low & 15) | byte_at(packed, part - 4) >> 6 << 4,
          low >> 4 | byte_at(packed, part) >> 6 << 4};
}

/// Q4_K and Q5_K: two scales, the packed scales and minima of 8 parts, the fifth bits, then the nibbles, in which two
/// parts share 32 bytes.
template <bool HasFifth>
void decode_super(const std::byte* block, float* out) {
  const float scale = half_at(block), minimum = half_at(block + 2);
  const std::byte* const packed = block + 4;
  const std::byte* const fifths = packed + 12;
  const std::byte* const nibbles = fifths + (HasFifth ? kBlock : 0);
  for (std::size_t part = 0; part < kSuperBlock / kBlock; ++part) {
    const auto [part_scale, part_minimum] = part_of(packed, part);
    const float step = scale * static_cast<float>(part_scale),
                offset = minimum * static_cast<float>(part_minimum);
    for (std::size_t i = 0; i < kBlock; ++i) {
      const unsigned both = byte_at(nibbles, part / 2 * kBlock + i);
      unsigned code = part % 2 == 0 ? both & 15 : both >> 4;
      if (HasFifth) code |= (byte_at(fifths, i) >> part & 1) << 4;
      *out++ = step * static_cast<float>(code) - offset;
    }
  }
}

/// Low four bits, high two bits, a signed scale for 16 elements each, and the scale of all. In each half of 128
/// elements four runs of 32 share the bytes.
void decode_q6_k(const std::byte* block, float* out) {
  const float scale = half_at(block + 208);
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const std::size_t half = i / 128, run = i % 128 / 32, at = i % 32;
    const unsigned low = byte_at(block, 64 * half + 32 * (run % 2) + at) >> (run / 2 * 4) & 15;
    const unsigned high = byte_at(block, 128 + 32 * half + at) >> (2 * run) & 3;
    const float step = scale * static_cast<float>(signed_byte_at(block, 192 + i / 16));
    out[i] = step * static_cast<float>(static_cast<int>(low | high << 4) - 32);
  }
}

/// The 2-bit code of one of 256 elements: in each half of 128 elements four runs of 32 share the bytes.
unsigned two_bits(const std::byte* bytes, std::size_t element) {
  const std::size_t half = element / 128, run = element % 128 / 32, at = element % 32;
  return byte_at(bytes, 32 * half + at) >> (2 * run) & 3;
}

/// For 16 elements each a scale and a minimum of four bits, the codes, then the scales of both.
void decode_q2_k(const std::byte* block, float* out) {
  const float scale = half_at(block + 80), minimum = half_at(block + 82);
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const unsigned both = byte_at(block, i / 16);
    out[i] = scale * static_cast<float>(both & 15) * static_cast<float>(two_bits(block + 16, i)) -
             minimum * static_cast<float>(both >> 4);
  }
}

/// Third bits, low two bits, scales of six bits for 16 elements each, and the scale of all. Byte k of the third bits
/// has those of elements k, k + 32, ...
void decode_q3_k(const std::byte* block, float* out) {
  const float scale = half_at(block + 108);
  const std::byte* const packed = block + 96;
  for (std::size_t i = 0; i < kSuperBlock; ++i) {
    const std::size_t part = i / 16;
    const unsigned low = byte_at(packed, part % 8) >> (part / 8 * 4) & 15;
    const unsigned high = byte_at(packed, 8 + part % 4) >> (part / 4 * 2) & 3;
    const float step = scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
    const unsigned third = byte_at(block, i % 32) >> (i / 32) & 1;
    const unsigned code = two_bits(block + 32, i) | third << 2;
    out[i] = step * static_cast<float>(static_cast<int>(code) - 4);
  }
}

/// The values of the 4-bit codes of IQ4_NL and IQ4_XS.
constexpr std::array<float, 16> kUnevenLevels{-127, -104, -83, -65, -49, -35, -22, -10,
                                              1,    13,   25,  38,  53,  69,  89,  113};
/// Twice the values of the 4-bit codes (E2M1) of MXFP4, whose scale is therefore half of 2^(e - 127).
constexpr std::array<float, 16> kFloatLevels{0, 1,  2,  3,  4,  6,  8,  12,
                                             0, -1, -2, -3, -4, -6, -8, -12};

void decode_levels(const std::array<float, 16>& levels, float scale, const std::byte* nibbles,
                   float* out) {
  for (std::size_t i = 0; i < kBlock; ++i) out[i] = scale * levels[nibble(nibbles, i)];
}

void decode_iq4_nl(const std::byte* block, float* out) {
  decode_levels(kUnevenLevels, half_at(block), block + 2, out);
}

/// The scale of all, high two bits of the scales of 8 parts, their low four bits, then the parts.
void decode_iq4_xs(const std::byte* block, float* out) {
  const float scale = half_at(block);
  for (std::size_t part = 0; part < kSuperBlock / kBlock; ++part) {
    const unsigned low = byte_at(block, 4 + part / 2) >> (part % 2 * 4) & 15;
    const unsigned high = byte_at(block, 2 + part / 4) >> (part % 4 * 2) & 3;
    const float step = scale * static_cast<float>(static_cast<int>(low | high << 4) - 32);
    decode_levels(kUnevenLevels, step, block + 8 + part * kBlock / 2, out + part * kBlock);
  }
}

void decode_mxfp4(const std::byte* block, float* out) {
  const float scale = std::ldexp(1.0F, static_cast<int>(byte_at(block, 0)) - 128);
  decode_levels(kFloatLevels, scale, block + 1, out);
}

constexpr std::array kTypes{
    GgufType{kGgufF32, "F32", "F32", 1, 4, nullptr},
    GgufType{1, "F16", "F16", 1, 2, nullptr},
    GgufType{30, "BF16", "BF16", 1, 2, nullptr},
    GgufType{28, "F64", "F64", 1, 8, nullptr},
    GgufType{24, "I8", "I8", 1, 1, nullptr},
    GgufType{25, "I16", "I16", 1, 2, nullptr},
    GgufType{26, "I32", "I32", 1, 4, nullptr},
    GgufType{27, "I64", "I64", 1, 8, nullptr},
    GgufType{2, "Q4_0", "", kBlock, 18, decode_plain<false, false>},
    GgufType{3, "Q4_1", "", kBlock, 20, decode_plain<true, false>},
    GgufType{6, "Q5_0", "", kBlock, 22, decode_plain<false, true>},
    GgufType{7, "Q5_1", "", kBlock, 24, decode_plain<true, true>},
    GgufType{8, "Q8_0", "", kBlock, 34, decode_q8_0},
    GgufType{12, "Q4_K", "", kSuperBlock, 144, decode_super<false>},
    GgufType{13, "Q5_K", "", kSuperBlock, 176, decode_super<true>},
    GgufType{14, "Q6_K", "", kSuperBlock, 210, decode_q6_k},
    GgufType{10, "Q2_K", "", kSuperBlock, 84, decode_q2_k},
    GgufType{11, "Q3_K", "", kSuperBlock, 110, decode_q3_k},
    GgufType{20, "IQ4_NL", "", kBlock, 18, decode_iq4_nl},
    GgufType{23, "IQ4_XS", "", kSuperBlock, 136, decode_iq4_xs},
    GgufType{39, "MXFP4", "", kBlock, 17, decode_mxfp4},
};

/// Types of llama.cpp that are known by name only.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 10> kOthers{{
    {9, "Q8_1"},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {29, "IQ1_M"},
    {34, "TQ1_0"},
}};

}  // namespace

const GgufType* gguf_type(std::uint32_t number) {
  for (const GgufType& type : kTypes) {
    if (type.number == number) return &type;
  }
  return nullptr;
}

std::string gguf_type_names() {
  std::string names;
  for (const GgufType& type : kTypes) {
    if (!type.dtype.starts_with('I')) names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return names;
}

std::string gguf_type_name(std::uint32_t number) {
  if (const GgufType* const type = gguf_type(number)) return std::string(type->name);
  for (const auto& [other, name] : kOthers) {
    if (other == number) return std::string(name);
  }
  return "type " + std::to_string(number);
}

}  // namespace eigenscope
