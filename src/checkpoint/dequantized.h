// Quantized weights of .safetensors files, decoded when they are read.
#pragma once

#include <memory>

#include "checkpoint/safetensors.h"
#include "io/byte_source.h"

namespace eigenscope {

/// The tensors of `file`, in which each quantized weight of a linear layer that can be decoded is a matrix `...weight`
/// of F32, outputs x inputs, in place of the tensors of its layer that are read with its codes or belong to
/// activations and the cache of keys; `file` itself if there is none. Decodes FP8 and INT8 codes with a scale of the
/// tensor, of each row, of blocks or of groups; AWQ and GPTQ; bitsandbytes NF4, FP4 and INT8; packed integers, NVFP4
/// and MXFP4 of compressed-tensors; NVFP4 of ModelOpt; MLX integers and MXFP4. A layer whose tensors do not fit each
/// other is left as it is, for refuse_quantized. Stacked matrices in MXFP4 (`..._blocks` with `..._scales`, as gpt-oss
/// has) are a tensor of this name, matrices x outputs x inputs. `config` (config.json) may be null; GPTQ and the
/// integers of MLX need it, and it has the sides of blocks of FP8 that are not 128. Throws FormatError for a malformed
/// `config` where it is needed, or one that transforms weights, and, on reading, naming the tensor whose bytes cannot
/// be read, hold an index outside its table, or have more than one meaning.
std::shared_ptr<const Safetensors> dequantized(std::shared_ptr<const Safetensors> file,
                                               ByteSource* config);

}  // namespace eigenscope
