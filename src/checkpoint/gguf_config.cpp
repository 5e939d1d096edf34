// The config.json of a GGUF file.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/gguf.h"
#include "checkpoint/gguf_blocks.h"
#include "checkpoint/gguf_names.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/key_guards.h"
#include "checkpoint/rotary_config.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

/// Keys of the metadata, behind the architecture's name, and of config.json.
constexpr NamePairs kKeys =
    " embedding_length=hidden_size block_count=num_hidden_layers "
    "feed_forward_length=intermediate_size context_length=max_position_embeddings "
    "attention.head_count=num_attention_heads attention.head_count_kv=num_key_value_heads "
    "attention.key_length=head_dim attention.layer_norm_rms_epsilon=rms_norm_eps "
    "attention.layer_norm_epsilon=layer_norm_eps attention.layer_norm_epsilon=layer_norm_epsilon "
    "attention.sliding_window=sliding_window "
    "attention.scale=attention_multiplier attention.causal=is_causal "
    "attn_logit_softcapping=attn_logit_softcapping "
    "final_logit_softcapping=final_logit_softcapping "
    // Cohere multiplies the logits by it, Granite divides them.
    "logit_scale=logit_scale logit_scale=logits_scaling "
    "embedding_scale=embedding_multiplier residual_scale=residual_multiplier "
    "rope.freq_base=rope_theta expert_used_count=num_experts_per_tok "
    "expert_weights_scale=routed_scaling_factor expert_weights_norm=norm_topk_prob "
    "expert_group_count=n_group expert_group_used_count=topk_group ";

/// Keys of the scaling of rotary angles in the metadata, and in "rope_scaling" of config.json.
constexpr NamePairs kScalingKeys =
    " rope.scaling.factor=factor "
    "rope.scaling.original_context_length=original_max_position_embeddings "
    "rope.scaling.yarn_beta_fast=beta_fast rope.scaling.yarn_beta_slow=beta_slow ";

/// A tenth of the scaling's `mscale` and `mscale_all_dim` for latent attention; `mscale_all_dim` for Ministral 3.
constexpr std::string_view kLogMultiplier = "rope.scaling.yarn_log_multiplier";

/// Key of Ministral 3 and Mistral Large 3: queries beyond the original context length are multiplied.
constexpr std::string_view kLateScale = "attention.temperature_scale";

/// Keys without a counterpart in config.json that are read here or have no effect.
constexpr std::string_view kOtherKeys =
    " attention.group_norm_epsilon attention.group_norm_groups attention.value_length "
    "rope.dimension_count rope.scale_linear rope.scaling.attn_factor rope.scaling.finetuned "
    "rope.scaling.type ";

/// Words in keys that scale, bound, turn or restrict attention.
constexpr std::array<std::string_view, 6> kAttentionWords{"attn",    "clamp",  "no_rope",
                                                          "softcap", "window", "scale"};

bool is_finite(const OrderedJson& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_finite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

/// The metadata of a model's architecture.
class ModelMetadata {
 public:
  explicit ModelMetadata(const GgufPart& first)
      : metadata_(first.header.metadata),
        file_(first.source->name()),
        prefix_(architecture_of(metadata_) + ".") {}

  /// The value of `key` after the architecture's name; null where there is none. Throws FormatError naming the key for
  /// NaN and infinities.
  OrderedJson value(const std::string& key) const {
    const OrderedJson entry = metadata_.value(prefix_ + key, OrderedJson());
    if (!is_finite(entry)) {
      refuse_item(prefix_ + key, {"it must be finite in ", file_, ", but is NaN or infinite"});
    }
    return entry;
  }
  bool has(const std::string& key) const { return metadata_.contains(prefix_ + key); }
  /// All keys of the architecture, without its name.
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& [key, value] : metadata_.items()) {
      if (key.starts_with(prefix_)) keys.push_back(key.substr(prefix_.size()));
    }
    return keys;
  }
  const std::string& prefix() const { return prefix_; }
  /// The number of `key`, or the only_value() of its list; `usual` where that is no number.
  double number(const std::string& key, double usual) const {
    const OrderedJson given = value(key);
    const OrderedJson& only = only_value(given);
    return only.is_number() ? only.get<double>() : usual;
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& message) const {
    refuse_item(prefix_ + key, {message, " in ", file_});
  }

 private:
  const OrderedJson& metadata_;
  const std::string& file_;
  const std::string prefix_;
};

