#include "checkpoint/family_match.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "checkpoint/attention_window.h"
#include "checkpoint/config_part.h"
#include "checkpoint/quantization.h"
#include "checkpoint/several_stacks.h"
#include "checkpoint/unsupported.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Tensors = std::map<std::string, TensorInfo>;

constexpr std::string_view kLayerMark = "{n}";
constexpr std::size_t kMostLayerDigits = 5;  // with 4096 heads in three stacks, a count fits an int
constexpr std::size_t kShownNames = 3;
/// Prefixes of the parts of Qwen-Omni that make sound of what its thinker writes.
constexpr std::array<std::string_view, 3> kSpeakers{"talker.", "code2wav.", "token2wav."};

struct Place {
  std::string prefix;
  int layer;
};

/// Takes the number of a layer from the end of `name`.
std::optional<int> take_number(std::string_view& name) {
  const std::size_t digits = name.size() - 1 - name.find_last_not_of("0123456789");
  if (digits == 0 || digits > kMostLayerDigits) return std::nullopt;
  const std::string number(name.substr(name.size() - digits));
  if (digits > 1 && number[0] == '0') return std::nullopt;  // "01" would be a second layer 1
  name.remove_suffix(digits);
  return std::stoi(number);
}

/// `name` read as prefix + pattern, or nothing. Without a mark for it, the layer is 0.
std::optional<Place> match_name(std::string_view pattern, std::string_view name) {
  const std::size_t mark = pattern.find(kLayerMark);
  int layer = 0;
  std::string_view before = pattern;
  if (mark != std::string_view::npos) {
    before = pattern.substr(0, mark);
    const std::string_view after = pattern.substr(mark + kLayerMark.size());
    if (!name.ends_with(after)) return std::nullopt;
    name.remove_suffix(after.size());
    const auto number = take_number(name);
    if (!number) return std::nullopt;
    layer = *number;
  }
  if (!name.ends_with(before)) return std::nullopt;
  name.remove_suffix(before.size());
  if (!name.empty() && !name.ends_with('.')) return std::nullopt;
  return Place{std::string(name), layer};
}

bool has(const Tensors& tensors, std::string_view pattern) {
  for (const auto& [name, info] : tensors) {
    if (match_name(pattern, name)) return true;
  }
  return false;
}

/// The layer numbers of a stack by the prefix before its names.
using Prefixes = std::map<std::string, std::set<int>>;

Prefixes find_layers(const Family& family, const AttentionNames& names, const Tensors& tensors) {
  Prefixes prefixes;
  for (const auto& [name, info] : tensors) {
    for (const std::string_view pattern : {names.query_weight, names.key_weight}) {
      if (pattern.empty()) continue;
      const auto place = match_name(pattern, name);
      if (!place || (family.exact && !place->prefix.empty())) continue;
      const auto& [prefix, layer] = *place;
      const bool is_linear =
          !names.linear_key.empty() && tensors.contains(full_name(prefix, names.linear_key, layer));
      if (!is_linear) prefixes[prefix].insert(layer);
    }
  }
  return prefixes;
}

/// The layer numbers of the first stack of `family` that the file has.
Prefixes find_first_layers(const Family& family, const Tensors& tensors) {
  for (const AttentionNames& names : family.attentions) {
    if (names.query_weight.empty()) break;
    Prefixes prefixes = find_layers(family, names, tensors);
    if (!prefixes.empty()) return prefixes;
  }
  return {};
}

