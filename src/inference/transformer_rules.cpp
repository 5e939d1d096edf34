// Settings of a forward pass in config.json: heads, positions, windows, factors and bounds of each layer.
#include "inference/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "checkpoint/attention_window.h"
#include "checkpoint/head_grid.h"
#include "checkpoint/logit_scale.h"
#include "checkpoint/rotary_config.h"
#include "inference/text_family.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr double kLargestEpsilon = 1;
constexpr double kLargestId = 1e9;  // of a token
constexpr double kLeastCap = 1e-3, kLargestCap = 1e6;
constexpr double kLeastScale = 1e-6, kLargestScale = 1e6;  // of embeddings, branches and logits

/// Fills `factors` where config.json has a list of them.
template <std::size_t count>
void read_list(const ConfigKeys& keys, std::string_view list, std::array<float, count>& factors) {
  if (list.empty() || !keys.has(list)) return;
  check_kind(keys, list, "an array");
  for (std::size_t i = 0; i < count; ++i) {
    const auto told =
        keys.number(element_key(list, static_cast<int>(i)), kLeastScale, kLargestScale);
    if (told) factors[i] = static_cast<float>(*told);
    if (told && !keys.has(element_key(list, static_cast<int>(count)))) continue;
    refuse_item(keys.path(list),
                {"it must have ", std::to_string(count), " numbers in ", keys.name()});
  }
}

}  // namespace