/// Sets the keys of `config` that the metadata have, and those with the same value in every file.
void copy_keys(const ModelMetadata& metadata, NamePairs keys, OrderedJson& config) {
  for (std::size_t at = 1; at < keys.size();) {
    const std::size_t middle = keys.find('=', at), end = keys.find(' ', middle);
    const std::string from(keys.substr(at, middle - at));
    OrderedJson given = metadata.value(from);
    if (from == "true" || from == "false") given = from == "true";
    if (from.front() >= '0' && from.front() <= '9') given = std::strtod(from.c_str(), nullptr);
    if (!given.is_null())
      config[std::string(keys.substr(middle + 1, end - middle - 1))] = std::move(given);
    at = end + 1;
  }
}

bool is_zero(const OrderedJson& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_zero);
  return value == OrderedJson(false) || (value.is_number() && value.get<double>() == 0);
}

bool is_latent(const Converted& conversion) {
  return conversion.model_type.starts_with("deepseek_v3") ||
         lists(" kimi_linear mistral4 minicpm3 ", conversion.model_type);
}

/// The key of config.json for a key that only this architecture has; empty for none.
std::string_view config_key(const Converted& conversion, std::string_view key) {
  for (const NamePairs keys : conversion.keys) {
    if (const std::string_view to = to_of(keys, key); !to.empty()) return to;
  }
  return {};
}

/// Whether a key is read, or cannot change the attention.
bool is_read(std::string_view key, const Converted& conversion) {
  const bool of_attention = key.starts_with("attention.") || key.starts_with("rope.");
  const auto in_key = [&](std::string_view word) { return key.find(word) != std::string::npos; };
  const bool named = std::any_of(kAttentionWords.begin(), kAttentionWords.end(), in_key);
  if (!of_attention && (!named || key.starts_with("expert"))) return true;
  return !to_of(kKeys, key).empty() || !to_of(kScalingKeys, key).empty() ||
         !config_key(conversion, key).empty() || lists(kOtherKeys, key);
}

/// YaRN's default factor of queries and keys for positions divided by `stretch`.
double yarn_factor(double stretch) { return 1 + 0.1 * std::log(stretch); }

/// Whether a key of a scaling has YaRN's default value.
bool is_usual_scaling(const std::string& key, const ModelMetadata& metadata) {
  const double value = metadata.number(key, 0);
  if (key == "rope.scaling.yarn_ext_factor") return value == 1;
  const double usual = yarn_factor(metadata.number("rope.scaling.factor", 1));
  return key == "rope.scaling.yarn_attn_factor" && std::abs(value - usual) < 1e-5;
}

/// Keys of the attention that no one reads and whose value is not 0 or false, for key_guards.h to refuse.
OrderedJson unread_keys(const ModelMetadata& metadata, const Converted& conversion) {
  OrderedJson unread = OrderedJson::array();
  for (const std::string& key : metadata.keys()) {
    if (is_read(key, conversion) || is_usual_scaling(key, metadata)) continue;
    const OrderedJson value = metadata.value(key);
    if (!is_zero(value)) unread.push_back(metadata.prefix() + key);
  }
  return unread;
}

/// Replaces the list of layers with a sliding window, under the key `pattern` of config.json, by one of layer types.
void set_layer_types(OrderedJson& config, std::string_view pattern) {
  if (pattern.empty()) return;
  if (!config.contains("sliding_window")) {
    config["sliding_window"] = nullptr;
    config["sliding_window_pattern"] = 1;
    return;
  }
  OrderedJson& given = config[std::string(pattern)];
  if (!given.is_array()) return;
  OrderedJson types = OrderedJson::array();
  for (const OrderedJson& windowed : given)
    types.push_back(is_zero(windowed) ? "full_attention" : "sliding_attention");
  given = nullptr;
  config["layer_types"] = std::move(types);
}

