#include "checkpoint/conventions.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string_view>

#include "checkpoint/attention_window.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Tensors = std::map<std::string, TensorInfo>;

/// "attn.c_proj" of "attn.c_proj.weight" or "attn.c_proj.bias".
std::string_view stem(std::string_view name) {
  for (const std::string_view ending :
       {".weight", ".bias", ".gamma", ".beta", "_weight", "_bias", "_blocks"}) {
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  }
  return name;
}

/// One of them is a word of the name of a norm of queries or keys, such as "q_norm" or "query_layernorm".
constexpr std::array<std::string_view, 9> kHeadNormWords{"q",   "k",     "qk",    "qkv",    "query",
                                                         "key", "qnorm", "knorm", "queries"};

/// A pattern behind "{n}."; empty where it has none.
std::string_view behind_layer(std::string_view pattern) {
  constexpr std::string_view kMark = "{n}.";
  const std::size_t mark = pattern.find(kMark);
  return mark == std::string_view::npos ? "" : pattern.substr(mark + kMark.size());
}

/// The names of one layer that a row knows, and where its attention is.
class KnownLayer {
 public:
  KnownLayer(const Family& family, const AttentionNames& names) : others_(names.others) {
    add({names.query_weight, names.key_weight, names.query_gain, names.key_gain,
         names.query_norm_gain, names.key_norm_gain, names.sinks, names.latent.query_weight,
         names.latent.query_gain, names.latent.key_weight, names.latent.key_gain});
    for (const ForwardNames* const forward : {&family.text, &family.picture}) {
      add({forward->value, forward->attention_output, forward->attention_output_norm,
           forward->attention_end_norm, forward->mlp_norm, forward->mlp_output_norm,
           forward->mlp_end_norm, forward->attention_scale, forward->mlp_scale, forward->skip,
           forward->mlp_gate, forward->mlp_up, forward->mlp_down});
      const ExpertNames& experts = forward->experts;
      add({experts.router.weight, experts.router.correction, experts.shared_gate});
      for (const MlpNames& mlp : {experts.each, experts.shared}) add({mlp.gate, mlp.up, mlp.down});
    }
    const std::string_view query = behind_layer(names.query_weight);
    const std::size_t attention = query.find("att");
    block_ =
        query.substr(0, attention == std::string_view::npos ? 0 : query.find('.', attention) + 1);
  }

  bool has(std::string_view name) const {
    return names_.contains(stem(name)) || lists(others_, stem(name)) ||
           names_.contains(stem(of_any_expert(name)));
  }
  /// Whether a name is one of the attention, or beside it, as a norm or a scale of the layer is.
  bool is_near(std::string_view name) const {
    return name.starts_with(block_) || stem(name).find('.') == std::string_view::npos ||
           is_of_attention(name);
  }
  /// Whether a name has a word such as "attn" or "Attention", which is not that of another block ("crossattention").
  static bool is_of_attention(std::string_view name) {
    const auto has = [&](std::string_view word) { return name.find(word) != name.npos; };
    return (has("att") || has("Att")) && !has("cross");
  }
  static bool is_norm(std::string_view name) {
    return name.find("norm") != std::string_view::npos ||
           name.find("Norm") != std::string_view::npos || name.starts_with("ln") ||
           name.find(".ln") != std::string_view::npos;
  }

 private:
  /// With "{e}" for the number of an expert.
  static std::string of_any_expert(std::string_view name) {
    constexpr std::string_view kBefore = "experts.";
    std::string any(name);
    const std::size_t at = name.find(kBefore);
    if (at == std::string_view::npos) return any;
    const std::size_t number = at + kBefore.size();
    return any.replace(number, std::min(any.find('.', number), any.size()) - number, "{e}");
  }
  void add(std::initializer_list<std::string_view> patterns) {
    for (const std::string_view pattern : patterns) {
      if (const std::string_view own = behind_layer(pattern); !own.empty()) {
        names_.insert(stem(own));
      }
    }
  }

  std::set<std::string_view> names_;
  std::string_view others_;
  std::string_view block_;  // such as "self_attn."
};

/// A tensor's name behind the number of its layer, where that is a layer of the stack.
std::string_view within_layer(const StackMatch& stack, std::string_view before,
                              std::string_view name) {
  const auto layer = layer_after(name, before.size());
  const bool own = layer && std::any_of(stack.layers.begin(), stack.layers.end(),
                                        [&](const auto& each) { return each.layer == *layer; });
  return own ? name.substr(name.find('.', before.size()) + 1) : std::string_view();
}