void Transformer::read_config(const ConfigKeys& keys) {
  check_usual(names(), keys);
  check_skipped(keys);
  if (!patches_) check_count(keys, "vocab_size", vocabulary_);
  LayerRules rules;
  rules.activation = activation_of(names(), keys);
  rules.causal = names().causal && !keys.flag(names().bidirectional_key).value_or(false);
  for (const auto& [key, value] :
       {std::pair("is_causal", false), {"use_bidirectional_attention", true}}) {
    bool has_usual = false;  // check_usual() has read it, which is a word then
    for (const UsualValue& usual : names().usual) has_usual = has_usual || usual.key == key;
    if (has_usual || keys.flag(key) != (rules.causal == value)) continue;
    refuse_item(keys.path(key),
                {"it must be left out in ", keys.name(), " for this family, whose tokens see ",
                 rules.causal ? "earlier ones alone" : "later ones too"});
  }
  const std::array attention_maps{attention().query_weight, attention().key_weight, names().value,
                                  names().attention_output};
  for (const char* const key : {"attention_bias", "enable_bias", "bias"}) {
    check_biases(keys, key, attention_maps);
  }
  const MixerNames& mixer = match_.family->mixer;
  const std::array projections{attention().query_weight, attention().key_weight, names().value};
  for (const char* const key : {"qkv_bias", "use_qkv_bias"}) check_biases(keys, key, projections);
  if (mixer.mixing == TokenMixing::none && keys.is_off("use_bias")) {  // it is a key of mixers too
    check_biases(keys, "use_bias", attention_maps);
    check_biases(keys, "use_bias", std::array{names().mlp_gate, names().mlp_up, names().mlp_down});
  }
  check_biases(keys, "conv_bias", std::array{mixer.input, mixer.convolution, mixer.output});
  for (const char* const key : {"mamba_conv_bias", "use_conv_bias"}) {
    check_biases(keys, key, std::array{mixer.convolution});
  }
  const std::string_view output_bias = mixer.output_bias_key;
  const std::string_view output = output_bias.empty() ? mixer.output : "";
  check_biases(keys, mixer.bias_key, std::array{mixer.input, output});
  if (!output_bias.empty()) check_biases(keys, output_bias, std::array{mixer.output});
  for (const char* const key : {"conv_bias", "mamba_conv_bias", "use_conv_bias"}) {
    convolution_bias_ = convolution_bias_ || keys.flag(key).value_or(false);
  }
  for (int layer = 0; layer < layers_; ++layer) {
    if (!has_mixer(layer)) continue;
    const std::string bias = bias_of(full_name(mixer.convolution, layer));
    convolution_bias_ = convolution_bias_ || tensors_->tensors().contains(bias);
  }
  const LayerInputNames& input = names().layer_input;
  const ExpertNames& experts = names().experts;
  const std::array mlp_maps{
      names().mlp_gate,     names().mlp_up,    names().mlp_down,      input.gate,
      input.output,         input.projection,  experts.router.weight, experts.stacked.up,
      experts.stacked.down, experts.each.gate, experts.each.up,       experts.each.down,
      experts.shared.gate,  experts.shared.up, experts.shared.down,   experts.latent_input,
      experts.latent_output};
  check_biases(keys, "mlp_bias", mlp_maps);
  for (const std::string_view key : {names().bias_key, names().no_bias_key}) {
    check_biases(keys, key, attention_maps);
    check_biases(keys, key, mlp_maps);
  }
  check_biases(keys, names().no_bias_key,
               std::array{attention().query_gain, names().mlp_norm, names().final_norm});
  check_biases(keys, "attention_bias", std::array{names().attention_gate});
  read_types(keys);
  const MaskedHead& head = names().masked_head;
  head_activation_ = head.always_gelu ? Activation::gelu : rules.activation;
  if (!head.activation_key.empty()) {
    ForwardNames of_head{.activation_key = head.activation_key};
    head_activation_ = activation_of(of_head, keys);
  }
  rules.parallel = names().parallel && keys.flag(names().parallel_key).value_or(true);
  const auto cap = [&](std::string_view key, double usual) {
    const double otherwise = keys.is_null(key) ? 0 : usual;
    return static_cast<float>(keys.number(key, kLeastCap, kLargestCap).value_or(otherwise));
  };
  rules.attention_cap = cap(names().attention_cap_key, names().attention_cap);
  output_cap_ = cap(names().output_cap_key, names().output_cap);
  const auto factor = [&](std::string_view key, double usual) {
    return keys.number(key, kLeastScale, kLargestScale).value_or(usual);
  };
  output_scale_ =
      static_cast<float>(factor(names().output_scale_key, names().output_scale) /
                         factor(names().output_divisor_key, 1) *
                         (factor(names().output_width_key, static_cast<double>(width_)) /
                          static_cast<double>(width_)));
  embedding_factor_ = static_cast<float>(factor(names().embedding_factor_key, 1));
  scaled_embedding_ = keys.flag(names().scaled_embedding_key).value_or(names().scaled_embedding);
  const double depth = names().residual_by_depth ? std::sqrt(static_cast<double>(layers_)) : 1;
  residual_factor_ = static_cast<float>(factor(names().residual_factor_key, depth) / depth);
  read_factors(keys);
  rules.gate_bound = cap(names().gate_bound_key, names().gate_bound);
  projection_bound_ = cap(names().projection_bound_key, 0);
  for (int layer = 0; layer < layers_; ++layer) {
    // The shortest offset other than 0, so that an unknown scaling of rotary positions is refused.
    LayerRules& layer_rules = rules_.emplace_back(rules);
    check_kind(keys, layer);
    check_block(keys, layer);
    check_output_norms(keys, layer);
    if (lacks_heads(layer)) {
      layer_rules.heads = layer_rules.key_heads = 0;
      continue;
    }
    layers_with_heads_.push_back(layer);
    read_heads(keys, layer, layer_rules);
    query_scales_.resize(static_cast<std::size_t>(layer));
    query_scales_.push_back(
        static_cast<float>(logit_scale(keys, *match_.family, layer_rules.head_width)));
    layer_rules.rotary =
        rotary_of(keys, *match_.family, attention().rotary,
                  match_.family->latent() ? latent_.turned : layer_rules.head_width, layer, {1},
                  RotaryUse::text);
    const auto window = attention_window(keys, match_.family->window, layer);
    if (window) {
      layer_rules.reach = static_cast<Index>(rules.causal ? *window - 1 : *window / 2);
    } else {
      check_values(keys, layer);
    }
    layer_rules.learned_sinks = !attention().sinks.empty();
    const std::string_view sinks =
        window ? attention().local_sinks_key : attention().full_sinks_key;
    if (!sinks.empty()) {
      layer_rules.learned_sinks = keys.flag(sinks).value_or(false);
      check_told(keys, sinks, layer, layer_rules.learned_sinks, has(attention().sinks, layer),
                 "sinks");
    }
  }
  if (keys.flag("without_epsilon").value_or(false)) {  // as the metadata of a GGUF file
    throw FormatError(keys.name(), "it has no epsilon of the norms");
  }
  epsilon_ = static_cast<float>(
      keys.number(names().epsilon_key, 0, kLargestEpsilon).value_or(names().epsilon));
  read_router(keys);
  read_xielu_numbers(keys);
  read_offset_bias(keys);
  read_offset_terms(keys);
  if (first_with_mixer() < layers_) read_mixers(keys, rules.activation);
  const std::string_view bare_norms = match_.family->bare_norms_key;
  bare_norms_ = !bare_norms.empty() && keys.flag(bare_norms).value_or(true);
  if (has(names().embedding_projection, 0)) check_count(keys, "embedding_size", embedding_width_);
  tied_output_ = keys.flag("tie_word_embeddings").value_or(true);
  first_position_ = names().first_position;
  if (const auto id = keys.number(names().first_position_key, 0, kLargestId)) {
    first_position_ = static_cast<Index>(*id) + 1;
  }
  positions_ = longest_passage(keys);
  if (positions() < 1) {
    refuse_item(full_name(names().position_embedding), "it holds too few positions");
  }
  if (!match_.family->latent()) {
    for (const std::string_view map : attention_maps) check_same_bias(map);
  }
  for (const std::string_view map : {names().mlp_gate, names().mlp_up, names().mlp_down}) {
    check_same_bias(map);
  }
  check_factors(keys);
}