/// The tensors of layer number `layer`, which uses the keys of layer number `key_layer`. Throws FormatError naming a
/// tensor that is missing.
LayerTensors layer_tensors(const Family& family, const AttentionNames& names,
                           const std::string& prefix, int layer, int key_layer,
                           const Tensors& tensors) {
  const auto if_there = [&](const std::string& name) {
    return tensors.contains(name) ? name : std::string();
  };
  const auto gain_of = [&](std::string_view pattern, int at) {
    return pattern.empty() ? std::string() : stored_norm(tensors, full_name(prefix, pattern, at));
  };
  const auto bias_of_norm = [&](const std::string& weight) {
    constexpr std::string_view kGamma = ".gamma";
    if (!weight.ends_with(kGamma)) return if_there(bias_of(weight));
    return if_there(weight.substr(0, weight.size() - kGamma.size()) + ".beta");
  };
  LayerTensors layer_names;
  layer_names.layer = layer;
  layer_names.key_layer = key_layer;
  layer_names.sinks = gain_of(names.sinks, layer);
  const ForwardNames& text = family.text;
  const bool reads_norm = names.query_gain.empty() && !text.mlp_end_norm.empty();
  if (reads_norm && text.embedding_projection.empty()) {
    layer_names.input_gain =
        gain_of(layer == 0 ? text.embedding_norm : text.mlp_end_norm, layer - 1);
  }
  const auto projection = [&](int at, const std::string& weight, std::string_view before,
                              std::string_view after) {
    const std::string gain = gain_of(before, at);
    return ProjectionTensors{
        .weight = weight,
        .bias = if_there(bias_of(weight)),
        .gain = gain,
        .norm_gain = gain_of(after, at),
        .input_bias = bias_of_norm(gain.empty() ? layer_names.input_gain : gain)};
  };
  const LatentNames& latent = names.latent;
  layer_names.query = projection(layer, full_name(prefix, names.query_weight, layer),
                                 names.query_gain, names.query_norm_gain);
  if (!latent.query_weight.empty()) {
    layer_names.query.latent = full_name(prefix, latent.query_weight, layer);
    layer_names.query.latent_gain = gain_of(latent.query_gain, layer);
  }
  const std::string_view key_gain = names.cross ? names.key_gain : names.query_gain;
  layer_names.key = projection(
      key_layer,
      family.fused() ? layer_names.query.weight : full_name(prefix, names.key_weight, key_layer),
      key_gain, names.key_norm_gain);
  if (!latent.key_weight.empty()) {
    layer_names.key.latent = full_name(prefix, latent.key_weight, key_layer);
    layer_names.key.latent_gain = gain_of(latent.key_gain, key_layer);
  }
  for (const std::string& needed : {layer_names.query.latent, layer_names.key.latent}) {
    if (!needed.empty() && !tensors.contains(needed)) {
      refuse_item(needed,
                  {"it is missing, though ", shown_name(layer_names.query.weight), " is there"});
    }
  }
  const bool has_query = tensors.contains(layer_names.query.weight);
  if (!has_query || !tensors.contains(layer_names.key.weight)) {
    const std::string& missing = has_query ? layer_names.key.weight : layer_names.query.weight;
    const std::string& partner = has_query ? layer_names.query.weight : layer_names.key.weight;
    std::string unsupported = unmerged_adapter(tensors);
    if (unsupported.empty()) unsupported = renamed_quantization(tensors);
    if (unsupported.empty()) unsupported = unsupported_parts(tensors);
    refuse_item(missing, {"it is missing, though ", shown_name(partner), " is there",
                          (unsupported.empty() ? "" : "; unsupported: " + unsupported)});
  }
  return layer_names;
}

/// " 'a', 'b'": the first keys of a map.
template <class Map>
std::string first_keys(const Map& map) {
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, value] : map) {
    if (shown == kShownNames) break;
    text += (shown++ == 0 ? " '" : ", '") + shown_name(name) + "'";
  }
  return text;
}

/// The first names of a file's tensors, for messages; those of attention if it has any.
std::string first_names(const Tensors& tensors) {
  if (tensors.empty()) return "; it has no tensors";
  Tensors attention;
  std::copy_if(tensors.begin(), tensors.end(), std::inserter(attention, attention.end()),
               [](const auto& tensor) { return tensor.first.find("att") != std::string::npos; });
  const Tensors& named = attention.empty() ? tensors : attention;
  const std::size_t left = tensors.size() - std::min(named.size(), kShownNames);
  return "; it has" + first_keys(named) +
         (left == 0 ? "" : " and " + std::to_string(left) + " more");
}