/// Copies the numbers of xIELU, whose metadata keys lack the architecture's name.
void add_xielu_keys(const OrderedJson& metadata, OrderedJson& config) {
  for (const char* const name : kXieluNumbers) {
    const std::string key = std::string("xielu.") + name;
    const auto given = metadata.find(key);
    if (given == metadata.end()) continue;
    if (!is_finite(*given)) refuse_item(key, "it must be finite");
    config["xielu"][name] = *given;
  }
}

/// Sets the keys of config.json for latent attention, whose keys llama.cpp counts as those of one head.
void add_latent_keys(const ModelMetadata& metadata, OrderedJson& config) {
  config["num_key_value_heads"] = config["num_attention_heads"];
  config.erase("head_dim");
  if (config["n_group"] != 1) config["topk_method"] = "group_limited_greedy";
  const double turned = metadata.number("rope.dimension_count", 0),
               width = config["qk_head_dim"].is_number() ? config["qk_head_dim"].get<double>() : 0;
  if (width > turned) config["qk_nope_head_dim"] = static_cast<std::uint64_t>(width - turned);
}

/// The tensor `name` with the divisors of the rotary angles, which only longrope has in config.json; null where the
/// model has none.
OrderedJson factors_in(const std::vector<GgufPart>& parts, std::string_view name) {
  constexpr std::uint64_t kMostFactors = 4096;
  for (const auto& [source, header] : parts) {
    for (const GgufTensor& tensor : header.tensors) {
      if (tensor.name != name) continue;
      if (tensor.type != kGgufF32 || tensor.elements() > kMostFactors) {
        refuse_item(tensor.name, {"it must have at most ", std::to_string(kMostFactors),
                                  " elements of F32 in ", source->name()});
      }
      std::vector<float> factors(static_cast<std::size_t>(tensor.elements()));
      source->read(tensor.begin, std::as_writable_bytes(std::span(factors)));
      OrderedJson list = factors;
      if (!is_finite(list)) refuse_item(tensor.name, "it must be finite in " + source->name());
      return list;
    }
  }
  return nullptr;
}

OrderedJson rotary_scaling(const std::vector<GgufPart>& parts, const ModelMetadata& metadata) {
  const std::string attention_key = "rope.scaling.attn_factor";
  const double attention = metadata.number(attention_key, 1);
  OrderedJson scaling = OrderedJson::object();
  copy_keys(metadata, kScalingKeys, scaling);
  const OrderedJson all = factors_in(parts, "rope_freqs.weight");
  OrderedJson shorter = factors_in(parts, "rope_factors_short.weight");
  OrderedJson longer = factors_in(parts, "rope_factors_long.weight");
  if (!all.is_null()) shorter = longer = all;
  if (!longer.is_null()) {
    // llama.cpp divides by both.
    const auto factor = scaling.find("factor");
    if (factor != scaling.end() && *factor != 1 && metadata.value("rope.scaling.type") != "none")
      metadata.refuse("rope.scaling.factor", "it must be 1 beside divisors of the angles");
    const auto original = scaling.find("original_max_position_embeddings");
    return {{"rope_type", "longrope"},
            {"short_factor", shorter.is_null() ? longer : shorter},
            {"long_factor", longer},
            {"attention_factor", attention},
            {"original_max_position_embeddings",
             original == scaling.end() ? metadata.value("context_length") : *original}};
  }
  if (!scaling.contains("factor")) {
    // The name of files that llama.cpp's converter wrote until September 2023.
    OrderedJson given = metadata.value("rope.scale_linear");
    if (!given.is_null()) scaling["factor"] = std::move(given);
  }
  OrderedJson type = metadata.value("rope.scaling.type");
  if (type.is_null() && scaling.contains("factor")) type = "linear";  // llama.cpp's default
  const std::string name = type.is_string() ? type.get<std::string>() : "none";
  if (!scaling.contains("factor")) scaling["factor"] = 1;  // llama.cpp's default
  if (name == "yarn") {
    // llama.cpp multiplies it by the factor that is Hugging Face's default.
    const auto factor = scaling.find("factor");
    const double stretch =
        factor != scaling.end() && factor->is_number() ? factor->get<double>() : 1;
    if (attention != 1 && stretch >= 1)
      scaling["attention_factor"] = attention * yarn_factor(stretch);
  } else if (attention != 1) {
    metadata.refuse(attention_key, "it must be 1 beside the scaling '" + shown_name(name) + "'");
  }
  if (name == "none") return nullptr;
  scaling["rope_type"] = name;
  return scaling;
}