void Transformer::read_factors(const ConfigKeys& keys) {
  const MixerNames& mixer = match_.family->mixer;
  // A factor of the inputs of `maps`, or of outputs, without `maps`. Biases have only the latter.
  const auto factor = [&](std::string_view key, std::span<const std::string_view> maps = {}) {
    const double value = keys.number(key, kLeastScale, kLargestScale).value_or(1);
    for (int layer = 0; value != 1 && layer < layers_; ++layer) {
      for (const std::string_view map : maps) {
        const std::string bias = bias_of(full_name(map, layer));
        if (!tensors_->tensors().contains(bias)) continue;
        refuse_item(bias, {"a bias here is not supported where '", keys.path(key), "' in ",
                           keys.name(), " is not 1"});
      }
    }
    return static_cast<float>(value);
  };
  const std::array attention_maps{attention().query_weight, attention().key_weight, names().value,
                                  names().attention_output};
  const std::string_view of_attention = names().attention_factor_key;
  if (names().told_attention_factor && !keys.has(of_attention) && !keys.is_null(of_attention)) {
    throw FormatError(keys.name(), "it has no '" + std::string(of_attention) + "'");
  }
  attention_factor_ =
      factor(of_attention) * factor(match_.family->input_factor_key, attention_maps);
  read_list(keys, names().mlp_factors_key, mlp_factors_);
  read_list(keys, mixer.state_factors_key, state_factors_);
  const float input = factor(mixer.input_factor_key, std::array{mixer.input});
  for (float& each : state_factors_) each *= input;
  mixer_factor_ = factor(mixer.output_factor_key);
}

void Transformer::read_mixers(const ConfigKeys& keys, Activation of_mlp) {
  const MixerNames& mixer = match_.family->mixer;
  if (mixer.mixing == TokenMixing::convolution) return;
  const std::string_view key =
      mixer.activation_key.empty() ? names().activation_key : mixer.activation_key;
  const ForwardNames silu{.activation_key = mixer.activation_key, .activation = Activation::silu};
  if ((mixer.activation_key.empty() ? of_mlp : activation_of(silu, keys)) != Activation::silu) {
    refuse_item(keys.path(key),
                {"it must be silu in ", keys.name(), " for layers without heads of this family"});
  }
  if (mixer.mixing == TokenMixing::delta_rule) return read_delta_rule(keys);
  if (mixer.mixing == TokenMixing::selective_scan) return check_selective_scan(keys);
  read_state_space(keys);
}

