// Notes for readers of a scan: what it leaves out of a file, and what is not known of the model.
#pragma once

#include <string>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/family_match.h"
#include "checkpoint/safetensors.h"

namespace eigenscope {

/// Remarks for readers of the heads of a file: stacks and layers that are left out, layers that config.json counts and
/// the file lacks, conventions that are not known. `config` may be null. Where a mapping names the weights (`mapped`),
/// other layers are left out without a word. Throws FormatError when config.json has another kind of value for a count.
std::vector<std::string> head_notes(const std::vector<FamilyMatch>& parts, const Safetensors& file,
                                    const Config* config, bool mapped);

}  // namespace eigenscope