/// The scaling with what files of the architecture leave out, or have under another key.
OrderedJson scaling_of(const std::vector<GgufPart>& parts, const ModelMetadata& metadata,
                       const Converted& conversion) {
  OrderedJson scaling = rotary_scaling(parts, metadata);
  if (scaling.is_null()) return scaling;
  // The pairs between which the original's ramp lies are not rounded.
  if (conversion.model_type == "gpt_oss") scaling["truncate"] = false;
  const double multiplier = metadata.number(std::string(kLogMultiplier), 0);
  const bool latent = is_latent(conversion);
  if ((latent || multiplier > 0) && scaling.contains("attention_factor") &&
      scaling["rope_type"] == "yarn")
    metadata.refuse("rope.scaling.attn_factor", "it must be 1 beside latent attention");
  if (multiplier > 0) {
    const double all = latent ? static_cast<float>(multiplier) / 0.1F : multiplier;
    // llama.cpp regards `mscale` as equal for DeepSeek V2 and V3, else as 1 with another factor of the logits.
    if (latent && conversion.name != "deepseek2" && std::abs(all - 1) > 1e-5)
      metadata.refuse(std::string(kLogMultiplier), "it must be 0.1");
    scaling["mscale_all_dim"] = all;
    scaling["mscale"] = latent ? all : 1;
  }
  return scaling;
}

/// llama.cpp recognizes the model without norms of queries and keys by its 128 experts, and by a window of 0 models
/// with rotary positions in other layers.
void add_llama4_keys(const ModelMetadata& metadata, OrderedJson& config) {
  config["use_qk_norm"] = metadata.number("expert_count", 0) != 128;
  const std::string window = "attention.sliding_window";
  if (metadata.number(window, 1) == 0) metadata.refuse(window, "it must be left out");
}

/// MiniCPM's forward pass is Granite's, with the usual scale of the logits. Files of before March 2025 leave the other
/// scales out, which are those of the first models: llama.cpp had them in its code then.
void add_minicpm_keys(const ModelMetadata& metadata, double width, OrderedJson& config) {
  const double layers = metadata.number("block_count", 0);
  if (layers < 1) metadata.refuse("block_count", "it is missing");
  for (const auto& [key, first] :
       {std::pair("embedding_multiplier", 12.0),
        {"residual_multiplier", 1.4 / std::sqrt(layers)},
        {"logits_scaling", metadata.number("embedding_length", 0) / 256}})
    if (!config.contains(key)) config[key] = first;
  config["attention_multiplier"] = 1 / std::sqrt(width);
  config["position_embedding_type"] = "rope";
}

/// Cohere 2 MoE turns layers without experts, the first ones, whether they have a window or not.
void add_dense_layers(const ModelMetadata& metadata, OrderedJson& config) {
  const std::string dense = "leading_dense_block_count";
  if (metadata.value(dense).is_null()) metadata.refuse(dense, "it is missing");
  const double count = metadata.number(dense, 0);
  const std::size_t layers = config.value("layer_types", OrderedJson()).size();
  OrderedJson& types = config["mlp_layer_types"] = OrderedJson::array();
  while (types.size() < layers)
    types.push_back(static_cast<double>(types.size()) < count ? "dense" : "sparse");
}

