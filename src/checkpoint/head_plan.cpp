#include "checkpoint/head_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "checkpoint/attention_window.h"
#include "checkpoint/config_part.h"
#include "checkpoint/conventions.h"
#include "checkpoint/logit_scale.h"
#include "checkpoint/quantization.h"
#include "checkpoint/rotary_config.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/words.h"

namespace eigenscope {
namespace {

// Of one head, 512 MiB of double: more is a wrong head count rather than a head.
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

/// A vector that goes with `weight`, of one of the sizes, or one of the width `row` for each head.
void check_vector(const Safetensors& file, const std::string& name, const std::string& weight,
                  std::initializer_list<std::uint64_t> sizes, std::uint64_t row = 0) {
  if (name.empty()) return;
  const TensorInfo& info = file.tensor(name);
  const bool each = info.shape.size() == 2 && info.shape[1] == row;
  const std::uint64_t size = each ? info.shape[0] * row : info.shape.empty() ? 0 : info.shape[0];
  const bool fits = (info.shape.size() == 1 || each) && is_decodable(info.dtype) &&
                    std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  if (!fits) {
    refuse_item(name,
                {"its shape ", shape_text(info), " of ", dtype_name(info.dtype), " does not fit ",
                 shape_text(file.tensor(weight)), " of ", shown_name(weight)});
  }
}

class StackPlanner {
 public:
  StackPlanner(const Safetensors& file, const ConfigKeys& keys, const HeadSettings& settings,
               const FamilyMatch& part, const StackMatch& stack)
      : file_(file),
        keys_(keys),
        settings_(settings),
        part_(part),
        family_(part.family),
        stack_(stack) {
    const auto given = settings.stack_heads.find(stack.name);
    given_heads_ = given == settings.stack_heads.end() ? settings.heads : given->second;
    unknown_norms_ = settings.mapping && has_unknown_head_norm(part, file.tensors());
  }

  std::vector<LayerPlan> plan() {
    check_layout();
    const LayerTensors& widest = *std::max_element(
        stack_.layers.begin(), stack_.layers.end(), [&](const auto& a, const auto& b) {
          return outputs(a.query.weight) < outputs(b.query.weight);
        });
    find_grid(widest);
    if (!given_heads_) {
      const ProjectionTensors& first = stack_.layers.front().query;
      check_width(keys_, family_->width_key, reader(first), width_of(first));
    }
    if (!part_.unknown.empty()) check_certain();
    if (settings_.fold_gains) check_norms(part_, stack_, keys_);
    std::vector<LayerPlan> plan;
    for (const LayerTensors& layer : stack_.layers) {
      const HeadGrid grid = grid_of(layer);
      check_vectors(layer, grid);
      LatentPlan latent = latent_of(layer, grid);
      const auto width = static_cast<int>(grid.head_width);
      const Rotary rotary = rotary_of_layer(layer.layer, width - latent.compressed);
      if (stack_.names->turned_before_norms && settings_.fold_gains) {
        check_turned_gains(layer, rotary);
      }
      if (family_->latent() && layer.key.latent.empty()) {
        latent = {width - static_cast<int>(rotary.turned), width};
      }
      plan.push_back({family_, foldable(layer), stack_.name,
                      static_cast<int>(width_of(layer.query)), width, static_cast<int>(grid.heads),
                      static_cast<int>(grid.key_heads), rotary, logit_scale_of(grid),
                      part_.unknown.empty(), is_normed(layer), latent});
    }
    return plan;
  }

 private:
  std::uint64_t inputs(const std::string& weight) const {
    return checked_weight(file_, weight).shape[family_->inputs_first() ? 0 : 1];
  }
  std::uint64_t outputs(const std::string& weight) const {
    return checked_weight(file_, weight).shape[family_->inputs_first() ? 1 : 0];
  }
  /// The weight that reads the tokens.
  static const std::string& reader(const ProjectionTensors& projection) {
    return projection.latent.empty() ? projection.weight : projection.latent;
  }
  std::uint64_t width_of(const ProjectionTensors& projection) const {
    return inputs(reader(projection));
  }
  std::string outputs_text(const std::string& weight) const {
    return std::to_string(outputs(weight)) + (family_->inputs_first() ? " columns" : " rows");
  }
  std::string shape(const std::string& weight) const { return shape_text(file_.tensor(weight)); }

