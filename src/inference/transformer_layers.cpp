// The layers and their branches, by the file and by config.json.
#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "inference/transformer.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Eigen::Index;

/// The branches of a layer by its kind in config.json, or by a letter of "hybrid_override_pattern".
constexpr std::string_view kMixers = " conv linear_attention mamba M ", kMlps = " mlp - ",
                           kMixtures = " moe E ";

}  // namespace

void Transformer::find_layers() {
  for (const LayerTensors& layer : stack().layers) {
    while (stored_ < layer.layer && lacks_heads(stored_)) ++stored_;
    if (layer.layer != stored_) {
      refuse_item(full_name(attention().query_weight, stored_), "it is missing");
    }
    ++stored_;
  }
  while (lacks_heads(stored_)) ++stored_;
  for (int layer = 0; layer < stored_; ++layer) check_branches(layer);
}

void Transformer::read_layers(const ConfigKeys& keys) {
  const std::string key(names().layers_key), groups(names().groups_key);
  layers_ = stored_;
  if (key.empty()) return;
  const auto told = keys.integer(groups, kMostLayers);
  if (told.value_or(1) != static_cast<std::uint64_t>(stored_)) {
    throw FormatError(groups, std::to_string(told.value_or(1)) + " in " + keys.name() +
                                  ", but the file has " + std::to_string(stored_));
  }
  const auto layers = keys.integer(key, kMostLayers);
  if (!layers) throw FormatError(keys.name(), "it has no '" + key + "'");
  if (*layers % static_cast<std::uint64_t>(stored_) != 0) {
    throw FormatError(key, std::to_string(*layers) + " in " + keys.name() +
                               " is not a multiple of the " + std::to_string(stored_) +
                               " groups of layers");
  }
  layers_ = static_cast<int>(*layers);
  sharing_ = layers_ / stored_;
}

bool Transformer::has_mixer(int layer) const { return has(match_.family->mixer.output, layer); }

int Transformer::first_with_mixer() const {
  int layer = 0;
  while (layer < layers_ && !has_mixer(layer)) ++layer;
  return layer;
}

bool Transformer::has_mlp(int layer) const {
  return has_mixture(layer) || has(names().mlp_down, layer);
}

bool Transformer::is_skipped(int layer) const { return has(names().skipped, layer); }

bool Transformer::lacks_heads(int layer) const {
  if (is_skipped(layer)) return true;
  if (has_mixer(layer)) return !match_.family->mixer.beside_heads;
  return names().optional_branches && has_mlp(layer) && !has(attention().query_weight, layer);
}

void Transformer::check_branches(int layer) const {
  const bool heads = has(attention().query_weight, layer), mixer = has_mixer(layer);
  const auto refuse = [&](std::string_view branch, const char* other) {
    refuse_item(full_name(branch, layer), {"its layer has ", other, " too"});
  };
  if (heads && is_skipped(layer)) refuse(names().skipped, "heads");
  const std::string_view of_mixer = match_.family->mixer.output;
  if (match_.family->mixer.beside_heads) {
    if (!mixer) refuse_item(full_name(of_mixer, layer), {"it is missing"});
    return;
  }
  if (heads && mixer) refuse(of_mixer, "heads");
  const bool one = names().optional_branches && names().mlp_norm == attention().query_gain;
  if (!one || !has_mlp(layer) || (!heads && !mixer)) return;
  refuse(has_mixture(layer) ? names().experts.router.weight : names().mlp_down,
         heads ? "heads" : "a state space");
}

void Transformer::check_told(const ConfigKeys& keys, std::string_view key, int layer, bool told,
                             bool has, const char* what) {
  if (told == has) return;
  refuse_item(keys.path(key),
              {"it says in ", keys.name(), " that layer ", std::to_string(layer), " has ",
               told ? "" : "no ", what, ", but the file has ", told ? "none" : "some"});
}

void Transformer::check_output_norms(const ConfigKeys& keys, int layer) const {
  const std::string_view key = names().output_norms_key;
  if (key.empty()) return;
  const bool told = keys.flag(key).value_or(false);
  for (const std::string_view norm : {names().attention_output_norm, names().mlp_output_norm}) {
    check_told(keys, key, layer, told, has(norm, layer), "norms of its branches' outputs");
  }
}

