#include "checkpoint/tensor_guards.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

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

/// Words by one of which the name of a norm of queries or keys is recognized, such as "q_norm" or "query_layernorm".
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
    const MixerNames& mixer = family.mixer;
    add({mixer.input, mixer.gate, mixer.write, mixer.step, mixer.states_by_key, mixer.rates_by_key,
         mixer.convolution, mixer.log_rate, mixer.minus_rate, mixer.step_bias, mixer.norm,
         mixer.skip, mixer.states, mixer.state_norms[0], mixer.state_norms[1], mixer.state_norms[2],
         mixer.output});
    for (const ForwardNames* const forward : {&family.text, &family.picture}) {
      add({forward->value, forward->attention_gate, forward->attention_output,
           forward->attention_output_norm, forward->attention_end_norm, forward->mlp_norm,
           forward->mlp_output_norm, forward->mlp_end_norm, forward->attention_scale,
           forward->mlp_scale, forward->skip, forward->mlp_gate, forward->mlp_up, forward->mlp_down,
           forward->layer_scale});
      add({forward->offset_terms.key, forward->offset_terms.query});
      const XieluNames& xielu = forward->xielu;
      add({xielu.alpha_p, xielu.alpha_n, xielu.beta, xielu.eps});
      const LayerInputNames& input = forward->layer_input;
      add({input.gate, input.output, input.output_norm});
      const ExpertNames& experts = forward->experts;
      const RouterNames& router = experts.router;
      add({router.weight, router.correction, router.input_gain, router.expert_scale,
           experts.shared_gate, experts.input_norm, experts.output_norm, experts.shared_output_norm,
           experts.latent_input, experts.latent_output});
      for (const MlpNames& mlp : {experts.each, experts.stacked, experts.shared}) {
        add({mlp.gate, mlp.up, mlp.down});
      }
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
  /// A name with "{e}" in the place of the number of an expert.
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
      if (const std::string_view name = behind_layer(pattern); !name.empty()) {
        names_.insert(stem(name));
      }
    }
  }

  std::set<std::string_view> names_;
  std::string_view others_;
  std::string_view block_;  // such as "self_attn."
};

/// A tensor's name behind the number of its layer, where that is a layer of the stack, or `any` layer.
std::string_view within_layer(const StackMatch& stack, std::string_view before,
                              std::string_view name, bool any) {
  const auto layer = layer_after(name, before.size());
  const bool is_inside =
      layer && (any || std::any_of(stack.layers.begin(), stack.layers.end(),
                                   [&](const auto& each) { return each.layer == *layer; }));
  return is_inside ? name.substr(name.find('.', before.size()) + 1) : std::string_view();
}

/// Adds the adapters of queries and keys, whatever the prefix before the names of their layers.
void add_adapters(const FamilyMatch& match, const Tensors& tensors,
                  std::set<std::string>& adapters) {
  for (const auto& [name, info] : tensors) {
    if (name.find("lora_") == std::string::npos) continue;
    const auto adapts = [&, &tensor = name](const std::string& weight) {
      return tensor.find(stem(weight).substr(match.prefix.size())) != std::string::npos;
    };
    for (const StackMatch& stack : match.stacks) {
      for (const LayerTensors& layer : stack.layers) {
        if (adapts(layer.query.weight) || adapts(layer.key.weight)) adapters.insert(name);
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
  std::set<std::string> unknown, known;
  for (const StackMatch& stack : match.stacks) {
    const KnownLayer layer(*match.family, *stack.names);
    // A forward pass with token mixers also runs the layers between those with heads.
    const bool between =
        part == LayerPart::whole && match.family->mixer.mixing != TokenMixing::none;
    const std::string_view query = stack.names->query_weight;
    const std::string before = match.prefix + std::string(query.substr(0, query.find("{n}")));
    for (auto at = tensors.lower_bound(before);
         at != tensors.end() && at->first.starts_with(before); ++at) {
      const std::string_view name = within_layer(stack, before, at->first, between);
      if (name.empty()) continue;
      if (layer.has(name)) {
        known.insert(at->first);
      } else if (part == LayerPart::whole || layer.is_near(name)) {
        unknown.insert(at->first);
      }
    }
  }
  // Tensors beside the layers, such as a scale of all of them.
  for (auto at = tensors.lower_bound(match.prefix);
       at != tensors.end() && at->first.starts_with(match.prefix) && !match.family->exact; ++at) {
    const std::string_view name = stem(std::string_view(at->first).substr(match.prefix.size()));
    const bool mask = name.find("mask") != std::string_view::npos;
    if (name.find('.') == std::string_view::npos && KnownLayer::is_of_attention(name) && !mask) {
      unknown.insert(at->first);
    }
  }
  add_adapters(match, tensors, unknown);
  // Of stacks with the same layers, such as self- and cross-attention, each may know the tensors of the other.
  std::vector<std::string> names;
  std::set_difference(unknown.begin(), unknown.end(), known.begin(), known.end(),
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
    // A mapping vouches for the other tensors, except those that change the weights themselves.
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

void check_norm_span(const Safetensors& file, const std::string& name, const Family& family,
                     const AttentionNames& names, std::uint64_t heads, std::uint64_t width) {
  const TensorInfo& gains = file.tensor(name);
  const std::uint64_t count = element_count(gains);
  const NormSpan span = names.norm_span;
  if (span == NormSpan::any || (span == NormSpan::head && count == width) ||
      (span == NormSpan::all_heads && count == heads * width) ||
      (span == NormSpan::each_head && gains.shape == std::vector{heads, width})) {
    return;
  }
  const std::string of_all = std::to_string(heads) + " heads of " + std::to_string(width);
  refuse_item(name, {"its shape ", shape_text(gains), " must be ",
                     span == NormSpan::head ? "[" + std::to_string(width) + "], a head's,"
                     : span == NormSpan::all_heads
                         ? "[" + std::to_string(heads * width) + "], " + of_all + " together,"
                         : of_all,
                     " for the family ", family.name});
}

}  // namespace eigenscope
