// Quantized weights, whose numbers are codes that only a scale beside them makes weights of.
#pragma once

#include <map>
#include <string>

#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Throws FormatError where the weight called `weight` ("...q_proj.weight") is quantized, judged by its type and by the
/// tensors beside it, naming how and what to open instead. Knows FP8, INT8, NVFP4 and packed integers of
/// compressed-tensors and ModelOpt, NF4, FP4 and INT8 of bitsandbytes, MLX, and any weight with a scale beside it.
void refuse_quantized(const Safetensors& file, const std::string& weight);

/// How the first weight is quantized that has another name than the weights of a model, as those of AWQ, GPTQ and
/// compressed-tensors, and what to do: "GPTQ weights ('...q_proj.qweight'); open ..."; empty for none.
std::string renamed_quantization(const std::map<std::string, TensorInfo>& tensors);

}  // namespace eigenscope
