#include "checkpoint/family.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "checkpoint/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::array kFamilies{
    Family{.name = "BERT",
           .query_weight = "encoder.layer.{n}.attention.self.query.weight",
           .key_weight = "encoder.layer.{n}.attention.self.key.weight",
           .query_bias = "encoder.layer.{n}.attention.self.query.bias",
           .key_bias = "encoder.layer.{n}.attention.self.key.bias",
           .head_count_key = "num_attention_heads",
           .width_key = "hidden_size",
           .layout = HeadLayout::kSeparateLinear},
    Family{.name = "GPT-2",
           .query_weight = "h.{n}.attn.c_attn.weight",
           .key_weight = "h.{n}.attn.c_attn.weight",
           .query_bias = "h.{n}.attn.c_attn.bias",
           .key_bias = "h.{n}.attn.c_attn.bias",
           .head_count_key = "n_head",
           .width_key = "n_embd",
           .layout = HeadLayout::kFusedConv1D},
};

constexpr std::string_view kLayerMark = "{n}";
constexpr std::size_t kMostLayerDigits = 5;  // with 4096 heads each, a count fits an int
constexpr std::size_t kShownNames = 5;

struct Place {
  std::string prefix;
  int layer;
};

/// `name` read as prefix + pattern, or nothing.
std::optional<Place> match_name(std::string_view pattern, std::string_view name) {
  const std::size_t mark = pattern.find(kLayerMark);
  const std::string_view before = pattern.substr(0, mark);
  const std::string_view after = pattern.substr(mark + kLayerMark.size());
  if (!name.ends_with(after)) return std::nullopt;
  name.remove_suffix(after.size());
  const std::size_t digits = name.size() - 1 - name.find_last_not_of("0123456789");
  if (digits == 0 || digits > kMostLayerDigits) return std::nullopt;
  const std::string number(name.substr(name.size() - digits));
  if (digits > 1 && number[0] == '0') return std::nullopt;  // "01" would be a second layer 1
  name.remove_suffix(digits);
  if (!name.ends_with(before)) return std::nullopt;
  name.remove_suffix(before.size());
  if (!name.empty() && !name.ends_with('.')) return std::nullopt;
  return Place{std::string(name), std::stoi(number)};
}

std::string full_name(const std::string& prefix, std::string_view pattern, int layer) {
  std::string name(pattern);
  return prefix + name.replace(name.find(kLayerMark), kLayerMark.size(), std::to_string(layer));
}

/// Layer numbers of each stack, by the prefix of the stack.
using Stacks = std::map<std::string, std::set<int>>;

Stacks find_stacks(const Family& family, const std::map<std::string, TensorInfo>& tensors) {
  Stacks stacks;
  for (const auto& [name, info] : tensors) {
    for (const std::string_view pattern : {family.query_weight, family.key_weight}) {
      if (const auto place = match_name(pattern, name)) stacks[place->prefix].insert(place->layer);
    }
  }
  return stacks;
}

LayerTensors layer_tensors(const Family& family, const std::string& prefix, int layer,
                           const std::map<std::string, TensorInfo>& tensors) {
  const auto name = [&](std::string_view pattern) { return full_name(prefix, pattern, layer); };
  const auto if_there = [&](std::string_view pattern) {
    return tensors.contains(name(pattern)) ? name(pattern) : std::string();
  };
  LayerTensors found{layer, name(family.query_weight), name(family.key_weight),
                     if_there(family.query_bias), if_there(family.key_bias)};
  const bool has_query = tensors.contains(found.query_weight);
  if (!has_query || !tensors.contains(found.key_weight)) {
    const std::string& missing = has_query ? found.key_weight : found.query_weight;
    const std::string& partner = has_query ? found.query_weight : found.key_weight;
    throw FormatError(shown_name(missing),
                      "it is missing, though " + shown_name(partner) + " is there");
  }
  return found;
}

[[noreturn]] void fail_unknown(const std::map<std::string, TensorInfo>& tensors,
                               const std::string& file) {
  std::string message = "its tensors are of no family that is known; looked for";
  for (const Family& family : kFamilies) {
    message += " '" + std::string(family.query_weight) + "' (" + std::string(family.name) + ")";
  }
  message += tensors.empty() ? "; it has no tensors" : "; it has";
  std::size_t shown = 0;
  for (const auto& [name, info] : tensors) {
    if (shown == kShownNames) break;
    message += (shown++ == 0 ? " '" : ", '") + shown_name(name) + "'";
  }
  if (tensors.size() > shown) message += " and " + std::to_string(tensors.size() - shown) + " more";
  throw FormatError(file, message);
}

[[noreturn]] void fail_several(const Family& family, const Stacks& stacks,
                               const std::string& file) {
  std::string message = "it holds several stacks of " + std::string(family.name) +
                        " layers, and only a file with one can be read; their prefixes are";
  std::size_t shown = 0;
  for (const auto& [prefix, layers] : stacks) {
    if (shown == kShownNames) break;
    message += (shown++ == 0 ? " '" : ", '") + shown_name(prefix) + "'";
  }
  throw FormatError(file, message);
}

}  // namespace

std::span<const Family> families() { return kFamilies; }

FamilyMatch match_family(const std::map<std::string, TensorInfo>& tensors,
                         const std::string& file) {
  for (const Family& family : kFamilies) {
    const Stacks stacks = find_stacks(family, tensors);
    if (stacks.empty()) continue;
    if (stacks.size() > 1) fail_several(family, stacks, file);
    FamilyMatch match{&family, stacks.begin()->first, {}};
    for (const int layer : stacks.begin()->second) {
      match.layers.push_back(layer_tensors(family, match.prefix, layer, tensors));
    }
    return match;
  }
  fail_unknown(tensors, file);
}

std::optional<ProjectionPlace> projection_place(HeadLayout layout, Projection projection,
                                                std::uint64_t rows, std::uint64_t columns) {
  switch (layout) {
    case HeadLayout::kSeparateLinear:
      return ProjectionPlace{columns, rows, 0, rows, false};
    case HeadLayout::kFusedConv1D: {
      constexpr std::uint64_t kParts = 3;
      if (columns % kParts != 0) return std::nullopt;
      const std::uint64_t outputs = columns / kParts;
      // Equal parts are W_Q, W_K, W_V of d columns each; another width means grouped keys.
      if (outputs != rows) return std::nullopt;
      return ProjectionPlace{rows, outputs, projection == Projection::key ? outputs : 0, columns,
                             true};
    }
  }
  return std::nullopt;
}

}  // namespace eigenscope
