// Which quantization the tensors of a linear layer have.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "checkpoint/safetensors.h"

namespace eigenscope {

/// The tensors of one linear layer.
class LinearTensors {
 public:
  using Tensors = std::map<std::string, TensorInfo>;
  /// `base` is what their names begin with, its dot included, as in "model.layers.0.self_attn.q_proj.". `tensors` must
  /// outlive the object.
  LinearTensors(const Tensors& tensors, std::string base)
      : tensors_(tensors), base_(std::move(base)) {}

  std::string name(std::string_view ending) const { return base_ + std::string(ending); }
  const std::string& base() const { return base_; }
  /// The tensor with this ending, or null.
  const TensorInfo* find(std::string_view ending) const;
  bool has(std::string_view ending) const { return find(ending) != nullptr; }
  /// Whether the tensor with this ending is there and of one of these types.
  bool is(std::string_view ending, std::initializer_list<Dtype> types) const;
  /// The columns of a matrix; 0 for other tensors and where there is none.
  std::uint64_t columns(std::string_view ending) const;

 private:
  const Tensors& tensors_;
  std::string base_;
};

/// Storage format of a layer's weight, which dequantized.h decodes.
enum class Packing {
  unknown,
  scaled,         ///< codes of 8 bits with scales
  awq,            ///< codes of 4 bits, inputs first, eight outputs in a number
  gptq,           ///< codes of 2, 4 or 8 bits, several inputs in a number
  compressed,     ///< compressed-tensors' codes of 4 or 8 bits with `weight_shape`
  nvfp4,          ///< codes of 4 bits with scales of 8 bits, of NVFP4 also one of the whole tensor
  bitsandbytes4,  ///< codes of 4 bits with a table of 16 numbers
  bitsandbytes8,  ///< codes of 8 bits with the largest absolute value of each row
  mlx,            ///< MLX's codes with scales, and biases where they are integers
  stacked_blocks  ///< codes of 4 bits of stacked matrices (`_blocks`) with scales of 8 bits (`_scales`), as gpt-oss has
};

/// One way to quantize, shown by a tensor of the layer.
struct Quantization {
  std::string_view name;
  std::string_view mark;    ///< ending of the tensor that shows it
  std::string_view advice;  ///< what to open instead
  Packing packing = Packing::unknown;
  bool (*fits)(const LinearTensors&) = [](const LinearTensors&) { return true; };
};

/// The quantization of a layer; null for none that is known.
const Quantization* quantization_of(const LinearTensors& layer);

/// Endings of names that stand in the place of ".weight".
inline constexpr std::string_view kPackedWeights[] = {
    ".qweight", ".weight_packed", "._weight_qdata", ".W_q",   ".weight._data", ".codes",
    ".B",       ".q_weight",      ".trellis",       ".Qidxs", ".dqweight"};

/// Whether a weight has the name of one of GPT-2's, which are stored with their inputs as rows.
bool is_conv1d(std::string_view name);

/// Throws FormatError where the weight called `weight` ("...q_proj.weight") is quantized, judged by its type and by the
/// tensors beside it, naming how and what to open instead. Knows FP8, INT8, NVFP4 and packed integers of
/// compressed-tensors and ModelOpt, NF4, FP4 and INT8 of bitsandbytes, MLX, and any weight with a scale beside it.
void refuse_quantized(const Safetensors& file, const std::string& weight);

/// The quantization of the first weight whose name has another ending than ".weight" (kPackedWeights), as in AWQ, GPTQ
/// and compressed-tensors, and what to do: "GPTQ weights ('...q_proj.qweight'); open ..."; empty for none.
std::string renamed_quantization(const std::map<std::string, TensorInfo>& tensors);

}  // namespace eigenscope
