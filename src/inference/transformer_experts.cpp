// The MLP of a layer, or the experts and their router in its place.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "inference/transformer.h"
#include "io/json_events.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXf;

/// Takes the gate out of `up`, which has both.
void divide_gate(GateRows rows, StoredMlp& mlp) {
  if (rows == GateRows::separate) return;
  const Index hidden = mlp.up.outputs() / 2, step = rows == GateRows::alternate ? 2 : 1;
  const Index second = step == 1 ? hidden : 1;
  const bool gate_first = rows != GateRows::up_first;
  mlp.gate = mlp.up.part(gate_first ? 0 : second, hidden, step);
  mlp.up = mlp.up.part(gate_first ? second : 0, hidden, step);
}

}  // namespace

StoredMlp Transformer::mlp(const MlpNames& names, int layer, Index width) const {
  const Index hidden = sides(names.down, layer)[0];
  StoredMlp mlp;
  mlp.up =
      linear(names.up, layer, names.gate_rows == GateRows::separate ? hidden : 2 * hidden, width);
  if (!names.gate.empty()) mlp.gate = linear(names.gate, layer, hidden, width);
  divide_gate(names.gate_rows, mlp);
  mlp.down = linear(names.down, layer, width, hidden);
  return mlp;
}

StoredMlp Transformer::stacked_mlp(int layer, Index expert, Index width) const {
  const ExpertNames& names = this->names().experts;
  const auto stacked = [&](std::string_view pattern, Index out, Index in) {
    std::string name = full_name(pattern, layer);
    const std::string bias = name + "_bias", blocks = name + "_blocks";
    const bool has_blocks = tensors_->tensors().contains(blocks);
    const bool inputs_first = names.inputs_first && !has_blocks;
    if (has_blocks) name = blocks;
    if (in == 0) in = stacked_shape(*tensors_, name)[inputs_first ? 1 : 2];
    StoredLinear map(tensors_, name, out, in, {expert, inputs_first});
    if (!tensors_->tensors().contains(bias)) return map;
    const TensorInfo& info = tensors_->tensor(bias);
    const auto rows = static_cast<std::uint64_t>(out);
    if (info.shape.size() != 2 || info.shape[0] <= static_cast<std::uint64_t>(expert) ||
        info.shape[1] != rows) {
      refuse_item(bias, {"its shape ", shape_text(info), " must be the number of experts and ",
                         std::to_string(rows)});
    }
    VectorXf values(out);
    read_finite(*tensors_, bias, expert * out, values.data(), out);
    map.set_bias(std::move(values));
    return map;
  };
  StoredMlp mlp;
  const auto& [gate, up, down, gate_rows] = names.stacked;
  mlp.down = stacked(down, width, 0);
  const Index hidden = mlp.down.inputs();
  mlp.up = stacked(up, gate_rows == GateRows::separate ? hidden : 2 * hidden, width);
  if (!gate.empty()) mlp.gate = stacked(gate, hidden, width);
  divide_gate(gate_rows, mlp);
  return mlp;
}

std::string Transformer::of_expert(std::string_view pattern, Index expert) {
  constexpr std::string_view kMark = "{e}";
  std::string name(pattern);
  const std::size_t mark = name.find(kMark);
  return mark == name.npos ? name : name.replace(mark, kMark.size(), std::to_string(expert));
}

StoredMixture Transformer::mixture(int layer) const {
  const ExpertNames& names = this->names().experts;
  const Index experts = sides(names.router.weight, layer)[1];
  const Index best = experts / router_.groups * router_.best_groups;
  if (experts % router_.groups != 0 || best > experts || router_.chosen > best) {
    refuse_item(
        full_name(names.router.weight, layer),
        {"its ", std::to_string(experts), " experts must make ", std::to_string(router_.groups),
         " groups of one size, of which ", std::to_string(router_.best_groups), " must have the ",
         std::to_string(router_.chosen), " experts of a token"});
  }
  StoredMixture mixture;
  mixture.router.rules = router_;
  mixture.router.scores = linear(names.router.weight, layer, experts, width_).read();
  if (router_.corrected) {
    mixture.router.correction = read_flat(names.router.correction, layer, experts);
  }
  Index width = width_;
  if (has(names.latent_input, layer)) {
    width = sides(names.latent_input, layer)[1];
    mixture.latent_input = linear(names.latent_input, layer, width, width_).read();
    mixture.latent_output = linear(names.latent_output, layer, width_, width).read();
  }
  const std::string first = of_expert(names.each.down, 0);
  refuse_both(names.stacked.down, first, layer);
  const bool is_stacked = !names.stacked.down.empty() && !has(first, layer);
  for (Index expert = 0; expert < experts; ++expert) {
    if (is_stacked) {
      mixture.experts.push_back(stacked_mlp(layer, expert, width));
      continue;
    }
    const std::string gate = of_expert(names.each.gate, expert),
                      up = of_expert(names.each.up, expert),
                      down = of_expert(names.each.down, expert);
    mixture.experts.push_back(mlp({gate, up, down}, layer, width));
  }
  if (!names.router.input_gain.empty()) {
    mixture.router.input_norm = read_norm(names.router.input_gain, layer);
    mixture.router.input_norm.gain /= std::sqrt(static_cast<float>(width_));
  }
  if (!names.router.expert_scale.empty()) {
    mixture.router.scale = read_bias(full_name(names.router.expert_scale, layer), experts);
  }
  mixture.input_norm = read_norm(names.input_norm, layer);
  mixture.output_norm = read_norm(names.output_norm, layer);
  mixture.shared_output_norm = read_norm(names.shared_output_norm, layer);
  if (names.shared.down.empty() || !has_shared_expert_) return mixture;
  mixture.experts.push_back(mlp(names.shared, layer, width_));
  mixture.router.shared = true;
  if (!names.shared_gate.empty()) {
    mixture.router.shared_gate = linear(names.shared_gate, layer, 1, width_).read();
  }
  return mixture;
}

