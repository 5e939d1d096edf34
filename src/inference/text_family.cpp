#include "inference/text_family.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/unsupported.h"
#include "io/json_events.h"
#include "support/choice.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

struct ActivationName : Choice {  // as config.json has it
  Activation kind;
};
constexpr std::array kActivations{ActivationName{{"gelu"}, Activation::gelu},
                                  ActivationName{{"gelu_fast"}, Activation::gelu_new},
                                  ActivationName{{"gelu_new"}, Activation::gelu_new},
                                  ActivationName{{"gelu_pytorch_tanh"}, Activation::gelu_new},
                                  ActivationName{{"quick_gelu"}, Activation::quick_gelu},
                                  ActivationName{{"relu"}, Activation::relu},
                                  ActivationName{{"relu2"}, Activation::relu_squared},
                                  ActivationName{{"silu"}, Activation::silu},
                                  ActivationName{{"swish"}, Activation::silu}};

/// Models of several parts whose text is run as that part by itself, where its model type is given.
constexpr std::string_view kTextAlone =
    " aya_vision idefics3 internvl internvl_chat llava_next llava_onevision qwen2_audio smolvlm "
    "voxtral ";

/// The model type of the part that has such input, where the model has several.
std::optional<std::string> part_type(ModelInput input, const Config& config) {
  if (input == ModelInput::pictures) return config.text("vision_config.model_type");
  for (const char* const key : {"text_config.model_type", "llm_config.model_type",
                                "thinker_config.text_config.model_type"}) {
    if (auto type = config.text(key)) return type;
  }
  return std::nullopt;
}

const ForwardNames& names_of(const Family& family, ModelInput input) {
  return input == ModelInput::text ? family.text : family.picture;
}

/// Whether the file has the stack that reads such input, and of text the embeddings.
bool has_input(const FamilyMatch& match, ModelInput input) {
  const auto& stacks = match.family->attentions;
  if (input == ModelInput::text) {
    return match.stacks.front().names == &stacks.front() && !match.embeddings.empty();
  }
  const auto is_named = [](const AttentionNames& stack) { return !stack.query_weight.empty(); };
  return match.stacks.back().names == &*std::find_if(stacks.rbegin(), stacks.rend(), is_named);
}

}  // namespace

Activation activation_of(const ForwardNames& names, const ConfigKeys& keys) {
  const std::string key(names.activation_key);
  const auto name = keys.text(key);
  if (!name) return names.activation;
  for (const ActivationName& each : kActivations) {
    if (each.name == *name) return each.kind;
  }
  refuse_item(key, {"'", shown_name(*name), "' in ", keys.name(),
                    " is not supported; supported: ", Choices(kActivations).joined()});
}

FamilyMatch family_of(ModelInput input, const Safetensors& file, const Config& config) {
  const bool pictures = input == ModelInput::pictures;
  // The model type of the whole, and of the part that has such input where there are several.
  const auto type = config.text("model_type");
  const auto part = part_type(input, config);
  const bool alone = !pictures && part && type && lists(kTextAlone, *type);
  std::string architecture, unsupported;
  for (FamilyMatch& match : match_families(file.tensors(), &config, file.name())) {
    const Family& family = *match.family;
    const ForwardNames& names = names_of(family, input);
    const std::string types(names.model_types.empty() ? family.model_types : names.model_types);
    const auto has = [&](const std::optional<std::string>& name) {
      return !name || types.empty() || lists(types, *name);
    };
    const bool of_type = match.unknown.empty() && (alone || has(type)) && has(part);
    const bool reads = !names.attention_output.empty();
    const std::string others = unsupported_parts(file.tensors(), &family);
    if (reads && of_type && others.empty() && has_input(match, input)) return std::move(match);
    // The refusal is of the part that has such input.
    if (!architecture.empty() && !has_input(match, input)) continue;
    unsupported = others;
    architecture = std::string(family.name);
    for (const auto& name : {type, part}) {
      if (name) architecture += ", model_type '" + shown_name(*name) + "'";
    }
    if (reads && !pictures && match.embeddings.empty()) {
      architecture += ", without '" + std::string(family.embeddings) + "'";
    }
  }
  if (!unsupported.empty()) architecture += ", with " + unsupported;
  std::string known;
  for (const Family& family : families()) {
    const ForwardNames& names = names_of(family, input);
    if (names.attention_output.empty()) continue;
    const std::string_view types = names.model_types;
    known += (known.empty() ? "" : ", ") + std::string(family.name);
    if (!types.empty()) known += " (" + std::string(types.substr(1, types.size() - 2)) + ")";
  }
  throw FormatError(file.name(), "this architecture (" + architecture + ") cannot be run on " +
                                     (pictures ? "pictures" : "text") + "; supported: " + known);
}

void check_usual(const ForwardNames& names, const ConfigKeys& keys) {
  for (const UsualValue& usual : names.usual) {
    if (is_usual(keys, usual.key, usual.value)) continue;
    const std::string key(usual.key);
    throw FormatError(key, "'" + value_like(keys, key, usual.value) + "' in " + keys.name() +
                               " is not supported; supported: " + std::string(usual.value));
  }
}

}  // namespace eigenscope
