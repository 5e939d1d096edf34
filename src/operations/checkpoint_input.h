// The files of a checkpoint as an input of operations.
#pragma once

#include <string>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/config.h"
#include "contract/input.h"
#include "support/error.h"

namespace eigenscope {

/// model, index, config.
void describe(InputFields& f, CheckpointFiles& files);

/// The error that the file `field`.json is missing beside the weights, which it names; an operation has a field for it.
FormatError missing_beside(const CheckpointFiles& files, const std::string& field);

/// Throws FormatError for a missing config.json, naming the weights.
Config needed_config(const CheckpointFiles& files);

}  // namespace eigenscope