enum class Effect { heads, gains, turns, scale };

struct Guard {
  std::string_view key;  ///< "*" stands for anything, at its begin or end
  Effect effect;
  /// Values that change nothing, between spaces; d_h: the head width; rotary: true where the row turns and else
  /// false; share: 1 where it turns and else 0; gated: true where the row's queries have gates and else false; normed:
  /// true where the file has norms of queries and keys that the row knows and else false; shifted: true where the row
  /// stores a gain g as g - 1 and else false.
  std::string_view neutral;
};

constexpr std::string_view kOn = " true ", kOff = " false 0 ", kOne = " 1 ", kZero = " 0 false ",
                           kNone = "";
constexpr std::string_view kRotary = " rotary ", kShare = " share ", kGated = " gated ",
                           kNormed = " normed ", kShifted = " shifted ";

constexpr std::array kGuards{
    Guard{"*output_gate", Effect::heads, kGated},
    Guard{"*attn_gate*", Effect::heads, kOff},
    Guard{"*gated_att*", Effect::heads, kOff},
    Guard{"attention_type", Effect::heads, " softmax full full_attention original_full "},
    Guard{"num_kv_shared_layers", Effect::heads, kOff},
    Guard{"use_mla", Effect::heads, kOff},
    Guard{"linear_attn_config", Effect::heads, kNone},
    Guard{"attn_type_list", Effect::heads, kOne},
    Guard{"inner_group_num", Effect::heads, kOne},
    Guard{"*gemma_norm", Effect::gains, kShifted},
    Guard{"*zero_centered*", Effect::gains, kShifted},
    Guard{"*layernorm_1p", Effect::gains, kShifted},
    Guard{"*unit_offset*", Effect::gains, kShifted},
    Guard{"qk_norm", Effect::gains, kNormed},
    Guard{"qk_ln", Effect::gains, kNormed},
    Guard{"use_qk_norm", Effect::gains, kNormed},
    Guard{"use_query_key_norm", Effect::gains, kNormed},
    Guard{"qk_layernorm", Effect::gains, kNormed},
    Guard{"do_layer_norm_before", Effect::gains, kOn},
    Guard{"apply_residual_connection_post_layernorm", Effect::gains, kOff},
    Guard{"rotary*_dim", Effect::turns, " d_h "},
    Guard{"rotary*scale_base", Effect::turns, kNone},
    Guard{"rotary_pct", Effect::turns, kShare},
    Guard{"rotary_percent*", Effect::turns, kShare},
    Guard{"rotary_emb_fraction", Effect::turns, kShare},
    Guard{"partial_rotary_factors", Effect::turns, kShare},
    Guard{"rope_pct*", Effect::turns, kShare},
    Guard{"rope_percent*", Effect::turns, kShare},
    Guard{"rope_ratio", Effect::turns, kOne},
    Guard{"no_rope*", Effect::turns, kOne},
    Guard{"*nope_layer*", Effect::turns, " false "},
    Guard{"*use_nope*", Effect::turns, kOff},
    Guard{"rope_interleave*", Effect::turns, kOff},
    Guard{"rotary*interleave*", Effect::turns, kOff},
    Guard{"*alibi", Effect::turns, kOff},
    Guard{"use_rope", Effect::turns, kRotary},
    Guard{"use_rotary*", Effect::turns, kRotary},
    Guard{"rotary", Effect::turns, kRotary},
    Guard{"layer_rope_theta", Effect::turns, kNone},
    Guard{"rotary_base", Effect::turns, kNone},
    Guard{"rotary_emb_base", Effect::turns, kNone},
    Guard{"rope", Effect::turns, kRotary},
    Guard{"use_pos_enc", Effect::turns, kOn},
    Guard{"*multiplier*", Effect::scale, kOne},
    Guard{"scale_attn_weights", Effect::scale, kOn},
    Guard{"scale_attn_by_inverse_layer_idx", Effect::scale, kOff},
    Guard{"attn_scal*", Effect::scale, kOne},
    Guard{"attention_scal*", Effect::scale, kOne},
    Guard{"logn_attention_scale", Effect::scale, kOff},
    Guard{"qk_scale*", Effect::scale, kOne},
    Guard{"softmax_scale*", Effect::scale, kNone},
    Guard{"query_pre_attn_scalar", Effect::scale, " d_h "},
    Guard{"*attn_temperature*", Effect::scale, kOff},
    Guard{"floor_scale", Effect::scale, " 8192 "},  // no passage is as long
    Guard{"query_scale*", Effect::scale, kOne},
    Guard{"clip_qkv", Effect::scale, kNone},
    Guard{"*softcap*", Effect::scale, kNone},
};

