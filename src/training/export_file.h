// A trained model for other programs: Hugging Face's names of GPT-2 or LLaMA, in 32 or 16 bits.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/write_safetensors.h"
#include "training/model.h"

namespace eigenscope {

/// The family whose forward pass the settings are: LLaMA for RMSNorm, a gated MLP, rotary positions, no
/// biases, no QK-norm and pre-norm; GPT-2 for LayerNorm, GELU, learned positions, biases, no QK-norm, pre-norm
/// and as many key heads as heads. Throws InvalidArgument ("export") naming the setting that belongs to
/// neither.
enum class ExportFamily { gpt2, llama };
ExportFamily export_family(const ModelSettings& settings);

/// The bytes of a .safetensors file with the weights alone, rounded to `format`. Throws as export_family does.
std::vector<std::byte> export_model(const Model<float>& model, TensorFormat format);
/// The text of the config.json beside that file. Throws as export_family does.
std::string export_config(const ModelSettings& settings, TensorFormat format);

}  // namespace eigenscope