[[noreturn]] void fail_unknown(const Tensors& tensors, const std::vector<std::string>& types,
                               const std::string& file) {
  const auto after = [](const std::string& text) { return text.empty() ? text : text + "; "; };
  std::string instead = renamed_quantization(tensors);
  if (instead.empty()) instead = unmerged_adapter(tensors);
  const std::string parts = unsupported_parts(tensors);
  std::string message = parts.empty() && instead.empty() ? "" : "unsupported: ";
  if (!instead.empty()) throw FormatError(file, message + after(parts) + instead);
  message += after(parts) + "unrecognized architecture" +
             (types.empty() ? "" : " '" + shown_name(types.front()) + "'") + first_names(tensors);
  throw FormatError(
      file, message + "; name those of its queries and keys with --map-query and --map-key");
}

std::string without_dot(const std::string& prefix) {
  return prefix.substr(0, prefix.find_last_of('.'));
}

/// The prefix of the only stack of a row, or of the one with the token embeddings. Throws SeveralStacks where not
/// exactly one of several has them.
std::string main_prefix(const Family& family, const Prefixes& prefixes, const Tensors& tensors,
                        const std::string& file) {
  if (prefixes.size() == 1) return prefixes.begin()->first;
  std::string listed;
  std::vector<std::string> embedded, stacks;
  for (const auto& [prefix, layers] : prefixes) {
    stacks.push_back(without_dot(prefix));
    listed += (listed.empty() ? "'" : ", '") + shown_name(without_dot(prefix)) + "'";
    if (!family.embeddings.empty() && tensors.contains(prefix + std::string(family.embeddings))) {
      embedded.push_back(prefix);
    }
  }
  if (embedded.size() == 1) return embedded.front();
  throw SeveralStacks(file,
                      "it holds several stacks of " + std::string(family.name) + " layers, " +
                          (embedded.empty() ? "none" : "more than one") +
                          " of them with token embeddings: give --stack, one of " + listed,
                      std::move(stacks));
}

/// A fused projection has more outputs than inputs, which tells Conv1D's in x out from torch's out x in.
bool fits_layout(const Family& family, const Tensors& tensors) {
  if (!family.inputs_first()) return true;
  return std::all_of(tensors.begin(), tensors.end(), [&](const auto& tensor) {
    const std::vector<std::uint64_t>& shape = tensor.second.shape;
    return shape.size() != 2 || shape[0] <= shape[1] ||
           !match_name(family.attentions.front().query_weight, tensor.first);
  });
}

bool fits(const Family& family, const Tensors& tensors) {
  return fits_layout(family, tensors) && !find_first_layers(family, tensors).empty() &&
         (family.required.empty() || has(tensors, family.required)) &&
         (family.absent.empty() || !has(tensors, family.absent));
}

bool is_of_type(const Family& family, const std::vector<std::string>& model_types) {
  return family.others == Others::everything ||
         std::any_of(model_types.begin(), model_types.end(),
                     [&](const std::string& type) { return lists(family.model_types, type); });
}

/// Whether the conventions of a match's row hold for its part of the model, by the types of the part and of the model.
bool is_known(const FamilyMatch& match, const Config* config) {
  constexpr std::string_view kVision = "vision_config.";
  const Family& family = *match.family;
  if (family.others == Others::everything) return true;
  if (config == nullptr) return is_of_type(family, {});
  const StackMatch& stack = match.stacks.front();
  if (match.is_other) {  // the type of the whole model may not hold for it
    const auto type = config->text(stack.part + "model_type");
    return type && lists(family.model_types, *type);
  }
  const bool pictures =
      stack.names->config == "vision_config" || (family.reads_pictures() && !family.reads_text());
  std::vector<std::string> types = model_types(config);
  const std::string part = part_of(config, pictures ? "vision_config" : "", match.prefix, true);
  const auto part_type = part.empty() ? std::nullopt : config->text(part + "model_type");
  // Older files of SAM have an empty one.
  if (part_type && !part_type->empty() && !is_known_type(*part_type)) return false;
  for (const char* const path : kTypePaths) {
    const auto other = config->text(path);
    const bool of_pictures = std::string_view(path).find(kVision) != std::string_view::npos;
    if (std::string_view(path) == kTypePaths[0] || of_pictures == pictures || !other) continue;
    if (part_type != other && config->text(kTypePaths[0]) != other) std::erase(types, *other);
  }
  return is_of_type(family, types);
}