  /// The keys of config.json for the heads of a layer, by its kind of attention.
  HeadKeys keys_of(const LayerTensors& layer) const {
    HeadKeys keys{stack_.names->head_count_key, stack_.names->key_head_count_key,
                  family_->head_width_key};
    if (!has_kinds() || has_layers()) return keys;
    const bool local = attention_kind(keys_, family_->window, layer.layer) == kSlidingAttention;
    const HeadKeys& kind = local ? family_->local : family_->full;
    for (const auto key : {&HeadKeys::heads, &HeadKeys::key_heads, &HeadKeys::width}) {
      if (keys_.has(kind.*key)) keys.*key = kind.*key;
    }
    return keys;
  }
  /// Whether config.json has keys of its own for some layers, in place of those for kinds of attention.
  bool has_layers() const { return keys_.has(kLayerKeys); }
  ConfigKeys keys_for(const LayerTensors& layer) const {
    if (!has_layers()) return keys_;
    return keys_.in({element_key(kLayerKeys, layer.layer) + ".", ""});
  }
  bool has_kinds() const { return !family_->local.width.empty() || !family_->full.width.empty(); }

  /// The heads of the widest layer, on which the others are measured.
  void find_grid(const LayerTensors& layer) {
    const std::string& weight = layer.query.weight;
    const ConfigKeys own = keys_for(layer);
    const bool told_width = own.has(keys_of(layer).width);
    find_key_heads(layer);
    each_layer_ = is_list() || has_kinds() || has_layers() || (given_heads_ && !told_width);
    const auto width = own.integer(keys_of(layer).width, kLargestSide);
    grid_.heads = family_->heads_by_width && width && !given_heads_ ? outputs(weight) / *width
                                                                    : heads_of(layer);
    if (family_->fused() && !given_key_heads_ && !told_width) check_three_parts(weight);
    grid_.head_width = head_width_of(weight, grid_.heads);
    check_told_width(layer, grid_);
  }

  void check_told_width(const LayerTensors& layer, const HeadGrid& grid) const {
    const std::string_view key = keys_of(layer).width;
    const ConfigKeys own = keys_for(layer);
    const auto told = own.integer(key, kLargestSide);
    if (!told || *told == grid.head_width) return;
    const std::string message = outputs_text(layer.query.weight) + " make " +
                                std::to_string(grid.heads) + " heads of width " +
                                std::to_string(grid.head_width) + ", but '" + own.path(key) +
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
      const ConfigKeys own = keys_for(layer);
      const auto told = head_count(own, key, 0);
      if (told && *told != given) {
        throw InvalidArgument("heads",
                              "be omitted or " + std::to_string(*told) + ", the value of '" +
                                  own.path(key) + "' in " + own.name(),
                              "found " + std::to_string(given));
      }
      return given;
    }
    const bool known = part_.unknown.empty();
    const auto told = head_count(keys_for(layer), key, known ? stack_.names->default_heads : 0);
    if (!told) refuse_unknown_count(key);
    return *told;
  }

  /// The width of `heads` heads that share the outputs of a weight, and those of keys and values in a
  /// fused one.
  std::uint64_t head_width_of(const std::string& weight, std::uint64_t heads) const {
    const std::uint64_t parts = family_->gated()   ? 2 * heads
                                : family_->fused() ? heads + 2 * given_key_heads_.value_or(heads)
                                                   : heads;
    if (outputs(weight) % parts != 0) refuse_indivisible(weight, heads);
    const std::uint64_t width = outputs(weight) / parts;
    if (inputs(weight) * width > kMostHeadElements) {
      refuse_item(weight, {"its shape ", shape(weight), " is too large for ", std::to_string(heads),
                           (heads == 1 ? " head" : " heads")});
    }
    return width;
  }

  /// Key heads from the user, the config or the shapes of separate keys.
  void find_key_heads(const LayerTensors& layer) {
    if (settings_.key_heads) {
      const double given = checked(shared::kKeyHeads, *settings_.key_heads);
      if (given > 0) given_key_heads_ = static_cast<std::uint64_t>(given);
    } else {
      const std::string_view grouped = family_->grouped_key_heads_key;
      const bool is_grouped = keys_.flag(grouped).value_or(false);
      if (grouped.empty() || is_grouped) {
        const std::string key = key_of_layer(keys_of(layer).key_heads, layer);
        given_key_heads_ = head_count(keys_for(layer), key, 0);
      }
      const std::string_view single = family_->single_key_head_key;
      if (!given_key_heads_ && !single.empty() && part_.unknown.empty() && !is_grouped &&
          !keys_.is_off(single)) {
        given_key_heads_ = 1;
      }
    }
  }