bool Transformer::has_mixture(int layer) const { return has(names().experts.router.weight, layer); }

bool Transformer::has_mixtures() const {
  int layer = 0;
  while (layer < layers_ && !has_mixture(layer)) ++layer;
  return layer < layers_;
}

void Transformer::read_router(const ConfigKeys& keys) {
  const RouterNames& router = names().experts.router;
  check_mixtures(keys);
  const std::string_view shared = names().experts.shared_count_key;
  has_shared_expert_ = keys.number(shared, 0, kLargestSide).value_or(1) > 0;
  for (int layer = 0; layer < layers_; ++layer) {
    if (!has_mixture(layer)) continue;
    if (!has_shared_expert_ && has(names().experts.shared.down, layer)) {
      refuse_item(
          full_name(names().experts.shared.down, layer),
          {"it must not be there where '", keys.path(shared), "' in ", keys.name(), " is 0"});
    }
    const Index experts = sides(router.weight, layer)[1];
    for (const char* const key :
         {"num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"}) {
      check_count(keys, key, experts);
    }
    const bool has_correction = !router.correction.empty() &&
                                (!router.optional_correction ||
                                 tensors_->tensors().contains(full_name(router.correction, layer)));
    router_ = router_rules(router, keys, has_correction);
    return;
  }
}

void Transformer::check_mixtures(const ConfigKeys& keys) const {
  const RouterNames& router = names().experts.router;
  const auto number = [&](const char* key, int usual) {
    return static_cast<int>(keys.number(key, 0, kMostLayers).value_or(usual));
  };
  // The first layer with experts, and which of those from it on have some.
  for (const auto& [first_key, step_key] : {std::pair("first_k_dense_replace", "moe_layer_freq"),
                                            {"num_dense_layers", ""},
                                            {"moe_layer_start_index", "moe_layer_interval"}}) {
    if (router.weight.empty() || !keys.has(first_key)) continue;
    const bool counts_from_one = std::string_view(step_key) == "moe_layer_interval";
    const bool listed = keys.has(element_key(step_key, 0));
    const int first = number(first_key, 0), step = listed ? 1 : std::max(1, number(step_key, 1));
    const int last = counts_from_one ? number("moe_layer_end_index", kMostLayers) : kMostLayers;
    for (int layer = 0; layer < layers_; ++layer) {
      const bool told =
          layer >= first && layer <= last && (layer + (counts_from_one ? 1 : 0)) % step == 0;
      if (!is_skipped(layer)) {
        check_told(keys, first_key, layer, told, has_mixture(layer), "experts");
      }
    }
  }
  // Or a list with 1 for each layer that has some.
  for (int layer = 0; !router.weight.empty() && layer < layers_; ++layer) {
    const std::string key = element_key("moe_layer_freq", layer);
    if (!keys.has(key) || is_skipped(layer)) continue;
    check_told(keys, key, layer, keys.number(key, 0, 1) == 1, has_mixture(layer), "experts");
  }
  const bool is_on = keys.flag(router.switch_key).value_or(false);
  for (int layer = 0; layer < layers_ && !router.switch_key.empty(); ++layer) {
    if (has_mixture(layer) == is_on) continue;
    refuse_item(full_name(router.weight, layer),
                {is_on ? "it is missing, though '" : "it must not be there unless '",
                 keys.path(router.switch_key), "' in ", keys.name(), " is true"});
  }
}

}  // namespace eigenscope
