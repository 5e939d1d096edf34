#include "checkpoint/config_part.h"

#include <algorithm>

#include "io/json_events.h"

namespace eigenscope {
namespace {

/// The part of Qwen-Omni that reads, an object of objects; the others speak.
constexpr std::string_view kThinker = "thinker_config.";
constexpr std::array<std::string_view, 3> kTextParts{"text_config.", "llm_config.",
                                                     "language_config."};
/// Words of the prefixes of stacks that do not read text.
struct OtherPart {
  std::string_view object;
  std::array<std::string_view, 4> words;
};
constexpr std::array kOtherParts{OtherPart{"vision_config.", {"vision", "visual", "vpm", "image"}},
                                 OtherPart{"audio_config.", {"audio", "speech", "apm", "sound"}}};
constexpr std::array<std::string_view, 3> kTimmVariants{"_rpn", "_rope", "relpos"};

bool has_object(const Config* config, std::string_view object) {
  return config != nullptr && !config->names(std::string(object)).empty();
}

/// The path of `object`, which may be in that of the thinker.
std::string path_of(const Config* config, std::string_view object) {
  std::string inner(kThinker);
  inner += object;
  return has_object(config, inner) ? inner : std::string(object);
}

bool is_text(std::string_view part) {
  if (part.starts_with(kThinker)) part.remove_prefix(kThinker.size());
  return std::find(kTextParts.begin(), kTextParts.end(), part) != kTextParts.end();
}

}  // namespace

std::string part_of(const Config* config, std::string_view named, const std::string& prefix,
                    bool text) {
  if (!named.empty()) return path_of(config, std::string(named) + ".");
  if (text) {
    const auto part = std::find_if(kTextParts.begin(), kTextParts.end(), [&](auto object) {
      return has_object(config, path_of(config, object));
    });
    return part == kTextParts.end() ? "" : path_of(config, *part);
  }
  const auto part = std::find_if(kOtherParts.begin(), kOtherParts.end(), [&](const auto& other) {
    return std::any_of(other.words.begin(), other.words.end(),
                       [&](auto word) { return prefix.find(word) != std::string::npos; });
  });
  return part == kOtherParts.end() ? std::string(kNoPart) : path_of(config, part->object);
}

ConfigKeys part_keys(const Config* config, const std::string& part, bool main) {
  std::vector<std::string> objects{part};
  const bool has_outer = main && !part.empty() && (is_text(part) || !has_object(config, part));
  if (has_outer) objects.emplace_back();
  for (std::size_t i = 0, count = objects.size(); i < count; ++i) {
    objects.push_back(objects[i] + "attn_config.");
  }
  return {config, std::move(objects)};
}

void check_parts(const Config* config) {
  const auto check = [&](std::string_view outer, std::string_view part) {
    check_kind(ConfigKeys(config, {std::string(outer)}), part.substr(0, part.size() - 1),
               "an object");
  };
  check("", kThinker);
  for (const std::string_view outer : {std::string_view(), kThinker}) {
    for (const std::string_view part : kTextParts) check(outer, part);
    for (const OtherPart& part : kOtherParts) check(outer, part.object);
  }
}

std::vector<std::string> model_types(const Config* config) {
  std::vector<std::string> types;
  if (config == nullptr) return types;
  for (const char* const path : kTypePaths) {
    if (auto type = config->text(path)) types.push_back(std::move(*type));
  }
  if (const std::string timm = config->value("architecture"); types.empty() && !timm.empty()) {
    // Some variants of "vit" have norms after their branches, rotary positions or biases of the relative position.
    const bool variant =
        std::any_of(kTimmVariants.begin(), kTimmVariants.end(),
                    [&](std::string_view word) { return timm.find(word) != std::string::npos; });
    types.push_back(variant ? timm : timm.substr(0, timm.find('_')));
  }
  return types;
}

std::string told_type(const Config* config) {
  if (config == nullptr) return "there is no config.json with a 'model_type'";
  std::string told;
  for (const char* const path : kTypePaths) {
    const std::string type = config->value(path);
    if (type.empty()) continue;
    told +=
        (told.empty() ? "" : ", ") + ("'" + std::string(path)) + "' is '" + shown_name(type) + "'";
  }
  if (const std::string timm = config->value("architecture"); told.empty() && !timm.empty()) {
    told = "'architecture' is '" + shown_name(timm) + "'";
  }
  return told.empty() ? config->name() + " has no 'model_type'" : told + " in " + config->name();
}

}  // namespace eigenscope