/// The first row of one of the types that fits; else the first that fits and takes other types; null without any.
const Family* choose(const Tensors& tensors, const std::vector<std::string>& model_types) {
  const auto known = families();
  for (const bool by_type : {true, false}) {
    const auto row = std::find_if(known.begin(), known.end(), [&](const Family& family) {
      const bool fit = by_type ? is_of_type(family, model_types) : family.others == Others::names;
      return fit && fits(family, tensors);
    });
    if (row != known.end()) return &*row;
  }
  return nullptr;
}

/// The row of the table, or a copy of it for gains to which MLX's conversion has added 1 (mlx-lm, qwen3_next.py).
/// Throws FormatError for MLX's layout where it leaves open how gains or factors are stored.
std::shared_ptr<const Family> row_as_stored(const Family& family, const Tensors& tensors) {
  // The table outlives every pointer to it.
  const std::shared_ptr<const Family> row_of_table(std::shared_ptr<void>(), &family);
  if (family.convolution.empty()) return row_of_table;
  const auto turned = std::find_if(tensors.begin(), tensors.end(), [&](const auto& tensor) {
    const std::vector<std::uint64_t>& shape = tensor.second.shape;
    return tensor.first.ends_with(family.convolution) && shape.size() == 3 && shape[1] > 1 &&
           shape[2] == 1;
  });
  if (turned == tensors.end()) return row_of_table;
  if (family.open_factors) {
    refuse_item(turned->first,
                {"it is in MLX's layout, and such files do not tell whether the factors of "
                 "config.json are in their weights; open the original model"});
  }
  const auto mtp = std::find_if(tensors.begin(), tensors.end(), [](const auto& tensor) {
    return tensor.first.find("mtp.") != std::string::npos;
  });
  if (mtp != tensors.end()) {
    refuse_item(mtp->first, {"it must not stand beside '", shown_name(turned->first),
                             "' in MLX's layout, as such files do not tell how gains are stored; "
                             "open the original model"});
  }
  Family row = family;
  row.gain_plus_one = false;
  return std::make_shared<const Family>(row);
}

/// Leaves out the layers from the count of config.json on. Throws FormatError where none would be left.
void keep_counted(StackMatch& stack, const ConfigKeys& keys) {
  const std::string_view key = stack.names->layer_count_key;
  const auto count = keys.integer(key, kMostLayers);
  if (!count) return;
  const auto first = std::stable_partition(
      stack.layers.begin(), stack.layers.end(),
      [&](const LayerTensors& layer) { return static_cast<std::uint64_t>(layer.layer) < *count; });
  stack.beyond.assign(first, stack.layers.end());
  stack.layers.erase(first, stack.layers.end());
  if (!stack.layers.empty()) return;
  refuse_item(keys.path(key), {"it must count the layers of the file, which come after the first ",
                               std::to_string(*count), " in ", keys.name()});
}

/// The layer whose keys each layer of a stack uses: the layer itself, or for the last layers an earlier one, where
/// config.json counts such layers.
class KeyLayers {
 public:
  KeyLayers(const Family& family, const ConfigKeys& keys, std::string_view count_key)
      : window_(family.window), keys_(keys) {
    const auto count = keys.integer(count_key, kMostLayers);
    const auto most = static_cast<double>(count.value_or(kMostLayers + 1) - 1);
    const auto shared = keys.number(family.shared_keys_key, 0, most);
    // The original's code shares nothing where its default is more than there are layers.
    const double usual = family.default_shared_keys <= most ? family.default_shared_keys : 0;
    const int sharing = static_cast<int>(shared.value_or(usual));
    if (count && sharing > 0) first_ = static_cast<int>(*count) - sharing;
    if (shared) count_path_ = keys.path(family.shared_keys_key);
  }

