// Which object of a config.json a stack of a model reads, and the model types that it names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config_keys.h"

namespace eigenscope {

/// The path of a part's object in config.json, which ends with '.': `named`, that of the row, or else, of text that of
/// the language model, empty where the outermost object has the keys, and of another stack that which the words of its
/// `prefix` tell, such as "vision_tower.", or `kNoPart`.
std::string part_of(const Config* config, std::string_view named, const std::string& prefix,
                    bool text);
inline constexpr std::string_view kNoPart = "(none).";

/// A config.json seen from the object `part` of a stack, and then from the outermost one where that has defaults of
/// text or there is no such object, but not if another stack is the `main` one. In each the object "attn_config" comes
/// last.
ConfigKeys part_keys(const Config* config, const std::string& part, bool main = true);

/// The paths of the model types of the whole and of its parts.
inline constexpr std::array<const char*, 5> kTypePaths{
    "model_type", "text_config.model_type", "llm_config.model_type", "language_config.model_type",
    "vision_config.model_type"};

/// Those of a model of text, alone or as a part.
inline constexpr std::array<const char*, 2> kTextTypePaths{"model_type", "text_config.model_type"};

/// Throws FormatError naming an object of config.json for a part of a model, such as "text_config", that is none.
void check_parts(const Config* config);

/// The model types that config.json names. A config.json of timm has an architecture such as "vit_base_patch16_224".
std::vector<std::string> model_types(const Config* config);

/// The type of a model by its config.json, for messages.
std::string told_type(const Config* config);

}  // namespace eigenscope