void Transformer::check_kind(const ConfigKeys& keys, int layer) const {
  if (match_.family->mixer.output.empty() || match_.family->mixer.beside_heads) return;
  const bool alone = lacks_heads(layer) && !has_mixer(layer);
  const auto check = [&](const std::string& key, std::string_view kind) {
    const bool mixes = lists(kMixers, kind), mlp = lists(kMlps, kind),
               mixture = lists(kMixtures, kind);
    const auto refuse = [&](bool has, const char* what) {
      refuse_item(keys.path(key),
                  {"it is '", shown_name(kind), "' for layer ", std::to_string(layer), " in ",
                   keys.name(), ", but the layer has ", has ? "" : "no ", what});
    };
    const bool lacks = mixes || mlp || mixture;
    if (lacks != lacks_heads(layer)) refuse(lacks, "heads");
    if (mixes != has_mixer(layer)) refuse(!mixes, mixes ? "state space" : "a state space");
    if (mixture != (alone && has_mixture(layer))) refuse(!mixture, "experts");
  };
  // Jamba: one layer of each period has heads, and one of each period of another length has experts.
  const auto check_period = [&](const char* period_key, const char* offset_key, bool has,
                                const char* what) {
    const auto period = keys.integer(period_key, kMostLayers);
    const auto offset = keys.number(offset_key, 0, kMostLayers);
    if (!period || *period == 0 || !offset) return;
    check_told(keys, period_key, layer,
               layer % static_cast<int>(*period) == static_cast<int>(*offset), has, what);
  };
  check_period("attn_layer_period", "attn_layer_offset", !lacks_heads(layer), "heads");
  if (keys.number("num_experts", 0, kLargestSide).value_or(0) > 1) {
    check_period("expert_layer_period", "expert_layer_offset", has_mixture(layer), "experts");
  }
  for (const char* const list : {"layer_types", "layers_block_type"}) {
    const std::string key = element_key(list, layer);
    if (const auto kind = keys.text(key)) check(key, *kind);
  }
  const char* const blocks = "layers_block_type";  // their number is that of the layers
  const bool more = keys.has(element_key(blocks, layers_));
  if (keys.has(element_key(blocks, 0)) && (more || !keys.has(element_key(blocks, layers_ - 1)))) {
    refuse_item(keys.path(blocks), {"it must have an element for each of the ",
                                    std::to_string(layers_), " layers in ", keys.name()});
  }
  const char* const pattern_key = "hybrid_override_pattern";
  const auto pattern = keys.text(pattern_key);
  if (!pattern) return;
  if (std::ssize(*pattern) != layers_) {
    refuse_item(keys.path(pattern_key),
                {"it must have a letter for each of the ", std::to_string(layers_),
                 " layers, but has ", std::to_string(pattern->size()), " in ", keys.name()});
  }
  check(pattern_key, std::string_view(*pattern).substr(static_cast<std::size_t>(layer), 1));
}

void Transformer::check_skipped(const ConfigKeys& keys) const {
  const std::string key(names().skipped_key);
  if (key.empty()) return;
  eigenscope::check_kind(keys, key, "an array");
  std::set<double> told;
  for (int i = 0; keys.has(element_key(key, i)); ++i) {
    told.insert(keys.number(element_key(key, i), 0, kMostLayers).value_or(kMostLayers));
  }
  for (int layer = 0; layer < layers_; ++layer) {
    const bool skipped = is_skipped(layer);
    if (told.contains(layer) == skipped) continue;
    refuse_item(keys.path(key),
                {keys.has(key) ? "it" : "it is missing, and so", skipped ? " lacks" : " has",
                 " layer ", std::to_string(layer), " in ", keys.name(), ", but the layer has ",
                 skipped ? "" : "no ", "cross-attention"});
  }
}

void Transformer::check_block(const ConfigKeys& keys, int layer) const {
  const std::string block = element_key("block_configs", layer) + ".";
  const auto check = [&](const char* branch, bool has) {
    const std::string key = block + branch + ".no_op";
    if (keys.flag(key).value_or(!has) != has) return;
    refuse_item(keys.path(key),
                {"it is ", has ? "true" : "false", " in ", keys.name(), ", but layer ",
                 std::to_string(layer), " has ", has ? "its " : "no ", branch});
  };
  check("attention", has(attention().query_weight, layer));
  check("ffn", has_mlp(layer));
  for (const char* const other :
       {"attention.replace_with_linear", "attention.unshifted_sink", "attention.num_sink_tokens",
        "attention.window_length", "attention.sparsify", "attention.mamba", "attention.llama4",
        "ffn.replace_with_linear", "ffn.sparsify", "ffn.moe"}) {
    const std::string key = block + other, value = keys.value(key);
    if (value.empty() || value == "null" || value == "false") continue;
    refuse_item(keys.path(key), {"it must be null, false or left out in ", keys.name(),
                                 ": this part is not supported"});
  }
}

bool Transformer::lends_keys(int layer) const {
  return std::find(key_layers_.begin() + layer + 1, key_layers_.end(), layer) != key_layers_.end();
}

bool Transformer::has_lent_keys() const {
  int layer = 0;
  while (layer < layers_ && !lends_keys(layer)) ++layer;
  return layer < layers_;
}

Index Transformer::heads_before(int layer) const {
  const auto& all = layers_with_heads_;
  return heads() * (std::lower_bound(all.begin(), all.end(), layer) - all.begin());
}

}  // namespace eigenscope
