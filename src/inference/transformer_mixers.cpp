// What layers have beside their heads, or in their place: gates of outputs, convolutions and the delta rule.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "inference/transformer.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::uint64_t kMostConvolved = 64;  // positions

}  // namespace

bool Transformer::has_mixer(int layer) const { return has(match_.family->mixer.output, layer); }

void Transformer::check_kind(const ConfigKeys& keys, int layer) const {
  const std::string key = element_key("layer_types", layer);
  const auto kind = keys.text(key);
  const bool mixes = kind == "conv" || kind == "linear_attention";
  if (!kind || match_.family->mixer.output.empty() || mixes == has_mixer(layer)) return;
  refuse_item(keys.path(key), {"it is '", shown_name(*kind), "' in ", keys.name(),
                               ", but the layer has ", mixes ? "" : "no ", "heads"});
}

void Transformer::read_delta_rule(const ConfigKeys& keys) {
  const auto told = [&](const char* key) {
    const auto count = keys.integer(key, kLargestSide);
    if (!count || *count == 0) refuse_item(keys.path(key), {"it is missing in ", keys.name()});
    return static_cast<Index>(*count);
  };
  int layer = 0;
  while (has_heads(layer)) ++layer;
  const std::string norm = full_name(match_.family->mixer.norm, layer);
  const TensorInfo& info = tensors_->tensor(norm);
  const char* const width_key = "linear_value_head_dim";
  const auto width = keys.integer(width_key, kLargestSide);
  if (info.shape.size() != 1 || (width && *width != info.shape.front())) {
    refuse_item(norm, {"its shape ", shape_text(info), " must be that of a head's values, '",
                       keys.path(width_key), "' in ", keys.name()});
  }
  delta_heads_.keys = told("linear_num_key_heads");
  delta_heads_.key_width = told("linear_key_head_dim");
  delta_heads_.values = told("linear_num_value_heads");
  delta_heads_.value_width = static_cast<Index>(info.shape.front());
  // As llama.cpp's converter orders the heads of values.
  delta_heads_.in_turn = keys.flag("linear_heads_in_turn").value_or(false);
  if (delta_heads_.values % delta_heads_.keys == 0) return;
  refuse_item(keys.path("linear_num_key_heads"),
              {std::to_string(delta_heads_.keys), " in ", keys.name(), " does not divide the ",
               std::to_string(delta_heads_.values), " heads of values"});
}

void Transformer::read_mixer(StoredRest& rest, int layer) const {
  if (has_heads(layer) && !match_.family->gated()) return;
  rest.norms.attention_norm = read_norm(attention().query_gain, layer);
  if (has_heads(layer)) return read_output_gate(rest, layer);
  const MixerNames& names = match_.family->mixer;
  if (names.mixing == TokenMixing::delta_rule) return read_delta_rule(rest, layer);
  rest.mixer_inputs = {linear(names.input, layer, 3 * width_, width_)};
  rest.mixer = std::make_shared<ShortConvolution>(read_convolution(layer, width_));
  rest.attention_output = linear(names.output, layer, width_, width_);
}

void Transformer::read_output_gate(StoredRest& rest, int layer) const {
  const Index head_width = rules(layer).head_width;
  const StoredLinear all =
      linear(attention().query_weight, layer, 2 * heads() * head_width, width_);
  for (int head = 0; head < heads(); ++head) {
    rest.mixer_inputs.push_back(all.part((2 * head + 1) * head_width, head_width));
  }
  rest.mixer = std::make_shared<OutputGate>();
}

void Transformer::read_delta_rule(StoredRest& rest, int layer) const {
  const MixerNames& names = match_.family->mixer;
  const DeltaHeads& heads = delta_heads_;
  DeltaRule::Weights rule;
  const Index keys = heads.keys * heads.key_width, values = heads.values * heads.value_width;
  refuse_both(names.states_by_key, names.input, layer);
  refuse_both(names.rates_by_key, names.write, layer);
  refuse_both(names.minus_rate, names.log_rate, layer);
  const auto add = [&](std::string_view name, Index outputs) {
    rest.mixer_inputs.push_back(linear(name, layer, outputs, width_));
  };
  // The outputs of one head of keys consist of parts of these sizes; all heads of a part follow one another.
  const auto add_by_key = [&](std::string_view name, std::initializer_list<Index> parts) {
    const Index by_head = std::accumulate(parts.begin(), parts.end(), Index{0});
    const StoredLinear all = linear(name, layer, heads.keys * by_head, width_);
    Index first = 0;
    for (const Index part : parts) {
      for (Index head = 0; head < heads.keys; ++head) {
        rest.mixer_inputs.push_back(all.part(head * by_head + first, part));
      }
      first += part;
    }
  };
  const Index shared = heads.values / heads.keys;
  if (has(names.states_by_key, layer)) {
    const Index of_key = shared * heads.value_width;
    add_by_key(names.states_by_key, {heads.key_width, heads.key_width, of_key, of_key});
  } else {
    add(names.input, 2 * keys + values);
    add(names.gate, values);
  }
  if (has(names.rates_by_key, layer)) {
    add_by_key(names.rates_by_key, {shared, shared});
  } else {
    add(names.write, heads.values);
    add(names.step, heads.values);
  }
  rule.convolution = read_convolution(layer, 2 * keys + values);
  if (has(names.minus_rate, layer)) {
    rule.rate = -read_bias(full_name(names.minus_rate, layer), heads.values);
  } else {
    rule.rate = read_bias(full_name(names.log_rate, layer), heads.values).array().exp();
  }
  rule.step_bias = read_bias(full_name(names.step_bias, layer), heads.values);
  // Its gain is stored as it is also where others are as g - 1.
  rule.norm = {
      NormKind::rms_norm, read_bias(full_name(names.norm, layer), heads.value_width), {}, epsilon_};
  rest.mixer = std::make_shared<DeltaRule>(heads, std::move(rule));
  rest.attention_output = linear(names.output, layer, width_, values);
}

CausalConvolution Transformer::read_convolution(int layer, Index channels) const {
  const std::string name = full_name(match_.family->mixer.convolution, layer), bias = bias_of(name);
  const TensorInfo& info = tensors_->tensor(name);
  const std::vector<std::uint64_t>& shape = info.shape;
  // MLX has the positions in the middle and GGUF no side of 1, which leaves the order of the numbers.
  std::uint64_t width = 1, longest = 1;
  for (std::size_t side = 1; side < shape.size(); ++side) {
    width *= shape[side];
    longest = std::max(longest, shape[side]);
  }
  if (shape.size() < 2 || shape.size() > 3 || shape[0] != static_cast<std::uint64_t>(channels) ||
      width != longest || width > kMostConvolved) {
    refuse_item(name, {"its shape ", shape_text(info), " must be [", std::to_string(channels),
                       ", 1, positions], at most ", std::to_string(kMostConvolved), " of them"});
  }
  CausalConvolution convolution;
  convolution.weight.resize(static_cast<Index>(width), channels);
  read_finite(*tensors_, name, 0, convolution.weight.data(), convolution.weight.size());
  if (tensors_->tensors().contains(bias)) convolution.bias = read_bias(bias, channels);
  return convolution;
}

}  // namespace eigenscope
