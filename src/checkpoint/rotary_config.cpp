#include "checkpoint/rotary_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <string_view>

#include "checkpoint/attention_window.h"
#include "io/json_events.h"
#include "support/choice.h"
#include "support/error.h"
#include "support/parameter.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr double kLargestBase = 1e12;
constexpr double kLargestFactor = 1e6;
constexpr double kLargestLength = 1e9;
constexpr std::string_view kBase = "rope_theta";  // where newer files keep it, whatever the family
constexpr std::string_view kShare = "partial_rotary_factor";

/// The inputs of a scaling of the rotary angles.
struct Scaling {
  const ConfigKeys& keys;   ///< of the scaling
  const ConfigKeys& model;  ///< of the model
  std::string_view type;
  double text;  ///< tokens that a text has at least
  Index head_width;
  const RotaryKeys& family;

  double needed(std::string_view key, double least, double most) const {
    if (const auto value = keys.number(key, least, most)) return *value;
    throw FormatError(keys.path(key), "it is missing in " + keys.name() +
                                          ", though the type of the scaling is '" +
                                          std::string(type) + "'");
  }
  double factor() const { return needed("factor", 1, kLargestFactor); }
  /// Tokens of the first training.
  double length() const {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    if (const auto value = keys.number(kKey, 2, kLargestLength)) return *value;
    if (const auto value = model.number(kKey, 2, kLargestLength)) return *value;
    if (const auto value = model.number("max_position_embeddings", 2, kLargestLength)) {
      return *value;
    }
    return needed(kKey, 2, kLargestLength);
  }
  /// The context length over that of the first training, at least 1.
  double stretch() const {
    if (keys.has("factor")) return factor();
    const auto now = model.number("max_position_embeddings", 1, kLargestLength);
    return now ? std::max(1.0, *now / length()) : factor();
  }
  /// Queries and keys are both multiplied by the attention factor.
  double logit_factor(double usual) const {
    const double attention = keys.number("attention_factor", 0, kLargestFactor)
                                 .value_or(family.angles_alone ? 1 : usual);
    return attention * attention;
  }
};

template <class Scale>
void scale_angles(Rotary& rotary, Scale scale) {
  for (Index pair = 0; pair < rotary.turned / 2; ++pair) {
    rotary.angle_scale.push_back(scale(pair));
  }
}

void scale_none(Rotary&, const Scaling&) {}

/// Divides the angle of the last pair by `factor`, and those before it by a power of it: the share of the pair, counted
/// from `first`, to the power `mixed`.
void scale_base(Rotary& rotary, double factor, double first, double mixed) {
  const double last = static_cast<double>(rotary.turned / 2) - 1 + first;
  scale_angles(rotary, [&](Index pair) {
    return std::pow(factor, -std::pow((static_cast<double>(pair) + first) / last, mixed));
  });
}

/// Hunyuan multiplies the base by alpha^(d_h/(d_h - 2)); without alpha, angles change only in texts beyond the length
/// of the first training.
void scale_dynamic(Rotary& rotary, const Scaling& scaling) {
  const double alpha = scaling.keys.number("alpha", 0, kLargestFactor).value_or(0);
  if (alpha > 0 && rotary.turned > 2) scale_base(rotary, alpha, 0, 1);
}

void scale_linear(Rotary& rotary, const Scaling& scaling) {
  scale_angles(rotary, [factor = scaling.factor()](Index) { return 1 / factor; });
}

/// Pairs that turn less than `low_freq_factor` times in the first training's length are slowed down,
/// those that turn more than `high_freq_factor` times are not.
void scale_llama3(Rotary& rotary, const Scaling& scaling) {
  const double factor = scaling.factor(), length = scaling.length();
  const double low = scaling.needed("low_freq_factor", 0, kLargestFactor);
  const double high = scaling.needed("high_freq_factor", 0, kLargestFactor);
  if (!(low <= high)) {
    throw FormatError(scaling.keys.path("high_freq_factor"),
                      "it must not be below 'low_freq_factor' in " + scaling.keys.name());
  }
  scale_angles(rotary, [&](Index pair) {
    const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rotary.turned);
    const double turns = length * std::pow(rotary.base, exponent) / (2 * std::numbers::pi);
    const double kept = low == high ? (turns > low ? 1.0 : 0.0)  // as Llama 4 Scout has it
                                    : std::clamp((turns - low) / (high - low), 0.0, 1.0);
    return kept + (1 - kept) / factor;
  });
}

