#include "checkpoint/key_guards.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>

#include "checkpoint/attention_window.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

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
    Guard{"prenorm", Effect::gains, kOff},
    Guard{"apply_residual_connection_post_layernorm", Effect::gains, kOff},
    Guard{"rotary*_dim", Effect::turns, " d_h "},
    Guard{"rotary*scale_base", Effect::turns, kNone},
    Guard{"rotary_scaling_factor", Effect::turns, kOne},
    Guard{"rotary_pct", Effect::turns, kShare},
    Guard{"rotary_percent*", Effect::turns, kShare},
    Guard{"rotary_emb_fraction", Effect::turns, kShare},
    Guard{"partial_rotary_factors", Effect::turns, kShare},
    Guard{"rope_pct*", Effect::turns, kShare},
    Guard{"rope_percent*", Effect::turns, kShare},
    Guard{"rope_ratio", Effect::turns, kOne},
    Guard{"yarn", Effect::turns, kNone},
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

/// Soft caps of other logits, such as those of the next token or a router, have one of these words.
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
    check_norm_switch();
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
    for (const std::string_view known :
         {rotary.width, rotary.share, rotary.used, rotary.interval, rotary.chosen.key, rotary.bases,
          rotary.shares, rotary.interleave, rotary.base, family_.shared_keys_key, family_.scale_key,
          family_.query_scalar_key, family_.input_factor_key, family_.key_factor_key,
          family_.pre_norm.key, family_.text.attention_cap_key}) {
      if (key == known) return true;
    }
    if (stack_.part == LayerPart::whole && key == family_.text.projection_bound_key) return true;
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

  /// Refuses norms of queries and keys that the original does not make, as their switch is off where it is left out.
  void check_norm_switch() const {
    const auto& [key, types] = stack_.stack.names->norm_switch;
    if (!claims_.gains || key.empty() || keys_.flag(key) || !has_norms() ||
        !lists(types, keys_.text("model_type").value_or(""))) {
      return;
    }
    refuse_item(keys_.path(key),
                {"it is missing, and so false, in ", keys_.name(), ", but the file has '",
                 shown_name(stack_.stack.layers.front().query.norm_gain), "'"});
  }

  /// Refuses a non-empty list whose length is neither the number of layers nor that plus the layers for multi-token
  /// prediction.
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

  /// Refuses layers that the model does not have, and keys of a layer that are not read and differ from the value for
  /// all layers.
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
      const ConfigKeys layer_keys = keys_.in({before + number + "."});
      for (const std::string& key : layer_keys.names()) {
        const AttentionNames& names = *stack_.stack.names;
        const bool is_read = key == names.head_count_key || key == names.key_head_count_key ||
                             key == family_.head_width_key || key.ends_with("intermediate_size");
        const std::string value = layer_keys.value(key);
        const bool is_whole = value == "an array" || value == "an object";
        if (is_read || (value == keys_.value(key) && !is_whole)) continue;
        refuse_item(layer_keys.path(key), {"it must be left out of ", keys_.name(),
                                           ", as it is not read for one layer alone"});
      }
    }
  }

  /// Layers whose attention is not a softmax of W_QK have other types.
  void check_layer_types(const std::string& list) const {
    constexpr std::string_view kSoftmax =
        " full_attention sliding_attention chunked_attention attention minimax_m3_sparse "
        "deepseek_sparse_attention indexed_attention compressed_sparse_attention "
        "heavily_compressed_attention ";
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
    const bool neighbours = stack_.stack.names->rotary == RotaryPairs::kNeighbours;
    const bool rotary =
        lists(" rope rotary rotary_half ", value) || (neighbours && value == "rope_gptj");
    const bool neutral = lists(family_.neutral_keys, key + "=" + value);
    if (neutral || (rotary == turns() && value != "alibi")) return;
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

}  // namespace

void check_keys(const ConfigKeys& keys, const GuardedStack& stack, const Claims& claims) {
  KeyGuards(keys, stack, claims).check();
}

}  // namespace eigenscope