  int of(int layer) const {
    if (layer < first_) return layer;
    const std::string kind = attention_kind(keys_, window_, layer);
    int earlier = first_ - 1;
    while (earlier >= 0 && attention_kind(keys_, window_, earlier) != kind) --earlier;
    if (earlier >= 0) return earlier;
    if (count_path_.empty()) return layer;
    refuse_item(count_path_, {"no layer before the shared ones has the kind of layer ",
                              std::to_string(layer), " in ", keys_.name()});
  }

 private:
  const WindowKeys& window_;
  const ConfigKeys& keys_;
  std::string count_path_;  // empty where the count is a default
  int first_ = std::numeric_limits<int>::max();
};

/// Takes the weights of `match`, and of the stacks that it leaves out, out of `tensors`.
void remove_weights(const FamilyMatch& match, Tensors& tensors) {
  const std::vector<std::string>& others = match.left_out;
  const auto is_taken = [&](std::string_view pattern, const std::string& name) {
    const auto place = pattern.empty() ? std::nullopt : match_name(pattern, name);
    return place && (place->prefix == match.prefix ||
                     std::find(others.begin(), others.end(), place->prefix) != others.end());
  };
  for (const AttentionNames& names : match.family->attentions) {
    std::erase_if(tensors, [&](const auto& tensor) {
      return is_taken(names.query_weight, tensor.first) ||
             is_taken(names.key_weight, tensor.first) || is_taken(names.linear_key, tensor.first);
    });
  }
}

/// Leaves out parts of unknown conventions without token embeddings beside a known one.
void leave_unknown(std::vector<FamilyMatch>& matches) {
  const auto is_known = [](const FamilyMatch& match) { return match.unknown.empty(); };
  const auto known = std::find_if(matches.begin(), matches.end(), is_known);
  if (known == matches.end()) return;
  std::vector<std::string> left_out = known->left_out;
  const auto is_left_out = [&](const FamilyMatch& match) {
    const bool left = !is_known(match) && match.embeddings.empty();
    if (left) left_out.push_back(match.prefix);
    return left;
  };
  const auto end = std::remove_if(matches.begin(), matches.end(), is_left_out);
  std::find_if(matches.begin(), end, is_known)->left_out = std::move(left_out);
  matches.erase(end, matches.end());
}

/// Whether a name fits into a link and a table.
bool is_plain(std::string_view name) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

/// Gives every stack another name: the one in its family's row, else its prefix, else the family's name, perhaps with a
/// number.
void name_stacks(std::vector<FamilyMatch>& matches) {
  std::set<std::string> taken;
  for (FamilyMatch& match : matches) {
    for (StackMatch& stack : match.stacks) {
      if (stack.name.empty()) stack.name = without_dot(match.prefix);
      const std::string family(match.family->name);
      if (!is_plain(stack.name) || taken.contains(stack.name)) stack.name = family;
      for (int k = 2; !taken.insert(stack.name).second; ++k) {
        stack.name = family + "-" + std::to_string(k);
      }
    }
  }
}

}  // namespace

std::string full_name(const std::string& prefix, std::string_view pattern, int layer) {
  std::string name(pattern);
  const std::size_t mark = name.find(kLayerMark);
  if (mark != std::string::npos) name.replace(mark, kLayerMark.size(), std::to_string(layer));
  return prefix + name;
}

std::optional<int> layer_after(std::string_view name, std::size_t at) {
  const std::size_t end = std::min(name.find_first_not_of("0123456789", at), name.size());
  if (end == name.size() || end <= at || end - at > kMostLayerDigits || name[end] != '.') {
    return std::nullopt;
  }
  return std::stoi(std::string(name.substr(at, end - at)));
}

std::string bias_of(std::string weight) {
  // The former is PyTorch's name of a weight that a function changes.
  for (const std::string_view ending : {"parametrizations.weight.original", "weight"}) {
    if (!weight.ends_with(ending)) continue;
    return weight.replace(weight.size() - ending.size(), ending.size(), "bias");
  }
  return {};
}

