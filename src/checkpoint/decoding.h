// The elements of quantized weights.
#pragma once

#include <cstdint>
#include <span>

#include "checkpoint/decoding_tables.h"
#include "checkpoint/quantized_weight.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Fills `out` with the elements of `weight` in `file` from number `first` on, in row-major order. It must not be
/// `stacked_blocks`.
void decode_weight(const Safetensors& file, const QuantizedWeight& weight,
                   const DecodingTables& tables, std::uint64_t first, std::span<float> out);

/// Fills `out` likewise from `stacked_blocks`. Reads no scales but those of these elements: the stacked experts of a
/// layer have many.
void decode_stacked_blocks(const Safetensors& file, const QuantizedWeight& weight,
                           std::uint64_t first, std::span<float> out);

}  // namespace eigenscope
