// Layers that no row of the table of families describes, by the names of their tensors.
#pragma once

#include <map>
#include <string>

#include "checkpoint/family.h"
#include "checkpoint/safetensors_header.h"

namespace eigenscope {

/// The parts of a file that are mixtures of experts, multi-head latent attention, and state-space layers, each with a
/// tensor that shows it, such as "a mixture of experts ('model.layers.0.mlp.experts.down_proj')". Empty for none. Those
/// that the forward pass of `family` runs, which may be null, are left out.
std::string unsupported_parts(const std::map<std::string, TensorInfo>& tensors,
                              const Family* family = nullptr);

/// The refusal of a file with tensors of adapters (LoRA) or of layers that have them, with one such tensor and what to
/// do; empty for none.
std::string unmerged_adapter(const std::map<std::string, TensorInfo>& tensors);

}  // namespace eigenscope