double yarn_attention(const Scaling& scaling, double stretch) {
  const auto factor = [&](double weight) { return 0.1 * weight * std::log(stretch) + 1; };
  const auto part = scaling.keys.number("mscale", 0, kLargestFactor);
  const auto all = scaling.keys.number("mscale_all_dim", 0, kLargestFactor);
  // The original takes a factor 0 for one that is left out.
  const bool both = part.value_or(0) > 0 && all.value_or(0) > 0;
  return both ? factor(*part) / factor(*all) : factor(1);
}

/// A ramp over the pairs, between those that turn `beta_fast` times in the first training's length and
/// those that turn `beta_slow` times.
void scale_yarn(Rotary& rotary, const Scaling& scaling) {
  const double stretch = scaling.stretch(), length = scaling.length();
  rotary.logit_factor = scaling.logit_factor(yarn_attention(scaling, stretch));
  if (rotary.base == 1) return scale_angles(rotary, [&](Index) { return 1 / stretch; });
  const double last = std::max(0.0, static_cast<double>(rotary.turned) - 1);
  const auto turns_of = [&](std::string_view key, double usual) {
    return scaling.keys.number(key, 1e-6, kLargestFactor).value_or(usual);
  };
  const double most = turns_of("beta_fast", 32), least = turns_of("beta_slow", 1);
  if (!(most >= least)) {
    throw FormatError(scaling.keys.path("beta_fast"),
                      "it must not be below 'beta_slow' in " + scaling.keys.name());
  }
  const auto pair_turning = [&](double turns) {
    return static_cast<double>(rotary.turned) * std::log(length / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rotary.base));
  };
  const double fast = pair_turning(most), slow = pair_turning(least);
  const bool whole = !scaling.keys.is_off("truncate");
  const double first = std::clamp(whole ? std::floor(fast) : fast, 0.0, last);
  const double end = std::clamp(whole ? std::ceil(slow) : slow, 0.0, last);
  scale_angles(rotary, [&](Index pair) {
    const double width = std::max(end - first, 1e-3);  // a step where they are the same pair
    const double slowed = std::clamp((static_cast<double>(pair) - first) / width, 0.0, 1.0);
    return 1 - slowed + slowed / stretch;
  });
}

void scale_longrope(Rotary& rotary, const Scaling& scaling) {
  const std::string reach = scaling.text > scaling.length() ? "long_" : "short_";
  if (scaling.family.states_mscale) {
    const double states = scaling.needed(reach + "mscale", 1e-6, kLargestFactor);
    rotary.logit_factor = states * states;
  } else {
    const double usual = std::sqrt(1 + std::log(scaling.stretch()) / std::log(scaling.length()));
    rotary.logit_factor = scaling.logit_factor(usual);
  }
  const std::string factors = reach + "factor.";
  scale_angles(rotary, [&](Index pair) {
    return 1 / scaling.needed(factors + std::to_string(pair), 1e-6, kLargestFactor);
  });
  const std::string next = factors + std::to_string(rotary.turned / 2);
  if (scaling.keys.has(next)) {
    throw FormatError(scaling.keys.path(next), "it must have one factor for each of the " +
                                                   std::to_string(rotary.turned / 2) +
                                                   " coordinate pairs of a head, but " +
                                                   scaling.keys.name() + " has more");
  }
}

void scale_proportional(Rotary& rotary, const Scaling& scaling) {
  const Index kept = rotary.turned / 2;
  const double slowed = 1 / scaling.keys.number("factor", 1, kLargestFactor).value_or(1);
  rotary.turned = 2 * (scaling.head_width / 2);
  scale_angles(rotary, [&](Index pair) { return pair < kept ? slowed : 0; });
}

struct ScalingType : Choice {
  void (*apply)(Rotary&, const Scaling&);
};
constexpr std::array kScalingTypes{ScalingType{{"default"}, scale_none},
                                   ScalingType{{"mrope"}, scale_none},
                                   ScalingType{{"dynamic"}, scale_dynamic},
                                   ScalingType{{"linear"}, scale_linear},
                                   ScalingType{{"llama3"}, scale_llama3},
                                   ScalingType{{"yarn"}, scale_yarn},
                                   ScalingType{{"longrope"}, scale_longrope},
                                   ScalingType{{"su"}, scale_longrope},
                                   ScalingType{{"proportional"}, scale_proportional}};