void add_granite_keys(const ModelMetadata& metadata, OrderedJson& config) {
  if (!config.contains("attention_multiplier")) metadata.refuse("attention.scale", "it is missing");
  // llama.cpp's switch of its positions.
  const std::string turns = "rope.scaling.finetuned";
  if (metadata.value(turns) != OrderedJson(false)) {
    config["position_embedding_type"] = "rope";
  } else if (config["model_type"] != "granitemoehybrid") {
    metadata.refuse(turns, "it must be true or left out");
  }
}

/// Gemma 4 turns whole heads in the layers with a window, and in the others the first pairs of a head: llama.cpp
/// divides the angles of the rest by 1e30.
void set_gemma4_angles(const std::vector<GgufPart>& parts, const ModelMetadata& metadata,
                       OrderedJson& config) {
  const std::string name = "rope_freqs.weight";
  double kept = 0, all = 0;
  bool fits = true;
  for (const OrderedJson& each : factors_in(parts, name)) {
    const double divisor = each.get<double>();
    const bool turns = divisor == 1 && kept == all;
    fits = fits && (turns || divisor > 1e29);
    kept += turns ? 1 : 0;
    ++all;
  }
  if (!fits || all == 0) refuse_item(name, "its elements must be 1 before those of 1e30");
  const std::string turned = "rope.dimension_count_swa";
  if (config["partial_rotary_factor"] != 1 ||
      metadata.number(turned, 0) != metadata.number("attention.key_length_swa", 0))
    metadata.refuse(turned, "it and the key without '_swa' must be the widths of a head");
  for (const char* const key :
       {"rope.scaling.factor", "rope.scale_linear", "rope.scaling.attn_factor"}) {
    if (metadata.number(key, 1) != 1) metadata.refuse(key, "it must be 1 or left out");
  }
  OrderedJson full = OrderedJson::object(), local = OrderedJson::object();
  full["rope_type"] = "proportional";
  full["partial_rotary_factor"] = kept / all;
  full["rope_theta"] = config.value("rope_theta", OrderedJson());
  local["rope_type"] = "default";
  local["rope_theta"] = config.value("rope_local_base_freq", OrderedJson());
  config["rope_parameters"]["full_attention"] = std::move(full);
  config["rope_parameters"]["sliding_attention"] = std::move(local);
}

bool has_tensor(const std::vector<GgufPart>& parts, std::string_view name) {
  return std::any_of(parts.begin(), parts.end(), [&](const GgufPart& part) {
    return std::any_of(part.header.tensors.begin(), part.header.tensors.end(),
                       [&](const GgufTensor& tensor) { return tensor.name == name; });
  });
}

/// llama.cpp gives sinks to the layers of MiMo V2 that have them.
void add_sink_keys(const std::vector<GgufPart>& parts, OrderedJson& config) {
  int layer = 0;
  for (const OrderedJson& type : config.value("layer_types", OrderedJson::array())) {
    const std::string name = "blk." + std::to_string(layer++) + ".attn_sinks.weight";
    const char* const key = type == "sliding_attention" ? "add_swa_attention_sink_bias"
                                                        : "add_full_attention_sink_bias";
    if (!config.contains(key)) config[key] = has_tensor(parts, name);
  }
}