std::string stored_norm(const Tensors& tensors, const std::string& name) {
  if (tensors.contains(name)) return name;
  for (const auto& [now, before] : {std::pair(".weight", ".gamma"), std::pair(".bias", ".beta")}) {
    if (!name.ends_with(now)) continue;
    std::string old = name.substr(0, name.size() - std::string_view(now).size()) + before;
    if (tensors.contains(old)) return old;
  }
  return {};
}

bool is_known_type(std::string_view model_type) {
  const auto known = families();
  return std::any_of(known.begin(), known.end(),
                     [&](const Family& family) { return lists(family.model_types, model_type); });
}

FamilyMatch match_tensors(std::shared_ptr<const Family> family, const Tensors& tensors,
                          const Config* config, const std::string& file) {
  FamilyMatch match;
  const Prefixes first = find_first_layers(*family, tensors);
  if (first.empty()) {
    throw FormatError(file, "it has no tensor '" +
                                shown_name(family->attentions.front().query_weight) + "'" +
                                first_names(tensors));
  }
  const std::string prefix = main_prefix(*family, first, tensors, file);
  match.prefix = prefix;
  for (const auto& [other, layers] : first) {
    if (other != prefix) match.left_out.push_back(other);
  }
  const std::string embeddings = prefix + std::string(family->embeddings);
  if (!family->embeddings.empty() && tensors.contains(embeddings)) match.embeddings = embeddings;
  match.is_other = !family->exact && !family->embeddings.empty() && match.embeddings.empty() &&
                   has(tensors, family->embeddings);
  for (const AttentionNames& names : family->attentions) {
    if (names.query_weight.empty()) break;
    const Prefixes prefixes = find_layers(*family, names, tensors);
    const auto layers = prefixes.find(prefix);
    if (layers == prefixes.end()) continue;
    StackMatch stack{&names,
                     std::string(names.stack),
                     part_of(config, names.config, prefix, !match.is_other),
                     {}};
    const ConfigKeys keys = part_keys(config, stack.part, !match.is_other);
    const KeyLayers key_layers(*family, keys, names.layer_count_key);
    for (const int layer : layers->second) {
      stack.layers.push_back(
          layer_tensors(*family, names, prefix, layer, key_layers.of(layer), tensors));
    }
    keep_counted(stack, keys);
    match.stacks.push_back(std::move(stack));
  }
  match.family = std::move(family);
  return match;
}

std::vector<FamilyMatch> match_families(const Tensors& tensors, const Config* config,
                                        const std::string& file) {
  std::vector<FamilyMatch> matches;
  Tensors left = tensors;
  // Layers for multi-token prediction, which the model does not run on text.
  std::erase_if(left, [](const auto& tensor) { return tensor.first.starts_with("mtp."); });
  check_parts(config);
  std::vector<std::string> speakers;
  for (const std::string_view prefix : kSpeakers) {
    const auto speaks = [&](const auto& tensor) { return tensor.first.starts_with(prefix); };
    if (std::erase_if(left, speaks) > 0) speakers.emplace_back(prefix);
  }
  const std::vector<std::string> types = model_types(config);
  while (const Family* const family = choose(left, types)) {
    matches.push_back(match_tensors(row_as_stored(*family, tensors), left, config, file));
    FamilyMatch& match = matches.back();
    if (!is_known(match, config)) {
      match.unknown = match.is_other ? "the stack '" + shown_name(without_dot(match.prefix)) +
                                           "' does not have the token embeddings, and has no "
                                           "known model type of its own in config.json"
                                     : told_type(config);
    }
    match.typed = !types.empty();
    remove_weights(match, left);
  }
  if (matches.empty()) fail_unknown(tensors, types, file);
  leave_unknown(matches);
  matches.front().speakers = std::move(speakers);
  if (matches.size() > 1) name_stacks(matches);
  return matches;
}

}  // namespace eigenscope
