// Which object of a config.json a stack of a model reads, and the model types that it names.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config_keys.h"

namespace eigenscope {

/// The path, which ends with '.', of the object of config.json for a stack: `named`, the one in the family's row,
/// unless it is empty; else for a stack of `text` the language model's, empty where the outermost object has its keys;
/// else the one that words in the stack's `prefix` select, such as "vision_tower.", or `kNoPart`.
std::string part_of(const Config* config, std::string_view named, const std::string& prefix,
                    bool text);
inline constexpr std::string_view kNoPart = "(none).";

/// The keys of a stack: those of the object `part`; then, if the stack is the `main` one and `part` is an object of
/// text or absent, those of the outermost object; then those of the objects "attn_config" in them.
ConfigKeys part_keys(const Config* config, const std::string& part, bool main = true);

/// The paths of the model types of the whole model and of its parts.
inline constexpr std::array<const char*, 7> kTypePaths{"model_type",
                                                       "text_config.model_type",
                                                       "llm_config.model_type",
                                                       "language_config.model_type",
                                                       "vision_config.model_type",
                                                       "thinker_config.text_config.model_type",
                                                       "thinker_config.vision_config.model_type"};

/// The paths of the model type of a text model, alone or as a part of another model.
inline constexpr std::array<const char*, 2> kTextTypePaths{"model_type", "text_config.model_type"};

/// Throws FormatError naming an object of config.json for a part of a model, such as "text_config", that is none.
void check_parts(const Config* config);

/// The model types that config.json names. A config.json of timm has an architecture such as "vit_base_patch16_224".
std::vector<std::string> model_types(const Config* config);

/// The type of a model by its config.json, for messages.
std::string told_type(const Config* config);

}  // namespace eigenscope