/// Sets what the metadata of Gemma 4 lack: whether layers use their keys as values, whether there are experts, and
/// llama.cpp's default for the cap of the logits. Throws FormatError where the last layer has a window.
void add_gemma4_keys(const std::vector<GgufPart>& parts, const ModelMetadata& metadata,
                     OrderedJson& config) {
  const OrderedJson types = config.value("layer_types", OrderedJson());
  if (types.is_array() && (types.empty() || types.back() != "full_attention"))
    metadata.refuse("attention.sliding_window_pattern", "the last layer must have no window");
  bool shares = false, routes = false;
  for (std::size_t layer = 0; layer < types.size(); ++layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const auto has = [&](const char* name) { return has_tensor(parts, block + name); };
    if (types[layer] == "full_attention" && has("attn_k.weight") && !has("attn_v.weight"))
      shares = true;
    if (has("ffn_gate_inp.weight")) routes = true;
  }
  config["attention_k_eq_v"] = shares;
  config["enable_moe_block"] = routes;
  const char* const cap = "final_logit_softcapping";
  if (!config.contains(cap)) config[cap] = 30;
}

}  // namespace

Config config_of_gguf(const std::vector<std::shared_ptr<ByteSource>>& files) {
  const std::vector<GgufPart> parts = read_gguf_parts(files);
  const auto& [source, header] = parts.front();
  const Converted* const conversion = conversion_of(header);
  const ModelMetadata metadata(parts.front());
  OrderedJson config = OrderedJson::object();
  const std::string architecture = architecture_of(header.metadata);
  if (!architecture.empty())
    config["model_type"] =
        conversion == nullptr ? architecture : std::string(conversion->model_type);
  const bool latent = conversion != nullptr && is_latent(*conversion);
  const bool ocr = architecture == "deepseek2-ocr";
  // llama.cpp's defaults.
  const bool in_groups =
      latent || ocr || lists(" glm4moe dots1 exaone-moe minimax-m3 ", architecture);
  if (in_groups || architecture == "nemotron_h_moe") config["norm_topk_prob"] = false;
  if (in_groups) {
    for (const char* const key : {"routed_scaling_factor", "n_group", "topk_group"})
      config[key] = 1;
  }
  copy_keys(metadata, kKeys, config);
  // llama.cpp does not run such a file and so has no default.
  if (!metadata.has("attention.layer_norm_rms_epsilon") &&
      !metadata.has("attention.layer_norm_epsilon")) {
    config["without_epsilon"] = true;
  }
  // 0 is llama.cpp's value for none.
  if (const auto factor = config.find("routed_scaling_factor");
      factor != config.end() && is_zero(*factor)) {
    *factor = 1;
  }
  if (const auto window = config.find("sliding_window");
      window != config.end() && is_zero(*window)) {
    config.erase("sliding_window");
  }
  // llama.cpp's default, by which the rows of rotary keys were put in Hugging Face's order.
  if (config.contains("num_attention_heads") && !config.contains("num_key_value_heads")) {
    config["num_key_value_heads"] = config["num_attention_heads"];
  }
  const double turned = metadata.number("rope.dimension_count", 0);
  const double heads = metadata.number("attention.head_count", 0);
  double width = metadata.number("attention.key_length", 0);
  if (width == 0 && heads > 0) width = std::floor(metadata.number("embedding_length", 0) / heads);
  if (turned > 0 && turned < width && !latent) {
    // The converter puts whole heads in another order.
    if (conversion != nullptr && conversion->neighbours) {
      metadata.refuse("rope.dimension_count",
                      "it must be " + std::to_string(static_cast<std::uint64_t>(width)) +
                          ", the width of a head, for the architecture '" + architecture + "'");
    }
    config["partial_rotary_factor"] = turned / width;
  } else if (conversion != nullptr && !latent) {
    // llama.cpp's default, which is not that of every family.
    if (metadata.value("rope.dimension_count").is_array() && turned == 0)
      metadata.refuse("rope.dimension_count", "it must be a number");
    if (width == 0 && (turned > 0 || conversion->name == "minicpm"))
      metadata.refuse("embedding_length", "it is missing");
    config["partial_rotary_factor"] = 1;
  }
  if (conversion != nullptr) {
    const std::string_view type = conversion->model_type;
    for (const NamePairs keys : conversion->keys) copy_keys(metadata, keys, config);
    if (type == "gemma4_text") {
      set_gemma4_angles(parts, metadata, config);
    } else {
      config["rope_scaling"] = scaling_of(parts, metadata, *conversion);
    }
    // Ollama's files do not have the base of the layers without a window.
    if (type != "olmo3" && !config_key(*conversion, "rope.freq_base_swa").empty() &&
        !config.contains("rope_theta"))
      metadata.refuse("rope.freq_base", "it is missing");
    const char* const late =
        latent ? "attention.temperature_length" : "rope.scaling.original_context_length";
    if (!config_key(*conversion, kLateScale).empty() &&
        metadata.number(late, 0) < kBeyondPassages &&
        metadata.number(std::string(kLateScale), 0) != 0) {
      metadata.refuse(std::string(kLateScale), "it must be 0");
    }
    if (!config.contains("rope_theta")) config["rope_theta"] = 10000;  // llama.cpp's default
    set_layer_types(config, config_key(*conversion, "attention.sliding_window_pattern"));
    if (type == "gemma4_text") add_gemma4_keys(parts, metadata, config);
    if (latent) add_latent_keys(metadata, config);
    const std::string of_scores = "expert_gating_func";
    const double scores = metadata.number(of_scores, 0);
    if (scores > 2) metadata.refuse(of_scores, "it must be 1 (softmax) or 2 (sigmoid)");
    // llama.cpp's default, but for GLM-4.7-Flash, which it knows by its layers.
    const bool softmax =
        scores == 1 ||
        (scores == 0 &&
         (ocr || (conversion->name == "deepseek2" && metadata.number("block_count", 0) != 47)));
    if (scores > 0 || softmax) config["scoring_func"] = softmax ? "softmax" : "sigmoid";
    if (config.value("n_group", 0) == 1 && !config.contains("topk_group")) config["topk_group"] = 1;
    if (type == "xlm-roberta") config["position_embedding_type"] = "rotary";
    if (type.starts_with("minimax")) config["rotary_dim"] = turned > 0 ? turned : width;
    if (type == "llama4_text") add_llama4_keys(metadata, config);
    // llama.cpp applies the norms that a file has.
    if (type == "cohere" || type == "glm4_moe")
      config["use_qk_norm"] = has_tensor(parts, "blk.0.attn_q_norm.weight");
    if (type == "apertus") add_xielu_keys(header.metadata, config);
    if (type == "falcon_h1") config["mamba_rms_norm"] = has_tensor(parts, "blk.0.ssm_norm.weight");
    if (type == "cohere2_moe") add_dense_layers(metadata, config);
    if (type == "mimo_v2_flash") add_sink_keys(parts, config);
    // Windows of one of its successors do not hold for the tokens of pictures.
    if (ocr && metadata.number("attention.sliding_window", 0) != 0)
      metadata.refuse("attention.sliding_window", "it must be 0 or left out");
    if (conversion->name == "minicpm") {
      add_minicpm_keys(metadata, width, config);
    } else if (type.starts_with("granite")) {
      add_granite_keys(metadata, config);
    }
    // Granite divides the logits by logit_scale of the metadata, others multiply them by it.
    config.erase(type.starts_with("granite") ? "logit_scale" : "logits_scaling");
    // Blocks after the last layer predict further tokens.
    const double layers =
        metadata.number("block_count", 0) - metadata.number("nextn_predict_layers", 0);
    if (layers > 0) config["num_hidden_layers"] = static_cast<std::uint64_t>(layers);
    OrderedJson unread = unread_keys(metadata, *conversion);
    if (!unread.empty()) config[std::string(kUnreadKeys)] = std::move(unread);
    if (conversion->wide_scale_layers > 0 && heads > 0 && width > 0) {
      const bool wide = metadata.number("block_count", 0) == conversion->wide_scale_layers;
      config["query_pre_attn_scalar"] =
          wide ? metadata.number("embedding_length", 0) / heads : width;
    }
  }
  if (!config.contains("tie_word_embeddings"))
    config["tie_word_embeddings"] = !has_tensor(parts, "output.weight");
  return Config::parse(write_json(config), source->name());
}

}  // namespace eigenscope
