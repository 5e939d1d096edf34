// The family whose forward pass runs a checkpoint on text, and what config.json selects of it.
#pragma once

#include "checkpoint/config.h"
#include "checkpoint/config_keys.h"
#include "checkpoint/family_match.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// The part of a file that reads text. Throws FormatError naming the file where there is none, or where no
/// row has the forward pass of its model type.
FamilyMatch text_of(const Safetensors& file, const Config& config);

/// The activation that config.json names, or the family's. Throws FormatError naming the key for another one.
Activation activation_of(const TextNames& names, const ConfigKeys& keys);

/// Throws FormatError naming the key where config.json selects another forward pass than the family's.
void check_usual(const TextNames& names, const ConfigKeys& keys);

}  // namespace eigenscope