/// Multipliers of something else than queries, keys and their logits have one of these words.
constexpr std::array<std::string_view, 11> kOtherMultipliers{
    "embedding", "residual", "lm_head", "mlp",    "ffn",  "ff_",
    "ssm",       "dim",      "out",     "logits", "depth"};

/// So do bounds of other logits, those of the next token and of a router.
constexpr std::array<std::string_view, 5> kOtherBounds{"final", "output", "lm_head", "router",
                                                       "vocab"};

constexpr std::string_view kPositionKeys =
    " position_embedding_type position_encoding position_encoding_type ";

bool fits(std::string_view pattern, std::string_view key) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == key;
  if (star == 0) {
    const std::string_view rest = pattern.substr(1);
    if (rest.ends_with('*')) {
      return key.find(rest.substr(0, rest.size() - 1)) != std::string_view::npos;
    }
    return key.ends_with(rest);
  }
  const std::string_view before = pattern.substr(0, star), after = pattern.substr(star + 1);
  if (!key.starts_with(before)) return false;
  key.remove_prefix(before.size());
  return after.empty() || fits("*" + std::string(after), key);
}

class KeyGuards {
 public:
  KeyGuards(const ConfigKeys& keys, const GuardedStack& stack, const Claims& claims)
      : keys_(keys), stack_(stack), family_(stack.family), claims_(claims) {}

  void check() const {
    if (!keys_) return;
    check_read();
    for (const char* const list : {"layer_types", "layers_block_type"}) check_layer_types(list);
    check_layer_keys();
    for (const std::string_view list :
         {family_.rotary.used, family_.rotary.bases, family_.rotary.shares}) {
      check_length(list);
    }
    check_length(family_.window.list);
    for (const std::string& key : keys_.names()) {
      if (lists(kPositionKeys, key)) check_positions(key);
      for (const Guard& guard : kGuards) {
        if (!fits(guard.key, key) || !is_claimed(guard.effect) || is_known(key)) continue;
        const std::string_view neutral = neutral_of(guard);
        if (!is_neutral(key, neutral)) refuse(key, neutral);
      }
    }
  }

 private:
  bool is_claimed(Effect effect) const {
    switch (effect) {
      case Effect::heads:
        return true;
      case Effect::gains:
        return claims_.gains;
      case Effect::turns:
        return claims_.turns;
      case Effect::scale:
        return claims_.scale;
    }
    return true;
  }

  bool turns() const {
    const auto& [key, value] = family_.rotary.chosen;
    return stack_.stack.names->rotary != RotaryPairs::kNone &&
           (key.empty() || keys_.value(key) == value);
  }

  std::string_view neutral_of(const Guard& guard) const {
    if (guard.neutral == kRotary) return turns() ? kOn : kOff;
    if (guard.neutral == kShare) return turns() ? kOne : kZero;
    if (guard.neutral == kGated) return family_.gated() ? kOn : kOff;
    if (guard.neutral == kShifted) return family_.gain_plus_one ? kOn : kOff;
    if (guard.neutral == kNormed) return has_norms() ? kOn : kOff;
    return guard.neutral;
  }

  bool has_norms() const {
    return std::all_of(stack_.stack.layers.begin(), stack_.stack.layers.end(),
                       [](const LayerTensors& layer) { return !layer.query.norm_gain.empty(); });
  }

  bool is_known(const std::string& key) const {
    const RotaryKeys& rotary = family_.rotary;
    for (const std::string_view own :
         {rotary.width, rotary.share, rotary.used, rotary.interval, rotary.chosen.key, rotary.bases,
          rotary.shares, rotary.interleave, rotary.base, family_.shared_keys_key, family_.scale_key,
          family_.query_scalar_key, family_.input_factor_key, family_.key_factor_key,
          family_.pre_norm.key, family_.text.attention_cap_key}) {
      if (key == own) return true;
    }
    const auto names = [&](std::string_view word) { return key.find(word) != std::string::npos; };
    if (names("multiplier")) {
      if (std::any_of(kOtherMultipliers.begin(), kOtherMultipliers.end(), names)) return true;
    }
    if (names("softcap") && std::any_of(kOtherBounds.begin(), kOtherBounds.end(), names)) {
      return true;
    }
    return lists(family_.neutral_keys, key);
  }