void Transformer::check_biases(const ConfigKeys& keys, std::string_view key,
                               std::span<const std::string_view> maps) const {
  const bool inverse = !key.empty() && key == names().no_bias_key;
  const bool off = inverse ? keys.flag(key).value_or(false) : keys.is_off(key);
  const bool is_switch =
      lists(" attention_bias mlp_bias use_bias mamba_proj_bias projectors_bias ", key) &&
      lists(names().switched_biases, keys.text("model_type").value_or(""));
  const bool is_family_key = !key.empty() && key == names().bias_key;
  const bool missing = (is_switch || is_family_key) && !keys.has(key);
  if (!off && !missing) return;
  const auto check = [&](const std::string& name) {
    const bool is_stacked = !name.ends_with("weight");
    const std::string bias = is_stacked ? name + "_bias" : bias_of(name);
    if (!tensors_->tensors().contains(bias)) return;
    refuse_item(keys.path(key), {(inverse ? "it is true in "
                                  : off   ? "it is false in "
                                          : "it is missing, and so false, in "),
                                 keys.name(), ", but the file has '", shown_name(bias), "'"});
  };
  for (int layer = 0; layer < layers_; ++layer) {
    for (const std::string_view pattern : maps) {
      if (pattern.empty()) continue;
      check(full_name(of_expert(pattern, 0), layer));
      const bool is_each = pattern.find("{e}") != pattern.npos;
      for (Index expert = 1; is_each && has(of_expert(pattern, expert), layer); ++expert) {
        check(full_name(of_expert(pattern, expert), layer));
      }
    }
  }
}

void Transformer::check_same_bias(std::string_view map) const {
  int first = -1;  // layer with this map
  for (int layer = 0; !map.empty() && layer < stored_; ++layer) {
    if (!has(map, layer)) continue;
    if (first < 0) first = layer;
    const std::string bias = bias_of(full_name(map, layer)),
                      of_first = bias_of(full_name(map, first));
    const bool is_there = tensors_->tensors().contains(bias);
    if (is_there == tensors_->tensors().contains(of_first)) continue;
    refuse_item(is_there ? of_first : bias, "it is missing, though another layer has it");
  }
}

void Transformer::check_factors(const ConfigKeys& keys) const {
  const auto refuse = [&](const char* key, const char* neutral) {
    refuse_item(keys.path(key), {"it must be ", neutral, " or left out in ", keys.name(),
                                 " for this family, which does not read it"});
  };
  const auto reads = [](const auto& known, std::string_view key) {
    return std::find(known.begin(), known.end(), key) != known.end();
  };
  const std::array factors{names().embedding_factor_key, names().residual_factor_key,
                           names().output_scale_key, names().output_divisor_key};
  for (const char* const key : {"embedding_multiplier", "residual_multiplier", "lm_head_multiplier",
                                "logit_scale", "logits_scaling", "scale_emb", "scale_depth"}) {
    if (reads(factors, key)) continue;
    if (keys.number(key, -kLargestScale, kLargestScale).value_or(1) != 1) refuse(key, "1");
  }
  const std::array caps{names().attention_cap_key, names().output_cap_key};
  for (const char* const key : {"attn_logit_softcapping", "final_logit_softcapping"}) {
    if (!reads(caps, key) && keys.number(key, 0, kLargestCap).value_or(0) != 0) {
      refuse(key, "null");
    }
  }
}

void Transformer::read_heads(const ConfigKeys& all_keys, int layer, LayerRules& rules) {
  const HeadKeys entries = head_keys(all_keys, *match_.family, attention(), layer);
  const ConfigKeys keys = keys_of_layer(all_keys, layer);
  std::string key_heads(entries.key_heads);
  if (keys.has(element_key(key_heads, 0))) key_heads = element_key(key_heads, layer);
  std::string key(entries.heads);
  if (keys.has(element_key(key, 0))) key = element_key(key, layer);
  const auto heads = head_count(keys, key, attention().default_heads);
  if (!heads) throw FormatError(keys.name(), "it has no '" + key + "'");
  rules.heads = static_cast<int>(*heads);
  if (rules.heads != this->heads()) {
    throw FormatError(key, "all layers with heads must have as many as the first, " +
                               std::to_string(this->heads()) + "; found " +
                               std::to_string(rules.heads) + " in " + keys.name());
  }
  // `eigenscope train` writes these where attention is not softmax.
  const auto other = keys.text("attention_weights");
  if (other == "none" || other == "self" || other == "hard") {
    throw FormatError("attention_weights", "'" + *other + "' in " + keys.name() +
                                               " is not supported; the attention must be softmax");
  }
  const bool fused = match_.family->fused();
  const Index rows = fused ? entering_width(layer) : sides(attention().query_weight, layer)[1];
  const auto refuse = [&](const std::string& item, std::uint64_t count, const std::string& what) {
    refuse_item(item, {std::to_string(count), " in ", keys.name(), " does not divide ", what});
  };
  const Index parts = match_.family->gated() ? 2 * rules.heads : rules.heads;
  if (rows % parts != 0) refuse(key, *heads, "the width " + std::to_string(rows));
  rules.head_width = rules.value_width = rows / parts;
  if (const auto width = keys.integer(entries.value_width, kLargestSide)) {
    rules.value_width = static_cast<Index>(*width);
  }
  const auto told_width = fused ? std::nullopt : keys.integer(entries.width, kLargestSide);
  if (told_width && *told_width != static_cast<std::uint64_t>(rules.head_width)) {
    refuse_item(
        full_name(attention().query_weight, layer),
        {"its shape makes heads of width ", std::to_string(rules.head_width), ", but '",
         keys.path(entries.width), "' in ", keys.name(), " is ", std::to_string(*told_width)});
  }
  if (match_.family->latent()) return read_latent(keys, layer, rules);
  // A count that the config leaves out is that of separate keys.
  std::uint64_t shared = *heads;
  if (const auto told = key_head_count(keys, *match_.family, key_heads, /*known=*/true)) {
    shared = *told;
  } else if (!key_heads.empty() && !fused) {
    const Index outputs = sides(attention().key_weight, key_layer(layer))[1];
    if (outputs % rules.head_width == 0) {
      shared = static_cast<std::uint64_t>(outputs / rules.head_width);
    }
  }
  if (*heads % shared != 0) {
    refuse(key_heads, shared, "the " + std::to_string(*heads) + " heads");
  }
  rules.key_heads = static_cast<int>(shared);
}