/// The shortest text that has such offsets.
double tokens_for(const RotaryOffset& at) {
  return at.average > 0 ? static_cast<double>(at.average) : at.offset + 1;
}

void scale(Rotary& rotary, const ConfigKeys& keys, const ConfigKeys& model,
           const RotaryKeys& family, Index head_width, const RotaryOffset& at, RotaryUse use) {
  const std::string_view key = keys.has("rope_type") ? "rope_type" : "type";
  const bool matters = family.unwritten == UnwrittenScaling::angles_and_logits ||
                       (family.unwritten == UnwrittenScaling::angles && !at.is_none() &&
                        !model.has("rope_parameters"));
  if (matters && !keys.has(key) && !model.is_null("rope_scaling")) {
    refuse_item("rope_scaling", {"it must be given in ", keys.name(),
                                 ", or be null, as models of this type have one without it"});
  }
  if (keys.has("factor") && !keys.has(key)) {
    refuse_item(keys.path("rope_type"),
                {"it must be given beside '", keys.path("factor"), "' in ", keys.name()});
  }
  const std::string type = keys.text(key).value_or("default");
  // Ministral 3 scales queries from the end of the first training on.
  const auto first = keys.number("original_max_position_embeddings", 2, kLargestLength);
  if (keys.number("llama_4_scaling_beta", -1e6, 1e6).value_or(0) != 0 &&
      first.value_or(kBeyondPassages) < kBeyondPassages) {
    refuse_item(keys.path("llama_4_scaling_beta"),
                {"it must be 0 or left out in ", keys.name(), " where the first training had ",
                 shown(*first), " tokens, not at least ", shown(kBeyondPassages)});
  }
  const auto scaling = [&](std::string_view name) {
    return Scaling{keys, model, name, tokens_for(at), head_width, family};
  };
  // The base times the factor, angles over factor^(2/d_h): Alibaba's new-impl, modeling.py, formulas 6 and 10 to 13.
  if (type == family.scales_base) {
    const double mixed = keys.number("mixed_b", 1e-6, kLargestFactor).value_or(1);
    return scale_base(rotary, scaling(type).factor(), 1, mixed);
  }
  for (const ScalingType& each : kScalingTypes) {
    if (each.name == type) return each.apply(rotary, scaling(each.name));
  }
  if (at.is_none()) return;
  const std::string types = Choices(kScalingTypes).joined(), quoted = "'" + shown_name(type) + "'";
  if (use == RotaryUse::text) {
    throw FormatError(keys.path(key),
                      "it must be one of " + types + ": found " + quoted + " in " + keys.name());
  }
  throw InvalidArgument("offset", "be 0 unless the rotary scaling is one of " + types,
                        "'" + keys.path(key) + "' in " + keys.name() + " is " + quoted);
}

/// Refuses objects in "rope_scaling" and "rope_parameters" that are not read, such as those for kinds of layers that
/// the model does not have.
void check_objects(const ConfigKeys& keys, const RotaryKeys& family, std::string_view kind) {
  const bool called = !family.object.empty();
  for (const std::string_view object : {"rope_scaling", "rope_parameters"}) {
    check_kind(keys, object, "an object");
    const ConfigKeys inner = keys.in({std::string(object) + "."});
    for (const std::string& name : inner.names()) {
      const bool of_kind = object == "rope_parameters" &&
                           (called ? name == family.local_object || name == family.object
                                   : name == kFullAttention || name == kSlidingAttention);
      if (inner.value(name) != "an object" || (of_kind && !kind.empty())) continue;
      refuse_item(inner.path(name),
                  {"it must be left out of ", inner.name(),
                   (of_kind ? ", which names no layers of this kind" : ", as it is not read")});
    }
  }
}

/// Refuses a base in the scaling that differs from the model's: programs disagree about which of them holds.
void check_base(const ConfigKeys& keys, double base) {
  const ConfigKeys scaling = keys.in({"rope_scaling."});
  const auto other = scaling.number(kBase, 1, kLargestBase);
  if (!other || *other == base) return;
  refuse_item(scaling.path(kBase),
              {"it must be left out or ", shown(base), ", the base of the model, but is ",
               shown(*other), " in ", keys.name()});
}