  bool is_neutral(const std::string& key, std::string_view neutral) const {
    const std::string value = keys_.value(key);
    if (value == "an array") {
      for (int i = 0; keys_.has(element_key(key, i)); ++i) {
        if (!is_neutral(element_key(key, i), neutral)) return false;
      }
      return true;
    }
    if (lists(neutral, "d_h")) return number(value) == static_cast<double>(stack_.head_width);
    if (lists(neutral, value)) return true;
    const auto given = number(value);
    if (!given) return false;
    // Without streams, which would come into the WASM module.
    for (std::size_t at = 0; (at = neutral.find_first_not_of(' ', at)) != neutral.npos;) {
      const std::size_t end = std::min(neutral.find(' ', at), neutral.size());
      if (number(std::string(neutral.substr(at, end - at))) == given) return true;
      at = end;
    }
    return false;
  }

  static std::optional<double> number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return end != text.c_str() && *end == '\0' ? std::optional(value) : std::nullopt;
  }

  [[noreturn]] void refuse(const std::string& key, std::string_view neutral) const {
    std::string must;
    if (lists(neutral, "d_h")) {
      must = std::to_string(stack_.head_width);
    } else if (!neutral.empty()) {
      must = neutral.substr(1, neutral.find(' ', 1) - 1);
    }
    const std::string value = shown_name(keys_.value(key));
    throw FormatError(keys_.path(key), "it must be " + (must.empty() ? std::string("null") : must) +
                                           " or left out for the family " +
                                           std::string(family_.name) +
                                           ", which does not implement another value: found " +
                                           value + " in " + keys_.name());
  }

  void check_read() const {
    const auto unread = keys_.text(std::string(kUnreadKeys) + ".0");
    if (!unread) return;
    throw FormatError(*unread, "it must be 0, false or left out in " + keys_.name() +
                                   " for the family " + std::string(family_.name) +
                                   ", which does not implement another value");
  }

  /// Refuses a list with another number of elements than there are layers, with or without those for multi-token
  /// prediction, but for one without any.
  void check_length(std::string_view list) const {
    const std::string key(list);
    std::uint64_t length = 0;
    while (keys_.has(element_key(key, length))) ++length;
    if (length == 0) return;
    const std::string_view count_key = stack_.stack.names->layer_count_key;
    const auto count = keys_.integer(count_key, kMostLayers);
    const auto last = static_cast<std::uint64_t>(stack_.stack.layers.back().layer);
    const auto more = keys_.integer("num_nextn_predict_layers", kMostLayers).value_or(0);
    if (count ? length == *count || length == *count + more : length > last) return;
    refuse_item(keys_.path(key),
                {"it must have one element for each layer, ",
                 (count ? std::to_string(*count) + " as '" + keys_.path(count_key) + "' says"
                        : "at least " + std::to_string(last + 1)),
                 ", but has ", std::to_string(length), " in ", keys_.name()});
  }

  /// Refuses layers that the model does not have, and keys of a layer that are not read, unless they have the value
  /// that they have for all.
  void check_layer_keys() const {
    check_kind(keys_, kLayerKeys, "an object");
    const std::string before = std::string(kLayerKeys) + ".";
    const std::uint64_t count =
        keys_.integer(stack_.stack.names->layer_count_key, kMostLayers)
            .value_or(static_cast<std::uint64_t>(stack_.stack.layers.back().layer) + 1);
    for (const std::string& number : keys_.in({before}).names()) {
      const auto layer = layer_after(number + ".", 0);
      const std::string path = keys_.path(before + number);
      if (!layer || std::to_string(*layer) != number ||
          static_cast<std::uint64_t>(*layer) >= count) {
        refuse_item(path, {"it must have the number of a layer, from 0 to ",
                           std::to_string(count - 1), ", in ", keys_.name()});
      }
      check_kind(keys_, before + number, "an object");
      const ConfigKeys own = keys_.in({before + number + "."});
      for (const std::string& key : own.names()) {
        const AttentionNames& names = *stack_.stack.names;
        const bool is_read = key == names.head_count_key || key == names.key_head_count_key ||
                             key == family_.head_width_key || key.ends_with("intermediate_size");
        const std::string value = own.value(key);
        const bool is_whole = value == "an array" || value == "an object";
        if (is_read || (value == keys_.value(key) && !is_whole)) continue;
        refuse_item(own.path(key), {"it must be left out of ", keys_.name(),
                                    ", as it is not read for one layer alone"});
      }
    }
  }

  /// Layers whose attention is not a softmax of W_QK have other types.
  void check_layer_types(const std::string& list) const {
    constexpr std::string_view kSoftmax =
        " full_attention sliding_attention chunked_attention attention minimax_m3_sparse "
        "compressed_sparse_attention heavily_compressed_attention ";
    const std::string all = keys_.value(list);
    if (!all.empty() && all != "an array") {
      throw FormatError(keys_.path(list),
                        "it must be an array in " + keys_.name() + ", but is " + shown_name(all));
    }
    check_length(list);
    for (const LayerTensors& layer : stack_.stack.layers) {
      const std::string key = element_key(list, layer.layer);
      const auto type = keys_.text(key);
      if (!type || lists(kSoftmax, *type)) continue;
      throw FormatError(keys_.path(key),
                        "it must be full_attention or sliding_attention for a layer with queries "
                        "and keys: found '" +
                            shown_name(*type) + "' in " + keys_.name());
    }
  }

  void check_positions(const std::string& key) const {
    if (!claims_.turns || is_known(key)) return;
    const std::string value = keys_.value(key);
    const bool rotary = lists(" rope rotary rotary_half ", value);
    if (rotary == turns() && value != "alibi") return;
    throw FormatError(keys_.path(key), "it must " + std::string(turns() ? "" : "not ") +
                                           "be rotary" + (turns() ? "" : " or alibi") +
                                           " for the family " + std::string(family_.name) +
                                           ": found '" + shown_name(value) + "' in " +
                                           keys_.name());
  }

  const ConfigKeys& keys_;
  const GuardedStack& stack_;
  const Family& family_;
  const Claims& claims_;
};