void Transformer::read_offset_bias(const ConfigKeys& keys) {
  // An exponent of 0 stands for slopes of 1 in config.json, and for no ALiBi in GGUF.
  constexpr double kLeastExponent = 1e-3, kLargestExponent = 64;
  const OffsetBiasNames& bias = names().offset_bias;
  slope_exponent_ =
      keys.number(bias.exponent_key, kLeastExponent, kLargestExponent).value_or(slope_exponent_);
  if (const auto told = keys.integer(bias.farthest_key, kLargestSide)) {
    farthest_bucket_ = static_cast<int>(*told);
  }
  if (bias.buckets.empty()) return;
  const std::string name = full_name(bias.buckets);
  const Index count = matrix_shape(*tensors_, name)[0];
  check_count(keys, "relative_attention_num_buckets", count);
  if (bias.count > 0 && count != static_cast<Index>(bias.count)) {
    refuse_item(name, {"it must have ", std::to_string(bias.count), " buckets, but has ",
                       std::to_string(count)});
  }
  const bool needed = lists(bias.each_layer, keys.text("model_type").value_or(""));
  const int last = layers_ - 1;
  offset_bias_per_layer_ = needed || (last > 0 && has(bias.buckets, last));
  for (int layer = 0; layer < layers_; ++layer) {
    if (layer == 0 || has(bias.buckets, layer) == offset_bias_per_layer_) continue;
    refuse_item(full_name(bias.buckets, layer),
                offset_bias_per_layer_ ? "it is missing, though other layers have it"
                                       : "it must be in all layers, or in the first alone");
  }
}

void Transformer::read_types(const ConfigKeys& keys) {
  constexpr const char* kKey = "type_vocab_size";
  if (names().type_embedding.empty()) return;
  const std::string name = full_name(names().type_embedding);
  const bool is_there = tensors_->tensors().contains(name);
  const auto count = keys.number(kKey, 0, kLargestSide);
  if (count.value_or(0) > 0 && !is_there) {
    refuse_item(name,
                {"it is missing, though '", keys.path(kKey), "' in ", keys.name(), " is not 0"});
  }
  // DeBERTa's default is 0.
  const double usual = names().offset_terms.vectors.empty() ? 1 : 0;
  has_types_ = is_there && count.value_or(usual) > 0;
}

