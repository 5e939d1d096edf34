// The family whose forward pass runs a checkpoint on text or pictures, and what config.json selects of it.
#pragma once

#include "checkpoint/config.h"
#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// The kind of a model's tokens.
enum class ModelInput { text, pictures };

/// The part of a file that reads text, its first stack, or pictures, its last one. Throws FormatError naming the file
/// where there is none, or where no row has the forward pass of its model type.
FamilyMatch family_of(ModelInput input, const Safetensors& file, const Config& config);

/// The activation that config.json names, or the family's. Throws FormatError naming the key for another one.
Activation activation_of(const ForwardNames& names, const ConfigKeys& keys);

/// Throws FormatError naming the key where config.json selects another forward pass than the family's.
void check_usual(const ForwardNames& names, const ConfigKeys& keys);

}  // namespace eigenscope