/// Adds the adapters of queries and keys, whatever the prefix before the names of their layers.
void add_adapters(const FamilyMatch& match, const Tensors& tensors, std::set<std::string>& found) {
  for (const auto& [name, info] : tensors) {
    if (name.find("lora_") == std::string::npos) continue;
    const auto adapts = [&, &tensor = name](const std::string& weight) {
      return tensor.find(stem(weight).substr(match.prefix.size())) != std::string::npos;
    };
    for (const StackMatch& stack : match.stacks) {
      for (const LayerTensors& layer : stack.layers) {
        if (adapts(layer.query.weight) || adapts(layer.key.weight)) found.insert(name);
      }
    }
  }
}

/// Whether a tensor is one of the modules of queries and keys, such as the order of their inputs.
bool is_of_weights(const FamilyMatch& match, std::string_view name) {
  const auto is_of = [&](const std::string& weight) {
    return weight.ends_with(".weight") && name.starts_with(stem(weight)) &&
           name.substr(stem(weight).size()).starts_with('.');
  };
  return std::any_of(match.stacks.begin(), match.stacks.end(), [&](const StackMatch& stack) {
    return std::any_of(stack.layers.begin(), stack.layers.end(), [&](const LayerTensors& layer) {
      return is_of(layer.query.weight) || is_of(layer.key.weight);
    });
  });
}

}  // namespace

std::vector<std::string> unknown_tensors(const FamilyMatch& match, const Tensors& tensors,
                                         LayerPart part) {
  std::set<std::string> found, known;
  for (const StackMatch& stack : match.stacks) {
    const KnownLayer layer(*match.family, *stack.names);
    const std::string_view query = stack.names->query_weight;
    const std::string before = match.prefix + std::string(query.substr(0, query.find("{n}")));
    for (auto at = tensors.lower_bound(before);
         at != tensors.end() && at->first.starts_with(before); ++at) {
      const std::string_view name = within_layer(stack, before, at->first);
      if (name.empty()) continue;
      if (layer.has(name)) {
        known.insert(at->first);
      } else if (part == LayerPart::whole || layer.is_near(name)) {
        found.insert(at->first);
      }
    }
  }
  // Beside the layers, such as a scale of all of them.
  for (auto at = tensors.lower_bound(match.prefix);
       at != tensors.end() && at->first.starts_with(match.prefix) && !match.family->exact; ++at) {
    const std::string_view name = stem(std::string_view(at->first).substr(match.prefix.size()));
    const bool mask = name.find("mask") != std::string_view::npos;
    if (name.find('.') == std::string_view::npos && KnownLayer::is_of_attention(name) && !mask) {
      found.insert(at->first);
    }
  }
  add_adapters(match, tensors, found);
  // Stacks of one layer, as self and cross attention, know each other's.
  std::vector<std::string> names;
  std::set_difference(found.begin(), found.end(), known.begin(), known.end(),
                      std::back_inserter(names));
  return names;
}

