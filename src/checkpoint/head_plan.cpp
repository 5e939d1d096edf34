#include "checkpoint/head_plan.h"

#include <algorithm>
#include <set>
#include <utility>

#include "checkpoint/config_part.h"
#include "checkpoint/head_grid.h"
#include "checkpoint/head_notes.h"
#include "checkpoint/key_guards.h"
#include "checkpoint/logit_scale.h"
#include "checkpoint/rotary_config.h"
#include "checkpoint/tensor_guards.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/words.h"

namespace eigenscope {
namespace {

/// Throws FormatError unless the vector `name`, which belongs to `weight`, has one of the sizes, or is a matrix of that
/// size with a row of width `row` for each head.
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
        shapes_(file, part.family),
        keys_(keys),
        settings_(settings),
        part_(part),
        family_(part.family),
        stack_(stack) {}

  std::vector<LayerPlan> plan() {
    check_layout();
    const std::vector<HeadGrid> grids = head_grids(shapes_, keys_, settings_, part_, stack_);
    if (!part_.unknown.empty()) check_certain();
    if (settings_.fold_gains) check_norms(part_, stack_, keys_);
    std::vector<LayerPlan> plan;
    for (std::size_t k = 0; k < grids.size(); ++k) {
      const LayerTensors& layer = stack_.layers[k];
      const HeadGrid& grid = grids[k];
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
      plan.push_back(
          {family_, foldable(layer), stack_.name, static_cast<int>(shapes_.width_of(layer.query)),
           width, static_cast<int>(grid.heads), static_cast<int>(grid.key_heads), rotary,
           logit_scale_of(grid), knows_logits(), has_same_tokens(layer), is_normed(layer), latent});
    }
    return plan;
  }

 private:
  /// Layout of the heads of a layer with latent attention, from the shapes of its weights. Throws FormatError where
  /// these do not fit each other or config.json.
  LatentPlan latent_of(const LayerTensors& layer, const HeadGrid& grid) const {
    if (layer.key.latent.empty()) return {};
    const auto& [query, key] = std::pair(layer.query, layer.key);
    const auto check = [&](const std::string& weight, bool fits, const std::string& other) {
      if (fits) return;
      refuse_item(weight, {"its shape ", shapes_.text(weight), " does not fit ",
                           shapes_.text(other), " of ", shown_name(other)});
    };
    const std::uint64_t rank = shapes_.inputs(key.weight);
    check(key.weight, shapes_.outputs(key.latent) > rank, key.latent);
    if (!query.latent.empty()) {
      check(query.weight, shapes_.outputs(query.latent) == shapes_.inputs(query.weight),
            query.latent);
    }
    const std::uint64_t turned = shapes_.outputs(key.latent) - rank;
    check(key.latent, turned < grid.head_width, query.weight);
    const std::uint64_t compressed = grid.head_width - turned;
    const std::uint64_t stride = shapes_.outputs(key.weight) / grid.heads;
    check(key.weight, shapes_.outputs(key.weight) % grid.heads == 0 && stride >= compressed,
          query.weight);
    const std::uint64_t query_rank = query.latent.empty() ? 0 : shapes_.inputs(query.weight);
    for (const auto& [name, size] :
         {std::pair("kv_lora_rank", rank), std::pair("qk_rope_head_dim", turned),
          std::pair("qk_nope_head_dim", compressed), std::pair("q_lora_rank", query_rank),
          std::pair("v_head_dim", stride - compressed)}) {
      const auto told = keys_.integer(name, kLargestSide);
      if (told && *told != size) {
        refuse_item(key.weight, {"the shapes of queries and keys make ", std::to_string(size),
                                 " of '", keys_.path(name), "', which is ", std::to_string(*told),
                                 " in ", keys_.name()});
      }
    }
    return {static_cast<int>(compressed), static_cast<int>(stride)};
  }