  void check_three_parts(const std::string& weight) const {
    if (outputs(weight) == 3 * inputs(weight)) return;
    throw InvalidArgument("key_heads",
                          "be given for grouped keys, " + allowed_range(shared::kKeyHeads),
                          "the shape " + shape(weight) + " of " + shown_name(weight) +
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
        outputs_text(weight) + " do not divide into " + std::to_string(heads) + " heads";
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
      if (outputs(name) % width == 0) return outputs(name) / width;
      refuse_item(name, {"its ", outputs_text(name), " do not divide into heads of width ",
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
    const std::string &query = reader(layer.query), &key = reader(layer.key);
    if (inputs(key) == inputs(query)) return;
    refuse_item(
        key, {"its shape ", shape(key), " differs from ", shape(query), " of ", shown_name(query)});
  }

  /// How the heads of a layer of latent attention lie, by the shapes of its weights, which must be those that
  /// config.json has.
  LatentPlan latent_of(const LayerTensors& layer, const HeadGrid& grid) const {
    if (layer.key.latent.empty()) return {};
    const auto& [query, key] = std::pair(layer.query, layer.key);
    const auto check = [&](const std::string& weight, bool fits, const std::string& other) {
      if (fits) return;
      refuse_item(weight, {"its shape ", shape(weight), " does not fit ", shape(other), " of ",
                           shown_name(other)});
    };
    const std::uint64_t rank = inputs(key.weight);
    check(key.weight, outputs(key.latent) > rank, key.latent);
    if (!query.latent.empty()) {
      check(query.weight, outputs(query.latent) == inputs(query.weight), query.latent);
    }
    const std::uint64_t turned = outputs(key.latent) - rank;
    check(key.latent, turned < grid.head_width, query.weight);
    const std::uint64_t compressed = grid.head_width - turned;
    const std::uint64_t stride = outputs(key.weight) / grid.heads;
    check(key.weight, outputs(key.weight) % grid.heads == 0 && stride >= compressed, query.weight);
    const std::uint64_t query_rank = query.latent.empty() ? 0 : inputs(query.weight);
    for (const auto& [name, found] :
         {std::pair("kv_lora_rank", rank), std::pair("qk_rope_head_dim", turned),
          std::pair("qk_nope_head_dim", compressed), std::pair("q_lora_rank", query_rank),
          std::pair("v_head_dim", stride - compressed)}) {
      const auto told = keys_.integer(name, kLargestSide);
      if (told && *told != found) {
        refuse_item(key.weight, {"the shapes of queries and keys make ", std::to_string(found),
                                 " of '", keys_.path(name), "', which is ", std::to_string(*told),
                                 " in ", keys_.name()});
      }
    }
    return {static_cast<int>(compressed), static_cast<int>(stride)};
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
    const std::string message = "its shape " + shape(layer.key.weight) + " makes " + counts +
                                ", not " + std::to_string(*given_key_heads_);
    if (settings_.key_heads) {
      throw InvalidArgument("key_heads", "fit the keys' shape",
                            shown_name(layer.key.weight) + ": " + message);
    }
    refuse_item(layer.key.weight,
                {message, " as '", keys_of(layer).key_heads, "' in ", keys_.name(), " says"});
  }

  void check_vectors(const LayerTensors& layer, const HeadGrid& grid) const {
    const auto check = [&](const ProjectionTensors& projection, std::uint64_t heads) {
      check_vector(file_, projection.bias, projection.weight, {outputs(projection.weight)});
      check_vector(file_, projection.gain, projection.weight, {width_of(projection)});
      check_vector(file_, projection.input_bias, projection.weight, {width_of(projection)});
      check_vector(file_, projection.latent_gain, projection.weight, {inputs(projection.weight)});
      check_vector(file_, projection.norm_gain, projection.weight,
                   {grid.head_width, heads * grid.head_width}, grid.head_width);
    };
    check(layer.query, grid.heads);
    check(layer.key, grid.key_heads);
    check_vector(file_, layer.input_gain, layer.query.weight, {width_of(layer.query)});
    check_vector(file_, layer.sinks, layer.query.weight, {grid.heads});
  }

  /// Refuses norms after the rotation R: the logits of positions m and n would have R(m)^T diag(g_q g_k) R(n), which
  /// depends on m and n and not on m - n alone, as R commutes with equal gains of each pair only.
  static void check_turned_gains(const LayerTensors& layer, const Rotary& rotary) {
    const std::string& name = layer.query.norm_gain;
    if (name.empty() || rotary.pairs == RotaryPairs::kNone) return;
    refuse_item(name,
                "queries and keys must not turn before this norm, with whose gains W would "
                "depend on their positions, not on the offset alone; without folded gains "
                "all norms are left out");
  }

  /// Refuses one tensor of queries and keys whose rows may be in another order.
  void check_layout() const {
    if (part_.unknown.empty() || !family_->fused()) return;
    if (family_->layout_by_shape && !part_.typed) return;
    refuse_item(stack_.layers.front().query.weight,
                {"the order of queries, keys and values in one tensor must be known: it has the "
                 "name of ",
                 family_->name, ", but ", part_.unknown,
                 "; give --model-type where the model follows one that is listed in "
                 "docs/checkpoints.md, or --map-query with --map-layout"});
  }

  /// Refuses settings whose W depends on conventions that are not known.
  void check_certain() const {
    const std::string found =
        "the tensors have the names of " + std::string(family_->name) + ", but " + part_.unknown;
    const std::string declared =
        "; give `model_type` where the model follows one that is listed in docs/checkpoints.md";
    if (!settings_.offset.is_none()) {
      throw InvalidArgument(
          "offset", "be 0, without an average, where the positions of a model are not known",
          found + declared);
    }
    const auto is_plain = [](const LayerTensors& layer) {
      return layer.query.gain.empty() && layer.key.gain.empty() && layer.query.norm_gain.empty() &&
             layer.key.norm_gain.empty();
    };
    if (!settings_.fold_gains ||
        std::all_of(stack_.layers.begin(), stack_.layers.end(), is_plain)) {
      return;
    }
    throw InvalidArgument("fold_gains",
                          "be no, for the spectrum of the stored weights, where the norms of a "
                          "model are not known",
                          found + declared);
  }

  double logit_scale_of(const HeadGrid& grid) const {
    if (!part_.unknown.empty()) return 1;
    return logit_scale(keys_, *family_, static_cast<Eigen::Index>(grid.head_width));
  }

  /// `width`: the coordinates of a head that may turn.
  Rotary rotary_of_layer(int layer, Eigen::Index width) const {
    // At offset 0 a scaling would only change the scale.
    if (!part_.unknown.empty()) return {stack_.names->rotary};
    return rotary_of(keys_, *family_, stack_.names->rotary, width, layer, settings_.offset);
  }

  bool folds_input_gains() const { return settings_.fold_gains && is_pre_norm(*family_, keys_); }

  bool is_normed(const LayerTensors& layer) const {
    const bool before = folds_input_gains() && !layer.query.gain.empty() && !layer.key.gain.empty();
    const std::string_view bare = family_->bare_norms_key;
    // Such a factor multiplies W, and not the biases.
    const bool biased = !layer.query.bias.empty() || !layer.key.bias.empty();
    if (biased && !family_->input_factor_key.empty()) return false;
    return part_.unknown.empty() && (before || !layer.input_gain.empty()) &&
           layer.query.norm_gain.empty() && layer.key.norm_gain.empty() && !unknown_norms_ &&
           (bare.empty() || keys_.is_off(bare));
  }

  LayerTensors foldable(LayerTensors layer) const {
    for (ProjectionTensors* const projection : {&layer.query, &layer.key}) {
      if (!folds_input_gains()) projection->gain.clear();
      if (settings_.fold_gains) continue;
      projection->norm_gain.clear();
      projection->latent_gain.clear();
    }
    return layer;
  }

  const Safetensors& file_;
  const ConfigKeys& keys_;
  const HeadSettings& settings_;
  const FamilyMatch& part_;
  const std::shared_ptr<const Family> family_;
  const StackMatch& stack_;
  std::optional<int> given_heads_;
  bool unknown_norms_ = false;  // of queries or keys, which a mapping does not name
  bool each_layer_ =
      false;       // each layer has a count of heads of its own, else one head width for all
  HeadGrid grid_;  // of the widest layer; key_heads is not set
  std::optional<std::uint64_t> given_key_heads_;
};

/// Refuses a mapping whose gain or scale is not as in the rows of the model type.
void check_mapping(const Mapping& mapping, const Config* config, bool fold_gains) {
  if (config == nullptr) return;
  for (const char* const key : {"model_type", "text_config.model_type"}) {
    const auto type = config->text(key);
    if (!type) continue;
    for (const Family& family : families()) {
      if (!lists(family.model_types, *type)) continue;
      const std::string found =
          "'" + std::string(key) + "' in " + config->name() + " is '" + shown_name(*type) + "'";
      if (family.gain_plus_one && fold_gains && !mapping.gain.empty()) {
        throw InvalidArgument("map_gain", "be omitted for a model that stores a gain g as g - 1",
                              found);
      }
      if (family.unscaled) {
        throw InvalidArgument(
            "map_query", "be omitted for a model whose logits are not divided by sqrt(d_h)", found);
      }
    }
  }
}

std::vector<FamilyMatch> match(const Safetensors& file, const Config* config,
                               const HeadSettings& settings) {
  if (settings.mapping) {
    check_mapping(*settings.mapping, config, settings.fold_gains);
    return {match_tensors(family_of(*settings.mapping), file.tensors(), config, file.name())};
  }
  return match_families(file.tensors(), config, file.name());
}

/// Refuses counts for stacks that the model does not have.
void check_stacks(const std::vector<FamilyMatch>& parts, const HeadSettings& settings,
                  const std::string& file) {
  std::set<std::string> names;
  for (const FamilyMatch& part : parts) {
    for (const StackMatch& stack : part.stacks) names.insert(stack.name);
  }
  for (const auto& [name, count] : settings.stack_heads) {
    if (names.contains(name)) continue;
    std::string known;
    for (const std::string& own : names) {
      if (!own.empty()) known += (known.empty() ? "" : ", ") + shown_name(own);
    }
    throw InvalidArgument(
        "heads",
        "name a stack of " + file +
            (known.empty() ? ", which has one without a name (give the number alone)"
                           : ": " + known),
        "found '" + shown_name(name) + "'");
  }
}

/// "layers 0-3, 7", "layer 7".
std::string layers_text(const std::set<int>& layers) {
  std::string text;
  for (auto at = layers.begin(); at != layers.end();) {
    const int first = *at;
    int last = first;
    for (++at; at != layers.end() && *at == last + 1; ++at) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(first) +
            (last == first ? "" : "-" + std::to_string(last));
  }
  return (layers.size() == 1 ? "layer " : "layers ") + text;
}

/// The layers of a match's file, by what comes before their numbers, that have no queries and keys, such as those of
/// a state space: a note for each.
void note_other_layers(const FamilyMatch& part, const Safetensors& file,
                       std::vector<std::string>& notes) {
  std::map<std::string, std::set<int>> attending;
  for (const StackMatch& stack : part.stacks) {
    const std::string_view query = stack.names->query_weight;
    std::set<int>& layers =
        attending[part.prefix + std::string(query.substr(0, query.find("{n}")))];
    for (const LayerTensors& layer : stack.layers) layers.insert(layer.layer);
    for (const LayerTensors& layer : stack.beyond) layers.insert(layer.layer);
  }
  for (const auto& [before, layers] : attending) {
    std::set<int> others;
    std::string first_tensor;
    for (auto at = file.tensors().lower_bound(before);
         at != file.tensors().end() && at->first.starts_with(before); ++at) {
      const auto layer = layer_after(at->first, before.size());
      if (!layer || layers.contains(*layer)) continue;
      if (others.empty() || *layer < *others.begin()) first_tensor = at->first;
      others.insert(*layer);
    }
    if (others.empty()) continue;
    notes.push_back(layers_text(others) + ", such as with '" + shown_name(first_tensor) +
                    "', without the queries and keys of the family " +
                    std::string(part.family->name) + (others.size() == 1 ? " is" : " are") +
                    " left out");
  }
}

/// The layers that config.json counts and of which the file has no tensor, as a part of a model has; empty without any.
std::string note_of_absent(const FamilyMatch& part, const StackMatch& stack, const ConfigKeys& keys,
                           const Safetensors& file) {
  const std::string_view query = stack.names->query_weight, key = stack.names->layer_count_key;
  const std::size_t mark = query.find("{n}");
  const auto count = keys.integer(key, kMostLayers);
  if (!count || mark == std::string_view::npos) return {};
  std::set<int> absent;
  for (int layer = 0; layer < static_cast<int>(*count); ++layer) {
    absent.insert(absent.end(), layer);
  }
  const std::string before = part.prefix + std::string(query.substr(0, mark));
  for (auto at = file.tensors().lower_bound(before);
       at != file.tensors().end() && at->first.starts_with(before); ++at) {
    if (const auto layer = layer_after(at->first, before.size())) absent.erase(*layer);
  }
  if (absent.empty()) return {};
  return layers_text(absent) + " of the " + std::to_string(*count) + " that '" + keys.path(key) +
         "' counts " + (absent.size() == 1 ? "is" : "are") + " not in the file";
}

/// Which stacks of the file are not read.
std::string note_of_left_out(const FamilyMatch& part) {
  std::string names;
  for (const std::string& prefix : part.left_out) {
    names += (names.empty() ? "'" : ", '") +
             shown_name(prefix.substr(0, prefix.find_last_of('.'))) + "'";
  }
  return "other stacks of the file are left out; --stack selects one: " + names;
}

/// Removes the parts that have no offset but 0, as positions have two axes there, beside others that have, with a note
/// for each.
void leave_out_two_axes(std::vector<FamilyMatch>& parts, std::vector<std::string>& notes) {
  const auto has_two = [](const FamilyMatch& part) { return part.family->rotary.two_axes; };
  if (std::all_of(parts.begin(), parts.end(), has_two)) return;
  for (const FamilyMatch& part : parts) {
    if (!has_two(part)) continue;
    notes.push_back("heads of the family " + std::string(part.family->name) +
                    " are left out, as positions on two axes have no offset but 0");
  }
  std::erase_if(parts, has_two);
}

std::string note_of_beyond(const StackMatch& stack) {
  const std::size_t count = stack.beyond.size();
  return std::to_string(count) + (count == 1 ? " layer" : " layers") + " of the file beyond '" +
         std::string(stack.names->layer_count_key) +
         "' in config.json are left out, as the model does not run them";
}

std::string note_of_unknown(const FamilyMatch& part) {
  return "the conventions of the model are not known: " + part.unknown +
         "; W is W_Q W_K^T of the stored weights, and what depends on the scale of the logits "
         "(localization, rho_mean, logit_bound) is null";
}

}  // namespace

HeadPlan plan_heads(const Safetensors& file, const Config* config, const HeadSettings& settings) {
  checked(shared::kOffset, settings.offset.offset);
  if (settings.offset.average > 0) {
    checked(shared::kLength, static_cast<double>(settings.offset.average));
  }
  if (settings.mapping && !settings.offset.is_none()) {
    throw InvalidArgument("offset", "be 0, without an average, for weights that a mapping names",
                          "their rotary positions are not known");
  }
  HeadPlan plan;
  std::vector<FamilyMatch> parts = match(file, config, settings);
  check_stacks(parts, settings, file.name());
  if (parts.size() == 1 && parts[0].stacks.size() == 1 &&
      parts[0].family->text.embedding_projection.empty()) {
    plan.embeddings = parts[0].embeddings;
  }
  if (!settings.offset.is_none()) leave_out_two_axes(parts, plan.notes);
  const auto mtp = file.tensors().lower_bound("mtp.");
  if (!settings.mapping && mtp != file.tensors().end() && mtp->first.starts_with("mtp.")) {
    plan.notes.push_back("layers for multi-token prediction ('mtp.') are left out");
  }
  for (const FamilyMatch& part : parts) {
    if (!part.left_out.empty()) plan.notes.push_back(note_of_left_out(part));
    if (!settings.mapping) note_other_layers(part, file, plan.notes);
    const bool gains =
        settings.fold_gains && (!settings.mapping || !settings.mapping->gain.empty());
    Claims claims{gains, !settings.offset.is_none(), part.unknown.empty()};
    for (const StackMatch& stack : part.stacks) {
      const ConfigKeys keys = part_keys(config, stack.part, !part.is_other);
      check_keys(keys, {*part.family, stack, 0}, {false, false, false});
      for (LayerPlan& layer : StackPlanner(file, keys, settings, part, stack).plan()) {
        claims.turns |= layer.rotary.logit_factor != 1;
        plan.layers.push_back(std::move(layer));
      }
      const auto width = static_cast<std::uint64_t>(plan.layers.back().head_width);
      check_keys(keys, {*part.family, stack, width}, claims);
      if (!stack.beyond.empty()) plan.notes.push_back(note_of_beyond(stack));
      if (settings.mapping) continue;
      const std::string absent = note_of_absent(part, stack, keys, file);
      if (!absent.empty()) plan.notes.push_back(absent);
    }
    check_tensors(part, file.tensors(), claims);
    if (part.stacks.front().names->query_weight.ends_with(".original")) {
      plan.notes.push_back("adapters of tasks are left out: weights are those of no task");
    }
    if (!part.unknown.empty()) plan.notes.push_back(note_of_unknown(part));
  }
  return plan;
}

}  // namespace eigenscope