void Transformer::read_offset_terms(const ConfigKeys& keys) {
  constexpr std::uint64_t kUsualLength = 512;
  if (names().offset_terms.vectors.empty()) return;
  const char* const span_key = "position_buckets";
  if (!keys.flag("relative_attention").value_or(false) ||
      keys.flag("position_biased_input").value_or(true)) {
    throw FormatError(keys.name(),
                      "it must have 'relative_attention' true and 'position_biased_input' false");
  }
  relative_terms_ = eigenscope::relative_terms(keys, match_.family->terms_key);
  for (const std::string& norm : piped_words(keys.text("norm_rel_ebd").value_or(""))) {
    normed_offsets_ = normed_offsets_ || norm == "layer_norm";
  }
  if (keys.number("conv_kernel_size", -1, kLargestSide).value_or(0) > 0) {
    refuse_item(keys.path("conv_kernel_size"),
                {"it must be 0 or left out in ", keys.name(), ": a convolution is not supported"});
  }
  shared_offset_maps_ = keys.flag("share_att_key").value_or(false);
  // Values below 1 stand for the default.
  const auto count = [&](const char* key, double otherwise) {
    const double told = keys.number(key, -kLargestId, kLargestSide).value_or(-1);
    return static_cast<int>(told < 1 ? otherwise : told);
  };
  const auto length =
      static_cast<double>(keys.integer(names().length_key, kLargestSide).value_or(kUsualLength));
  const int farthest = count("max_relative_positions", length);
  const int buckets = count(span_key, 0);
  offset_span_ = buckets > 0 ? buckets : farthest;
  farthest_offset_ = buckets > 0 ? farthest : 0;
  if (buckets > 0 && (buckets < 2 || farthest - 1 <= buckets / 2)) {
    refuse_item(keys.path(span_key),
                {"it must be at least 2, and less than twice the ", std::to_string(farthest - 1),
                 " offsets of the model, in ", keys.name()});
  }
  const std::string name = full_name(names().offset_terms.vectors);
  const Index rows = matrix_shape(*tensors_, name)[0];
  if (rows == 2 * offset_span_) return;
  refuse_item(name, {"it must have ", std::to_string(2 * offset_span_), " rows, as ", keys.name(),
                     " says, but has ", std::to_string(rows)});
}

void Transformer::check_values(const ConfigKeys& keys, int layer) const {
  const std::string_view key = names().keys_as_values_key;
  const bool told = keys.flag(key).value_or(false);
  if (key.empty() || told != has(names().value, key_layer(layer))) return;
  refuse_item(full_name(names().value, key_layer(layer)),
              {told ? "it must not be there where '" : "it is missing, though '", keys.path(key),
               "' in ", keys.name(), told ? " is true" : " is not true"});
}

void Transformer::read_latent(const ConfigKeys& keys, int layer, LayerRules& rules) {
  const auto width = [&](const char* key) {
    if (const auto told = keys.integer(key, kLargestSide); told && *told > 0) {
      return static_cast<Index>(*told);
    }
    throw FormatError(keys.name(), "it has no '" + std::string(key) + "'");
  };
  latent_ = {width("kv_lora_rank"), width("qk_rope_head_dim"), width("qk_nope_head_dim"),
             width("v_head_dim")};
  rules.key_heads = rules.heads;
  rules.value_width = latent_.values;
  if (rules.head_width == latent_.turned + latent_.compressed) return;
  const std::string name = full_name(attention().query_weight, layer);
  refuse_item(name, {"its shape ", shape_text(tensors_->tensor(name)), " does not fit ",
                     std::to_string(rules.heads), " heads of 'qk_nope_head_dim' ",
                     std::to_string(latent_.compressed), " and 'qk_rope_head_dim' ",
                     std::to_string(latent_.turned), " in ", keys.name()});
}

bool Transformer::embeds_positions() const {
  return !names().position_embedding.empty() && first_rules().rotary.pairs == RotaryPairs::kNone;
}

Index Transformer::longest_passage(const ConfigKeys& keys) const {
  if (patches_) return patches_->tokens();
  const auto most = static_cast<std::uint64_t>(shared::kLength.range.maximum);
  const auto limit = [&](std::string_view key, std::uint64_t usual) {
    return keys.integer(key, kLargestSide * 64).value_or(usual);
  };
  const std::uint64_t alike = limit(names().most_tokens_key, names().most_tokens);
  if (embeds_positions()) {
    const Index rows = matrix_shape(*tensors_, full_name(names().position_embedding))[0];
    return alike == 0 ? rows : std::min(rows, static_cast<Index>(alike) + first_position_);
  }
  return static_cast<Index>(
      std::min({most, limit(names().length_key, most), alike == 0 ? most : alike,
                tokens_of_short_factors(keys).value_or(most)}));
}

}  // namespace eigenscope
