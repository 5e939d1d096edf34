// Tables that decode a quantized weight, read once.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "checkpoint/dtype.h"
#include "checkpoint/quantized_weight.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Values by their codes.
using CodeTable = std::array<float, 256>;

/// The value of each code of one byte: FP8 (E4M3, E5M2), a signed integer, or else a power of two (E8M0, the scales of
/// MX formats).
CodeTable byte_table(Dtype dtype);

/// The value of FP4 (E2M1) in the lower half of each byte.
CodeTable fp4_table();

/// Scales, offsets and values of the codes of one weight.
struct DecodingTables {
  CodeTable values{};
  /// Block rows x block columns; for `inputs_first` weights groups x outputs.
  std::vector<float> scales;
  std::vector<float> offsets;        ///< in the same order; empty for none
  std::vector<std::uint32_t> words;  ///< all codes of an `inputs_first` weight
  /// The group of each input; empty where codes are not `inputs_first` and groups are in their order.
  std::vector<std::uint32_t> groups;
};

/// The position of output k of eight within a 32-bit word of AWQ, in codes of 4 bits.
inline constexpr std::array<unsigned, 8> kAwqPlaces{0, 4, 1, 5, 2, 6, 3, 7};

/// Reads the tables of `weight`, which are no `stacked_blocks`. Throws FormatError naming the tensor
/// of `file` that cannot be read, has other sizes than it must, or numbers of more than one meaning.
DecodingTables decoding_tables(const Safetensors& file, const QuantizedWeight& weight);

}  // namespace eigenscope
