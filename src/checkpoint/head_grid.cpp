#include "checkpoint/head_grid.h"

#include <algorithm>
#include <optional>

#include "checkpoint/attention_window.h"
#include "checkpoint/key_guards.h"
#include "checkpoint/quantization.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

// The most elements of one head, 512 MiB of double: a larger one comes from a wrong head count.
constexpr std::uint64_t kMostHeadElements = std::uint64_t{1} << 26;

const TensorInfo& checked_weight(const Safetensors& file, const std::string& name) {
  const TensorInfo& info = file.tensor(name);
  refuse_quantized(file, name);
  const auto fail = [&](const std::string& message) { refuse_item(name, message); };
  if (info.shape.size() != 2) fail("its shape " + shape_text(info) + " is not a matrix");
  for (const std::uint64_t side : info.shape) {
    if (side == 0 || side > kLargestSide) {
      fail("its shape " + shape_text(info) + " is not that of a weight matrix");
    }
  }
  if (!is_decodable(info.dtype)) {
    const bool scaled = info.dtype == Dtype::kF8E4M3 || info.dtype == Dtype::kF8E5M2;
    fail("its type must be F16, BF16, F32 or F64 to be read as numbers, but it is " +
         std::string(dtype_name(info.dtype)) + " in " + file.name() +
         (scaled ? ", which has no scale of it, such as '" + shown_name(name) + "_scale_inv'"
                 : std::string()));
  }
  return info;
}

/// Whether config.json has keys for single layers, in place of those for kinds of attention.
bool has_layers(const ConfigKeys& keys) { return keys.has(kLayerKeys); }

bool has_kinds(const Family& family) {
  return !family.local.width.empty() || !family.full.width.empty();
}

class GridFinder {
 public:
  GridFinder(const WeightShapes& shapes, const ConfigKeys& keys, const HeadSettings& settings,
             const FamilyMatch& part, const StackMatch& stack)
      : shapes_(shapes),
        keys_(keys),
        settings_(settings),
        part_(part),
        family_(part.family),
        stack_(stack) {
    const auto given = settings.stack_heads.find(stack.name);
    given_heads_ = given == settings.stack_heads.end() ? settings.heads : given->second;
  }

  std::vector<HeadGrid> grids() {
    const LayerTensors& widest = *std::max_element(
        stack_.layers.begin(), stack_.layers.end(), [&](const auto& a, const auto& b) {
          return shapes_.outputs(a.query.weight) < shapes_.outputs(b.query.weight);
        });
    find_grid(widest);
    if (!given_heads_) {
      const ProjectionTensors& first = stack_.layers.front().query;
      check_width(keys_, family_->width_key, shapes_.reader(first), shapes_.width_of(first));
    }
    std::vector<HeadGrid> grids;
    for (const LayerTensors& layer : stack_.layers) grids.push_back(grid_of(layer));
    return grids;
  }

 private:
  HeadKeys keys_of(const LayerTensors& layer) const {
    return head_keys(keys_, *family_, *stack_.names, layer.layer);
  }
  ConfigKeys keys_for(const LayerTensors& layer) const { return keys_of_layer(keys_, layer.layer); }

  /// Sets the heads of the widest layer, from which those of the others follow.
  void find_grid(const LayerTensors& layer) {
    const std::string& weight = layer.query.weight;
    const ConfigKeys keys = keys_for(layer);
    const bool told_width = keys.has(keys_of(layer).width);
    find_key_heads(layer);
    each_layer_ = is_list() || is_list(stack_.names->key_head_count_key) || has_kinds(*family_) ||
                  has_layers(keys_) || (given_heads_ && !told_width);
    const auto width = keys.integer(keys_of(layer).width, kLargestSide);
    grid_.heads = family_->heads_by_width && width && !given_heads_
                      ? shapes_.outputs(weight) / *width
                      : heads_of(layer);
    if (family_->fused() && !given_key_heads_ && !told_width) check_three_parts(weight);
    grid_.head_width = head_width_of(weight, grid_.heads);
    check_told_width(layer, grid_);
  }

  void check_told_width(const LayerTensors& layer, const HeadGrid& grid) const {
    const std::string_view key = keys_of(layer).width;
    const ConfigKeys keys = keys_for(layer);
    const auto told = keys.integer(key, kLargestSide);
    if (!told || *told == grid.head_width) return;
    const std::string message = shapes_.outputs_text(layer.query.weight) + " make " +
                                std::to_string(grid.heads) + " heads of width " +
                                std::to_string(grid.head_width) + ", but '" + keys.path(key) +
                                "' in " + keys_.name() + " is " + std::to_string(*told);
    if (given_heads_)
      throw InvalidArgument("heads", "fit the head width of the model", "the " + message);
    refuse_item(layer.query.weight, "its " + message);
  }

