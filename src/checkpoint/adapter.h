// LoRA adapters over the model that they were trained on.
#pragma once

#include <memory>

#include "checkpoint/config.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Whether the tensors are those of a LoRA adapter as PEFT saves one (adapter_model.safetensors).
bool is_adapter(const Safetensors& file);

/// The tensors of `base` with the changes of a LoRA adapter: W + s B A for each weight W that has one, in double
/// precision, with s = lora_alpha / r, or lora_alpha / sqrt(r) for rsLoRA (arXiv:2312.03732), and r the rows of A; of
/// DoRA (arXiv:2402.09353) with the norm of each output's weights as `lora_magnitude_vector` has it. A module that a
/// key of `alpha_pattern` names has its alpha. Tensors that were trained whole, such as a new head's
/// (`modules_to_save`) or biases, take the place of the model's. Matrices of tokens that the adapter changes
/// (`lora_embedding_A`, `trainable_tokens_delta`), or trains whole beside an output that was the same matrix, are
/// refused when they are read. `config` is adapter_config.json.
/// Throws FormatError naming the key for another method than LoRA, a missing `lora_alpha`, a regular expression in
/// `alpha_pattern` or several keys that give a module different values, and an adapter that began with a change of the
/// model (`init_lora_weights`) or repeats layers, and naming the tensor for one that is none of these, has no partner
/// or another rank than `r`, does not fit its weight, or has no weight in `base`. Sources: peft/tuners/lora and
/// get_pattern_key in peft/utils/other.py of github.com/huggingface/peft.
std::shared_ptr<const Safetensors> with_adapter(std::shared_ptr<const Safetensors> base,
                                                std::shared_ptr<const Safetensors> adapter,
                                                const Config& config);

}  // namespace eigenscope
