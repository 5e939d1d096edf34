// The files of a checkpoint as JavaScript gives them: {model, config}, each a source of bytes (see
// ScriptSource), the config null where there is none.
#pragma once

#include <memory>
#include <optional>

#include "bindings/convert.h"
#include "checkpoint/config.h"
#include "checkpoint/safetensors.h"

namespace eigenscope::bindings {

std::shared_ptr<const Safetensors> tensors_of(const val& input);
std::optional<Config> config_of(const val& input);

}  // namespace eigenscope::bindings