  void check_vectors(const LayerTensors& layer, const HeadGrid& grid) const {
    const auto check = [&](const ProjectionTensors& projection, std::uint64_t heads) {
      check_vector(file_, projection.bias, projection.weight, {shapes_.outputs(projection.weight)});
      check_vector(file_, projection.gain, projection.weight, {shapes_.width_of(projection)});
      check_vector(file_, projection.input_bias, projection.weight, {shapes_.width_of(projection)});
      check_vector(file_, projection.latent_gain, projection.weight,
                   {shapes_.inputs(projection.weight)});
      check_vector(file_, projection.norm_gain, projection.weight,
                   {grid.head_width, heads * grid.head_width}, grid.head_width);
    };
    check(layer.query, grid.heads);
    check(layer.key, grid.key_heads);
    check_vector(file_, layer.input_gain, layer.query.weight, {shapes_.width_of(layer.query)});
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
    const std::string reason =
        "the tensors have the names of " + std::string(family_->name) + ", but " + part_.unknown;
    const std::string declared =
        "; give `model_type` where the model follows one that is listed in docs/checkpoints.md";
    if (!settings_.offset.is_none()) {
      throw InvalidArgument(
          "offset", "be 0, without an average, where the positions of a model are not known",
          reason + declared);
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
                          reason + declared);
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

  bool has_same_tokens(const LayerTensors& layer) const {
    return layer.key_layer == layer.layer && !stack_.names->cross;
  }

  bool knows_logits() const { return part_.unknown.empty() && part_.unknown_logits.empty(); }

  bool is_normed(const LayerTensors& layer) const {
    const bool before = folds_input_gains() && !layer.query.gain.empty() && !layer.key.gain.empty();
    const std::string_view bare = family_->bare_norms_key;
    // A factor of the inputs multiplies W, and not the biases.
    const bool biased = !layer.query.bias.empty() || !layer.key.bias.empty();
    if (biased && !family_->input_factor_key.empty()) return false;
    return knows_logits() && (before || !layer.input_gain.empty()) &&
           layer.query.norm_gain.empty() && layer.key.norm_gain.empty() &&
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
  const WeightShapes shapes_;
  const ConfigKeys& keys_;
  const HeadSettings& settings_;
  const FamilyMatch& part_;
  const std::shared_ptr<const Family> family_;
  const StackMatch& stack_;
};

/// FamilyMatch::unknown_logits of mapped weights: empty where the model type in `config` is known.
std::string unknown_logits_of(const FamilyMatch& mapped, const Safetensors& file,
                              const Config* config) {
  if (has_unknown_head_norm(mapped, file.tensors())) {
    return "the file has a norm of queries or keys that the mapping does not name";
  }
  for (const char* const key : kTextTypePaths) {
    const auto type = config == nullptr ? std::nullopt : config->text(key);
    if (type && is_known_type(*type)) return {};
  }
  return "a mapping does not say what divides the logits; give the `model_type` of a known model "
         "with the same divisor (of llama it is sqrt(d_h))";
}

/// Refuses a mapping whose gain or scale is not as in the rows of the model type.
void check_mapping(const Mapping& mapping, const Config* config, bool fold_gains) {
  if (config == nullptr) return;
  for (const char* const key : kTextTypePaths) {
    const auto type = config->text(key);
    if (!type) continue;
    for (const Family& family : families()) {
      if (!lists(family.model_types, *type)) continue;
      const std::string declared =
          "'" + std::string(key) + "' in " + config->name() + " is '" + shown_name(*type) + "'";
      if (family.gain_plus_one && fold_gains && !mapping.gain.empty()) {
        throw InvalidArgument("map_gain", "be omitted for a model that stores a gain g as g - 1",
                              declared);
      }
      if (family.unscaled) {
        throw InvalidArgument("map_query",
                              "be omitted for a model whose logits are not divided by sqrt(d_h)",
                              declared);
      }
    }
  }
}

std::vector<FamilyMatch> match(const Safetensors& file, const Config* config,
                               const HeadSettings& settings) {
  if (settings.mapping) {
    check_mapping(*settings.mapping, config, settings.fold_gains);
    FamilyMatch mapped =
        match_tensors(family_of(*settings.mapping), file.tensors(), config, file.name());
    mapped.unknown_logits = unknown_logits_of(mapped, file, config);
    return {std::move(mapped)};
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
    for (const std::string& stack : names) {
      if (!stack.empty()) known += (known.empty() ? "" : ", ") + shown_name(stack);
    }
    throw InvalidArgument(
        "heads",
        "name a stack of " + file +
            (known.empty() ? ", which has one without a name (give the number alone)"
                           : ": " + known),
        "found '" + shown_name(name) + "'");
  }
}

/// Removes the parts whose positions have two axes, so that only offset 0 is defined, with a note for each. Keeps them
/// where all parts are such.
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

/// Checks the gains of the norms of queries and keys.
void check_norm_spans(const Safetensors& file, const AttentionNames& names,
                      const LayerPlan& layer) {
  const auto check = [&](const std::string& gain, int heads) {
    if (gain.empty()) return;
    check_norm_span(file, gain, *layer.family, names, static_cast<std::uint64_t>(heads),
                    static_cast<std::uint64_t>(layer.head_width));
  };
  check(layer.tensors.query.norm_gain, layer.heads);
  check(layer.tensors.key.norm_gain, layer.key_heads);
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
  const std::vector<std::string> notes =
      head_notes(parts, file, config, settings.mapping.has_value());
  plan.notes.insert(plan.notes.end(), notes.begin(), notes.end());
  for (const FamilyMatch& part : parts) {
    const bool gains =
        settings.fold_gains && (!settings.mapping || !settings.mapping->gain.empty());
    Claims claims{gains, !settings.offset.is_none(), part.unknown.empty()};
    for (const StackMatch& stack : part.stacks) {
      const ConfigKeys keys = part_keys(config, stack.part, !part.is_other);
      check_keys(keys, {*part.family, stack, 0}, {false, false, false});
      const std::size_t first = plan.layers.size();
      for (LayerPlan& layer : StackPlanner(file, keys, settings, part, stack).plan()) {
        claims.turns |= layer.rotary.logit_factor != 1;
        plan.layers.push_back(std::move(layer));
      }
      const auto width = static_cast<std::uint64_t>(plan.layers.back().head_width);
      check_keys(keys, {*part.family, stack, width}, claims);
      for (std::size_t i = first; part.unknown.empty() && i < plan.layers.size(); ++i) {
        check_norm_spans(file, *stack.names, plan.layers[i]);
      }
    }
    check_tensors(part, file.tensors(), claims);
  }
  const auto has_others = [](const LayerPlan& layer) { return !layer.same_tokens; };
  if (std::any_of(plan.layers.begin(), plan.layers.end(), has_others)) {
    plan.notes.push_back(
        "localization and rho_mean are null for heads whose keys are made of tokens of another "
        "layer or stack, as the theory has one set of tokens");
  }
  return plan;
}

}  // namespace eigenscope