/// The keys of the scaling that holds in all layers.
ConfigKeys scaling_keys(const ConfigKeys& keys) {
  return keys.in({"rope_scaling.", "rope_parameters."});
}

/// Whether a layer turns its queries and keys.
bool is_used(const ConfigKeys& keys, const RotaryKeys& family, int layer) {
  const auto& [chosen, value] = family.chosen;
  const std::string told = keys.has(chosen) ? value_like(keys, chosen, value) : std::string();
  if (!chosen.empty() && told != value) {
    if (family.unchosen.empty() || lists(family.unchosen, told)) return false;
    refuse_item(keys.path(chosen), {"it must be ", value, " or", family.unchosen, "in config.json",
                                    told.empty() ? "" : ", but is " + told});
  }
  if (family.used.empty()) return true;
  check_kind(keys, family.used, "an array");
  if (const auto told = keys.number(element_key(family.used, layer), 0, 1)) return *told != 0;
  const auto every = keys.integer(family.interval, kMostLayers).value_or(family.default_unused);
  return every == 0 || (static_cast<std::uint64_t>(layer) + 1) % every != 0;
}

/// Whether a layer of Cohere 2 MoE has an MLP without experts, and dense layers have no separate pattern of windows.
bool is_dense(const ConfigKeys& keys, int layer) {
  for (const std::string_view list : {"layer_types", "mlp_layer_types"}) {
    if (keys.has(element_key(list, layer))) continue;
    refuse_item(list, {"it must be given in config.json for each layer of this model"});
  }
  return keys.value(element_key("mlp_layer_types", layer)) == "dense" &&
         is_usual(keys, "prefix_dense_sliding_window_pattern", "1");
}

/// Whether a layer turns in a family that turns only those of a sliding window.
bool is_local(const ConfigKeys& keys, const Family& family, std::string_view kind, int layer) {
  if (family.rotary.dense_too && is_dense(keys, layer)) return true;
  const WithoutWindow without = family.rotary.without_window;
  if (without == WithoutWindow::as_typed || !keys.is_null(family.window.size)) {
    return kind != kFullAttention;
  }
  return without == WithoutWindow::all;
}

/// The base of layers of a sliding window, where it is another.
std::optional<double> local_base(const ConfigKeys& keys, const RotaryKeys& family,
                                 std::string_view kind) {
  if (kind != kSlidingAttention || keys.is_null(family.local_base)) return std::nullopt;
  if (const auto told = keys.number(family.local_base, 1, kLargestBase)) return told;
  return family.default_local_base > 0 ? std::optional(family.default_local_base) : std::nullopt;
}

}  // namespace

