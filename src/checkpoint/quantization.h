// Quantized weights, whose numbers are codes that only a scale beside them makes weights of.
#pragma once

#include <map>
#include <string>

#include "checkpoint/safetensors_header.h"

namespace eigenscope {

/// How the weight called `weight` ("...q_proj.weight") is quantized, judged by its type and by the tensors beside it,
/// and what to do: "GPTQ weights ('...q_proj.qweight'); open ...". Knows FP8, INT8, NVFP4 and packed integers of
/// compressed-tensors and ModelOpt, NF4, FP4 and INT8 of bitsandbytes, AWQ, GPTQ and MLX, and any weight with a scale
/// beside it. Empty for one that is not quantized.
std::string quantization_of(const std::map<std::string, TensorInfo>& tensors,
                            const std::string& weight);

/// The same of the first quantized weight that has another name than the weights of a model, as those of AWQ and GPTQ;
/// empty for none.
std::string renamed_quantization(const std::map<std::string, TensorInfo>& tensors);

/// Throws FormatError naming the weight where it is quantized.
void refuse_quantized(const std::map<std::string, TensorInfo>& tensors, const std::string& weight);

}  // namespace eigenscope