bool has_unknown_head_norm(const FamilyMatch& match, const Tensors& tensors) {
  const std::vector<std::string> names = unknown_tensors(match, tensors);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    if (!KnownLayer::is_norm(name)) return false;
    std::string words(name);
    std::replace_if(
        words.begin(), words.end(), [](char c) { return c == '.' || c == '_'; }, ' ');
    words = " " + words + " ";
    return std::any_of(kHeadNormWords.begin(), kHeadNormWords.end(),
                       [&](std::string_view word) { return lists(words, word); });
  });
}

void check_tensors(const FamilyMatch& match, const Tensors& tensors, const Claims& claims,
                   LayerPart part) {
  for (const std::string& name : unknown_tensors(match, tensors, part)) {
    const bool norm = KnownLayer::is_norm(name), adapter = name.find("lora_") != std::string::npos;
    if (norm && !claims.gains) continue;
    // Whoever maps the names answers for the others, but for what changes the weights themselves.
    if (match.family->exact && !adapter && !is_of_weights(match, name)) continue;
    std::string message = "the family " + std::string(match.family->name) +
                          " must know every tensor of a layer that can change its " +
                          (part == LayerPart::whole ? "tokens" : "queries and keys") +
                          ", but does not know this one";
    if (adapter) {
      message += "; merge the adapter into the weights";
    } else if (norm && part == LayerPart::attention) {
      message += "; without folded gains all norms are left out";
    }
    refuse_item(name, message);
  }
}

bool is_pre_norm(const Family& family, const ConfigKeys& keys) {
  return is_usual(keys, family.pre_norm.key, family.pre_norm.value);
}

void check_norms(const FamilyMatch& match, const StackMatch& stack, const ConfigKeys& keys) {
  const Family& family = *match.family;
  const AttentionNames& names = *stack.names;
  auto first = stack.layers.begin();
  const auto end = stack.layers.end();
  if (family.text.bare_first && first->layer == 0) ++first;
  const auto check = [&](std::string_view pattern, ProjectionTensors LayerTensors::*projection,
                         std::string ProjectionTensors::*gain, bool always) {
    if (pattern.empty()) return;
    const auto is_bare = [&](const LayerTensors& layer) {
      return (layer.*projection.*gain).empty();
    };
    const auto bare = std::find_if(first, end, is_bare);
    const bool none = std::all_of(first, end, is_bare);
    if (bare == end || (none && !always)) return;
    refuse_item(full_name(match.prefix, pattern, bare->layer),
                none ? "it is missing, though models of the family " + std::string(family.name) +
                           " have it; without folded gains all norms are left out"
                     : "it is missing, though other layers have it");
  };
  const auto query = &LayerTensors::query, key = &LayerTensors::key;
  const bool known = match.unknown.empty() && !family.exact;
  // A file that was cut for one of several stacks may have no norms of the others.
  const bool alone = names.stack.empty();
  check(names.query_gain, query, &ProjectionTensors::gain,
        known && alone && is_pre_norm(family, keys));
  check(names.latent.query_gain, query, &ProjectionTensors::latent_gain, true);
  check(names.latent.key_gain, key, &ProjectionTensors::latent_gain, true);
  const auto is_normed = [](const LayerTensors& layer) {
    return !layer.query.norm_gain.empty() || !layer.key.norm_gain.empty();
  };
  const bool normed = (known && names.always_head_normed) || std::any_of(first, end, is_normed);
  check(names.query_norm_gain, query, &ProjectionTensors::norm_gain, normed);
  check(names.key_norm_gain, key, &ProjectionTensors::norm_gain, normed);
}

void check_keys(const ConfigKeys& keys, const GuardedStack& stack, const Claims& claims) {
  KeyGuards(keys, stack, claims).check();
}

}  // namespace eigenscope