Rotary rotary_of(const ConfigKeys& keys, const Family& row, RotaryPairs pairs,
                 Eigen::Index head_width, int layer, const RotaryOffset& at, RotaryUse use) {
  const RotaryKeys& family = row.rotary;
  if (pairs == RotaryPairs::kNone || !is_used(keys, family, layer)) return {};
  if (family.two_axes) {
    if (at.is_none()) return {pairs};
    throw InvalidArgument("offset", "be 0, without an average, for positions on two axes",
                          "the family is " + std::string(row.name));
  }
  Rotary rotary{keys.is_off(family.interleave) ? RotaryPairs::kHalves : pairs};
  const std::string kind = attention_kind(keys, row.window, layer);
  if (family.only_local && !is_local(keys, row, kind, layer)) return {};
  const std::string listed = element_key(family.bases, layer);
  const auto listed_base = keys.number(listed, 0, kLargestBase);
  if (listed_base == 0.0) return {};
  check_objects(keys, family, kind);
  // Newer files have an object for each kind of attention, older ones only a base for sliding windows.
  const std::string_view called = kind == kSlidingAttention ? family.local_object : family.object;
  const std::string of_kind =
      "rope_parameters." + (called.empty() ? kind : std::string(called)) + ".";
  const ConfigKeys kind_keys = keys.in({of_kind});
  const ConfigKeys any = family.by_kind ? kind_keys : keys.in({of_kind, "rope_parameters.", ""});
  const bool is_needed = !at.is_none() || use == RotaryUse::text;
  for (const std::string_view key : {std::string_view("rope_type"), kBase}) {
    if (!family.by_kind || !is_needed || kind_keys.has(key)) continue;
    refuse_item(kind_keys.path(key),
                {"it must be given in ", keys.name(), " for the family ", row.name});
  }
  const auto refuse_missing = [&](std::string_view key) {
    refuse_item(key, {"it must be given in a config.json of the family ", row.name,
                      " for an offset other than 0"});
  };
  double share = family.default_share;
  // Hugging Face's code passes over a share beside it.
  const bool is_plain = family.by_kind && kind_keys.value("rope_type") == "default";
  if (!is_plain && !family.share.empty()) {
    const auto given = any.number(any.has(family.share) ? family.share : kShare, 0, 1);
    if (share == 0 && !given && !at.is_none()) refuse_missing(family.share);
    share = keys.number(element_key(family.shares, layer), 0, 1).value_or(given.value_or(share));
  } else if (const auto told = any.number(kShare, 0, 1);
             !is_plain && told.value_or(1) != 1 && !family.made_share) {
    refuse_item(any.path(kShare), {"it must be 1 or left out for the family ", row.name,
                                   ", whose heads turn all coordinates, in ", keys.name()});
  }
  const auto told = keys.number(family.width, 0, static_cast<double>(head_width));
  if (!family.width.empty() && !told && !any.has(kShare) && !at.is_none()) {
    refuse_missing(family.width);
  }
  const double width = told.value_or(share * static_cast<double>(head_width));
  const auto turned = static_cast<Index>(width);
  if (turned % 2 != 0 && !at.is_none()) {
    const std::string_view given = any.has(family.share) ? family.share : kShare;
    const std::string key = any.has(given) ? any.path(given) : std::string(family.share);
    refuse_item(
        told ? keys.path(family.width) : key,
        {"it must make an even number of the ", std::to_string(head_width),
         " coordinates of a head turn, but makes ", std::to_string(turned), " in ", keys.name()});
  }
  rotary.turned = 2 * (turned / 2);
  if (const auto local = local_base(keys, family, kind); local && !kind_keys.has(kBase)) {
    rotary.base = *local;
    return rotary;  // windows are short: nothing is scaled
  }
  // In families whose sliding windows have their base in `kBase`, other layers do not have theirs there.
  const bool apart = !kind_keys.has(kBase) && (any.has(family.base) || family.local_base == kBase);
  const std::string_view base = apart ? family.base : kBase;
  if (listed_base) {
    rotary.base = *keys.number(listed, 1, kLargestBase);
  } else {
    if (family.default_base == 0 && !any.has(base) && !at.is_none()) refuse_missing(family.base);
    rotary.base = any.number(base, 1, kLargestBase).value_or(family.default_base);
    check_base(keys, rotary.base);
  }
  if (family.unscaled_local && kind == kSlidingAttention) return rotary;
  if (const std::string first = element_key(family.scaled_kinds, 0); keys.has(first)) {
    if (kind.empty()) refuse_missing("layer_types");
    if (keys.value(first) != kind && keys.value(element_key(family.scaled_kinds, 1)) != kind) {
      return rotary;
    }
  }
  const bool scales_kind = kind_keys.has("rope_type") || kind_keys.has("type") ||
                           kind_keys.has("factor") || (!called.empty() && kind_keys.has(kBase));
  scale(rotary, scales_kind ? kind_keys : scaling_keys(keys), keys, family, head_width, at, use);
  return rotary;
}

std::optional<std::uint64_t> tokens_of_short_factors(const ConfigKeys& keys) {
  const ConfigKeys scaling = scaling_keys(keys);
  const std::string type = scaling.value(scaling.has("rope_type") ? "rope_type" : "type");
  if (type != "longrope" && type != "su") return std::nullopt;
  return static_cast<std::uint64_t>(Scaling{scaling, keys, type, 0, 0, {}}.length());
}

double yarn_logit_scale(const ConfigKeys& keys, const RotaryKeys& family) {
  if (!family.scales_logits) return 1;
  const ConfigKeys scaling = scaling_keys(keys);
  const auto part = scaling.number("mscale_all_dim", 0, kLargestFactor);
  if (part.value_or(0) == 0) return 1;
  const auto factor = scaling.number("factor", 1, kLargestFactor);
  if (!factor) {
    refuse_item(scaling.path("factor"), {"it is missing in ", keys.name(), ", though '",
                                         scaling.path("mscale_all_dim"), "' is there"});
  }
  const double root = 0.1 * *part * std::log(*factor) + 1;
  return root * root;
}

}  // namespace eigenscope