  /// Whether config.json lists the heads of each layer.
  bool is_list() const { return is_list(stack_.names->head_count_key); }
  bool is_list(std::string_view key) const { return keys_.has(element_key(key, 0)); }
  /// The path of a count that holds for a layer: an element of a list, or the key itself.
  std::string key_of_layer(std::string_view key, const LayerTensors& layer) const {
    return is_list(key) ? element_key(key, layer.layer) : std::string(key);
  }

  /// Heads of a layer from the user or the config.
  std::uint64_t heads_of(const LayerTensors& layer) const {
    const std::string key = key_of_layer(keys_of(layer).heads, layer);
    if (given_heads_) {
      if (is_list()) {
        throw InvalidArgument(
            "heads", "be omitted where the model lists the heads of each layer",
            keys_.name() + " has the list '" + keys_.path(stack_.names->head_count_key) + "'");
      }
      const auto given = static_cast<std::uint64_t>(checked(shared::kHeads, *given_heads_));
      const ConfigKeys keys = keys_for(layer);
      const auto told = head_count(keys, key, 0);
      if (told && *told != given) {
        throw InvalidArgument("heads",
                              "be omitted or " + std::to_string(*told) + ", the value of '" +
                                  keys.path(key) + "' in " + keys.name(),
                              "found " + std::to_string(given));
      }
      return given;
    }
    const bool known = part_.unknown.empty();
    const auto told = head_count(keys_for(layer), key, known ? stack_.names->default_heads : 0);
    if (!told) refuse_unknown_count(key);
    return *told;
  }

  /// d_h of `heads` heads along the outputs of `weight`, beside their keys and values in a fused one.
  std::uint64_t head_width_of(const std::string& weight, std::uint64_t heads) const {
    const std::uint64_t parts = family_->gated()   ? 2 * heads
                                : family_->fused() ? heads + 2 * given_key_heads_.value_or(heads)
                                                   : heads;
    if (shapes_.outputs(weight) % parts != 0) refuse_indivisible(weight, heads);
    const std::uint64_t width = shapes_.outputs(weight) / parts;
    if (shapes_.inputs(weight) * width > kMostHeadElements) {
      refuse_item(weight, {"its shape ", shapes_.text(weight), " is too large for ",
                           std::to_string(heads), (heads == 1 ? " head" : " heads")});
    }
    return width;
  }

  /// Key heads from the user, the config or the shapes of separate keys.
  void find_key_heads(const LayerTensors& layer) {
    if (settings_.key_heads) {
      const double given = checked(shared::kKeyHeads, *settings_.key_heads);
      if (given > 0) given_key_heads_ = static_cast<std::uint64_t>(given);
    } else {
      given_key_heads_ =
          key_head_count(keys_for(layer), *family_, key_of_layer(keys_of(layer).key_heads, layer),
                         part_.unknown.empty());
    }
  }

  void check_three_parts(const std::string& weight) const {
    if (shapes_.outputs(weight) == 3 * shapes_.inputs(weight)) return;
    throw InvalidArgument("key_heads",
                          "be given for grouped keys, " + allowed_range(shared::kKeyHeads),
                          "the shape " + shapes_.text(weight) + " of " + shown_name(weight) +
                              " does not hold queries, keys and values of its input's width");
  }

  [[noreturn]] void refuse_unknown_count(const std::string& key) const {
    const std::string lacking = key.empty() ? "a mapping has no head count"
                                : !keys_    ? "there is no config.json with the head count"
                                            : keys_.name() + " has no '" + keys_.path(key) + "'";
    throw InvalidArgument("heads", "be given, " + allowed_range(shared::kHeads) + " for each layer",
                          lacking);
  }

  [[noreturn]] void refuse_indivisible(const std::string& weight, std::uint64_t heads) const {
    std::string message =
        shapes_.outputs_text(weight) + " do not divide into " + std::to_string(heads) + " heads";
    if (family_->fused() && given_key_heads_) {
      message += ", " + std::to_string(*given_key_heads_) + " of keys and as many of values";
    }
    if (given_heads_) {
      throw InvalidArgument("heads", "divide the outputs of the queries",
                            "the " + message + " in " + shown_name(weight));
    }
    refuse_item(weight, {"its ", message, ", which ", keys_.name(), " gives as '",
                         keys_.path(stack_.names->head_count_key), "'"});
  }

