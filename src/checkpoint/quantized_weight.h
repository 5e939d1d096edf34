// The layout of a quantized weight in its stored tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/config.h"
#include "checkpoint/quantization.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// A weight to decode: weight[row, column] = table[code] * scale + offset, where blocks of elements share scale and
/// offset.
struct QuantizedWeight {
  std::string base;  ///< what the names of its tensors begin with, its dot included
  std::string codes;
  Packing packing = Packing::unknown;
  std::uint64_t rows = 0, columns = 0;
  std::uint64_t matrices = 0;  ///< of `stacked_blocks`
  unsigned bits = 8;           ///< of a code
  bool high_first = false;     ///< the first of two codes in a byte is the high half
  std::uint64_t block_rows = 1, block_columns = 1;  ///< elements that share a scale
  bool in_one_row = false;  ///< blocks go on from row to row, as those of bitsandbytes
  bool has_order = false;   ///< compressed-tensors: `weight_g_idx` has the group of each column
  std::string scales;
  std::string state;       ///< name of bitsandbytes' JSON text with shape and block size (4 bits)
  unsigned zero_step = 0;  ///< GPTQ: number to add to a stored zero
  bool in_order = false;   ///< GPTQ: groups follow the order of the inputs, by config.json

  /// Elements of a row of blocks.
  std::uint64_t row_length() const { return in_one_row ? rows * columns : columns; }
  std::uint64_t scale_columns() const { return (row_length() + block_columns - 1) / block_columns; }
  std::uint64_t scale_rows() const { return in_one_row ? 1 : (rows + block_rows - 1) / block_rows; }
  /// Whether the codes of an input, for all outputs, lie together.
  bool inputs_first() const { return packing == Packing::awq || packing == Packing::gptq; }
};

/// The layout of the weight of a linear layer; nothing where it is not quantized, or its tensors and `config` (which
/// may be null) do not fit each other or are ambiguous. Throws FormatError naming the key for a malformed `config`, and
/// the tensor for one whose weights quantizers transpose.
std::optional<QuantizedWeight> quantized_weight(const Safetensors& file, const Config* config,
                                                const LinearTensors& layer);

/// The ending of the name of stacked matrices in MXFP4.
inline constexpr std::string_view kStackedBlocks = "_blocks";

/// Stacked matrices in MXFP4, called `name`: a byte of `codes` holds two codes, the first in the low half, and 32 codes
/// share a scale. Nothing where the tensors do not fit each other.
std::optional<QuantizedWeight> stacked_blocks(const std::map<std::string, TensorInfo>& tensors,
                                              const std::string& name, const TensorInfo& codes);

/// Throws FormatError naming the key of `config` by which weights are quantized, or their inputs transformed, when the
/// model runs.
void refuse_quantized_online(const Config& config);

}  // namespace eigenscope
