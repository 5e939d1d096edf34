// The files of a checkpoint as JavaScript gives them, sources of bytes (see ScriptSource): {model,
// index, config}, where model is a list of the .safetensors files, of which an index names those that
// count; index and config are null where there is none.
#pragma once

#include <memory>
#include <optional>

#include "bindings/convert.h"
#include "checkpoint/config.h"
#include "checkpoint/safetensors.h"

namespace eigenscope::bindings {

/// Throws FormatError, also naming the file that the index has and the list lacks.
std::shared_ptr<const Safetensors> tensors_of(const val& input);
std::optional<Config> config_of(const val& input);

}  // namespace eigenscope::bindings