  HeadGrid grid_of(const LayerTensors& layer) {
    const std::string& weight = layer.query.weight;
    HeadGrid grid = grid_;
    if (each_layer_) {
      find_key_heads(layer);
      grid.heads = heads_of(layer);
      grid.head_width = head_width_of(weight, grid.heads);
      check_told_width(layer, grid);
    }
    const std::uint64_t width = grid.head_width;
    const auto units = [&](const std::string& name) {
      if (shapes_.outputs(name) % width == 0) return shapes_.outputs(name) / width;
      refuse_item(name, {"its ", shapes_.outputs_text(name), " do not divide into heads of width ",
                         std::to_string(width)});
    };
    if (family_->fused() && each_layer_) {
      grid.key_heads = given_key_heads_.value_or(grid.heads);
    } else if (family_->fused()) {
      const std::uint64_t all = units(weight);
      // Fewer heads than in the widest layer, in the same proportion.
      const std::uint64_t key_heads = given_key_heads_.value_or(grid_.heads);
      const std::uint64_t parts = grid_.heads + 2 * key_heads;
      grid.heads = all * grid_.heads / parts;
      grid.key_heads = all * key_heads / parts;
      if (grid.heads + 2 * grid.key_heads != all) refuse_indivisible(weight, grid_.heads);
    } else {
      check_same_inputs(layer);
      grid.heads = units(weight) / (family_->gated() ? 2 : 1);
      grid.key_heads = layer.key.latent.empty() ? units(layer.key.weight) : grid.heads;
    }
    check_groups(layer, grid);
    return grid;
  }

  void check_same_inputs(const LayerTensors& layer) const {
    const std::string &query = shapes_.reader(layer.query), &key = shapes_.reader(layer.key);
    if (shapes_.inputs(key) == shapes_.inputs(query)) return;
    refuse_item(key, {"its shape ", shapes_.text(key), " differs from ", shapes_.text(query),
                      " of ", shown_name(query)});
  }

  void check_groups(const LayerTensors& layer, const HeadGrid& grid) const {
    const std::string counts =
        std::to_string(grid.heads) + " heads and " + std::to_string(grid.key_heads) + " key heads";
    if (grid.key_heads == 0 || grid.heads % grid.key_heads != 0) {
      refuse_item(layer.key.weight,
                  {"there would be ", counts, ", which do not make equal groups"});
    }
    const bool whole = each_layer_ || grid.heads == grid_.heads;
    if (!whole || !given_key_heads_ || *given_key_heads_ == grid.key_heads) return;
    const std::string message = "its shape " + shapes_.text(layer.key.weight) + " makes " + counts +
                                ", not " + std::to_string(*given_key_heads_);
    if (settings_.key_heads) {
      throw InvalidArgument("key_heads", "fit the keys' shape",
                            shown_name(layer.key.weight) + ": " + message);
    }
    refuse_item(layer.key.weight,
                {message, " as '", keys_of(layer).key_heads, "' in ", keys_.name(), " says"});
  }

  const WeightShapes& shapes_;
  const ConfigKeys& keys_;
  const HeadSettings& settings_;
  const FamilyMatch& part_;
  const std::shared_ptr<const Family> family_;
  const StackMatch& stack_;
  std::optional<int> given_heads_;
  bool each_layer_ =
      false;       // each layer has a separate count of heads, else one head width for all
  HeadGrid grid_;  // of the widest layer; key_heads is not set
  std::optional<std::uint64_t> given_key_heads_;
};

}  // namespace

std::uint64_t WeightShapes::inputs(const std::string& weight) const {
  return checked_weight(file_, weight).shape[family_->inputs_first() ? 0 : 1];
}

std::uint64_t WeightShapes::outputs(const std::string& weight) const {
  return checked_weight(file_, weight).shape[family_->inputs_first() ? 1 : 0];
}

std::string WeightShapes::outputs_text(const std::string& weight) const {
  return std::to_string(outputs(weight)) + (family_->inputs_first() ? " columns" : " rows");
}

HeadKeys head_keys(const ConfigKeys& keys, const Family& family, const AttentionNames& stack,
                   int layer) {
  const bool other = !keys.has(stack.head_count_key) && keys.has(stack.other_head_count_key);
  HeadKeys names{other ? stack.other_head_count_key : stack.head_count_key,
                 stack.key_head_count_key, family.head_width_key, family.text.value_width_key};
  if (!has_kinds(family) || has_layers(keys)) return names;
  const bool local = attention_kind(keys, family.window, layer) == kSlidingAttention;
  const HeadKeys& kind = local ? family.local : family.full;
  for (const auto key :
       {&HeadKeys::heads, &HeadKeys::key_heads, &HeadKeys::width, &HeadKeys::value_width}) {
    if (keys.has(kind.*key)) names.*key = kind.*key;
  }
  // Hugging Face's code then has one count for all layers.
  if (keys.is_off(family.text.keys_as_values_key)) names.key_heads = stack.key_head_count_key;
  return names;
}

ConfigKeys keys_of_layer(const ConfigKeys& keys, int layer) {
  return has_layers(keys) ? keys.in({element_key(kLayerKeys, layer) + ".", ""}) : keys;
}

std::vector<HeadGrid> head_grids(const WeightShapes& shapes, const ConfigKeys& keys,
                                 const HeadSettings& settings, const FamilyMatch& part,
                                 const StackMatch& stack) {
  return GridFinder(shapes, keys, settings, part, stack).grids();
}

}  // namespace eigenscope
