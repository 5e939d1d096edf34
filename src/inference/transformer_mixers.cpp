// Token mixers beside the heads of layers, or in their place: gates of outputs, convolutions, the delta rule and state
// spaces.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/transformer.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXf;

constexpr std::uint64_t kMostConvolved = 64;  // positions
constexpr double kLargestStep = 1e30;         // below infinity in single precision

/// Limits of the steps of a state space. Infinity, which is no JSON number, is written as a word or an object.
StepLimits step_limits(const ConfigKeys& keys) {
  const std::string list = "time_step_limit", most = element_key(list, 1);
  check_kind(keys, list, "an array");
  StepLimits limits;
  if (!keys.has(list)) return limits;
  const auto least = keys.number(element_key(list, 0), 0, kLargestStep);
  if (!least || !keys.has(most) || keys.has(element_key(list, 2))) {
    refuse_item(keys.path(list), {"it must have 2 numbers in ", keys.name()});
  }
  limits.least = static_cast<float>(*least);
  const std::string value = keys.value(most);
  const std::string word = value == "an object" ? keys.value(most + ".__float__") : value;
  if (word == "Infinity") return limits;
  limits.most = static_cast<float>(keys.number(most, *least, kLargestStep).value_or(kLargestStep));
  return limits;
}

}  // namespace

void Transformer::read_delta_rule(const ConfigKeys& keys) {
  const auto told = [&](const char* key) {
    const auto count = keys.integer(key, kLargestSide);
    if (!count || *count == 0) refuse_item(keys.path(key), {"it is missing in ", keys.name()});
    return static_cast<Index>(*count);
  };
  const int layer = first_with_mixer();
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
  // llama.cpp's converter orders the heads of values in turn.
  delta_heads_.in_turn = keys.flag("linear_heads_in_turn").value_or(false);
  if (delta_heads_.values % delta_heads_.keys == 0) return;
  refuse_item(keys.path("linear_num_key_heads"),
              {std::to_string(delta_heads_.keys), " in ", keys.name(), " does not divide the ",
               std::to_string(delta_heads_.values), " heads of values"});
}

void Transformer::read_mixer(StoredRest& rest, int layer) const {
  if (!has_mixer(layer) && !gates_heads()) return;
  rest.norms.attention_norm = read_norm(attention().query_gain, layer);
  if (gates_heads() && has_heads(layer)) return read_output_gate(rest, layer);
  const MixerNames& names = match_.family->mixer;
  if (names.mixing == TokenMixing::delta_rule) return read_delta_rule(rest, layer);
  if (names.mixing == TokenMixing::state_space) return read_state_space(rest, layer);
  if (names.mixing == TokenMixing::selective_scan) return read_selective_scan(rest, layer);
  rest.mixer_inputs = {linear(names.input, layer, 3 * width_, width_)};
  rest.mixer = std::make_shared<ShortConvolution>(read_convolution(layer, width_));
  rest.attention_output = linear(names.output, layer, width_, width_);
}

void Transformer::read_output_gate(StoredRest& rest, int layer) const {
  rest.mixer = std::make_shared<OutputGate>();
  const Index head_width = rules(layer).head_width;
  if (!match_.family->gated()) {
    rest.mixer_inputs = {linear(names().attention_gate, layer, heads() * head_width, width_)};
    return;
  }
  const StoredLinear all =
      linear(attention().query_weight, layer, 2 * heads() * head_width, width_);
  for (int head = 0; head < heads(); ++head) {
    rest.mixer_inputs.push_back(all.part((2 * head + 1) * head_width, head_width));
  }
}

void Transformer::read_delta_rule(StoredRest& rest, int layer) const {
  const MixerNames& names = match_.family->mixer;
  const DeltaHeads& heads = delta_heads_;
  DeltaRule::Weights rule;
  const Index keys = heads.keys * heads.key_width, values = heads.values * heads.value_width;
  refuse_both(names.states_by_key, names.input, layer);
  refuse_both(names.rates_by_key, names.write, layer);
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
  rule.rate = read_rates(layer, heads.values);
  rule.step_bias = read_bias(full_name(names.step_bias, layer), heads.values);
  // Its gain is stored as it is also where others are as g - 1.
  rule.norm = {
      NormKind::rms_norm, read_bias(full_name(names.norm, layer), heads.value_width), {}, epsilon_};
  rest.mixer = std::make_shared<DeltaRule>(heads, std::move(rule));
  rest.attention_output = linear(names.output, layer, width_, values);
}

void Transformer::read_state_space(const ConfigKeys& keys) {
  const MixerNames& names = match_.family->mixer;
  const int layer = first_with_mixer();
  const std::string bias = full_name(names.step_bias, layer),
                    convolution = full_name(names.convolution, layer);
  const TensorInfo &steps = tensors_->tensor(bias), &channels = tensors_->tensor(convolution);
  const Index values = sides(names.output, layer)[0];
  space_.heads = steps.shape.size() == 1 ? static_cast<Index>(steps.shape.front()) : 0;
  space_.groups = static_cast<Index>(
      keys.integer(names.groups_key, kLargestSide).value_or(names.default_groups));
  const Index rows = channels.shape.empty() ? 0 : static_cast<Index>(channels.shape.front());
  if (space_.heads == 0 || values % space_.heads != 0 || space_.heads % space_.groups != 0 ||
      rows <= values || (rows - values) % (2 * space_.groups) != 0) {
    refuse_item(convolution,
                {"its shape ", shape_text(channels), " must be that of the ",
                 std::to_string(values), " values of ", std::to_string(space_.heads),
                 " heads, and of two states of ", std::to_string(space_.groups), " groups"});
  }
  space_steps_ = step_limits(keys);
  read_space_norm(keys);
  for (const std::string_view older : names.older_keys) {
    if (keys.has(older)) refuse_item(keys.path(older), {"it must be left out in ", keys.name()});
  }
  space_.width = values / space_.heads;
  space_.states = (rows - values) / (2 * space_.groups);
  for (const auto& [key, count] : {std::pair(names.heads_key, space_.heads),
                                   {names.states_key, space_.states},
                                   {names.values_key, values},
                                   {names.length_key, convolved(layer, space_.channels())}}) {
    check_count(keys, key, count);
  }
  if (keys.value(names.width_key) != "auto") check_count(keys, names.width_key, space_.width);
}

void Transformer::check_count(const ConfigKeys& keys, std::string_view key, Index count) {
  const auto told = keys.integer(key, kLargestSide);
  if (!told || *told == static_cast<std::uint64_t>(count)) return;
  refuse_item(keys.path(key), {std::to_string(*told), " in ", keys.name(), ", but the file has ",
                               std::to_string(count)});
}

void Transformer::read_space_norm(const ConfigKeys& keys) {
  const MixerNames& names = match_.family->mixer;
  if (names.norm_key.empty()) return;
  // The original takes null for false.
  space_norm_first_ =
      !keys.is_null(names.norm_first_key) && keys.flag(names.norm_first_key).value_or(true);
  const bool told = keys.flag(names.norm_key).value_or(false);
  for (int layer = 0; layer < layers_; ++layer) {
    if (has(names.norm, layer) == told) continue;
    refuse_item(
        full_name(names.norm, layer),
        {told ? "it is missing, though '" : "it must not be there where '",
         keys.path(names.norm_key), "' in ", keys.name(), told ? " is true" : " is not true"});
  }
}

void Transformer::read_state_space(StoredRest& rest, int layer) const {
  const MixerNames& names = match_.family->mixer;
  StateSpace::Weights space;
  const Index values = space_.values(), channels = space_.channels();
  const StoredLinear input = linear(names.input, layer, values + channels + space_.heads, width_);
  if (names.state_factors_key.empty()) {
    rest.mixer_inputs = {input};
  } else {
    const std::array parts{values, values, space_.shared(), space_.shared(), space_.heads};
    Index first = 0;
    for (std::size_t part = 0; part < parts.size(); ++part) {
      rest.mixer_inputs.push_back(input.part(first, parts[part]).scaled(state_factors_[part]));
      first += parts[part];
    }
  }
  space.convolution = read_convolution(layer, channels);
  space.rate = read_rates(layer, space_.heads);
  space.step_bias = read_bias(full_name(names.step_bias, layer), space_.heads);
  space.skip = read_flat(names.skip, layer, space_.heads);
  if (names.norm_key.empty() || has(names.norm, layer)) {
    const Index normed = names.norm_by_group ? values / space_.groups : values;
    space.norm = {NormKind::rms_norm, VectorXf::Ones(normed), {}, epsilon_};
    space.gain = read_flat(names.norm, layer, values);
  }
  space.norm_first = space_norm_first_;
  space.limits = space_steps_;
  rest.mixer = std::make_shared<StateSpace>(space_, std::move(space));
  const StoredLinear output = linear(names.output, layer, width_, values).scaled(mixer_factor_);
  rest.attention_output = has_heads(layer) ? rest.attention_output.plus(output) : output;
}

void Transformer::check_selective_scan(const ConfigKeys& keys) const {
  const MixerNames& names = match_.family->mixer;
  const int layer = first_with_mixer();
  check_count(keys, names.states_key, states_of_channel(layer));
  const Index channels = sides(names.output, layer)[0];
  check_count(keys, names.length_key, convolved(layer, channels));
}

Index Transformer::states_of_channel(int layer) const {
  const MixerNames& names = match_.family->mixer;
  const std::string rates =
      full_name(has(names.minus_rate, layer) ? names.minus_rate : names.log_rate, layer);
  return matrix_shape(*tensors_, rates)[1];
}

void Transformer::read_selective_scan(StoredRest& rest, int layer) const {
  const MixerNames& names = match_.family->mixer;
  SelectiveScan::Weights scan;
  const Index channels = sides(names.output, layer)[0], states = states_of_channel(layer);
  const Index inputs = sides(names.step, layer)[0];
  rest.mixer_inputs = {linear(names.input, layer, 2 * channels, width_)};
  scan.convolution = read_convolution(layer, channels);
  scan.states = linear(names.states, layer, inputs + 2 * states, channels).read();
  scan.step = linear(names.step, layer, channels, inputs).read();
  if (scan.step.bias.size() == 0) {
    refuse_item(bias_of(full_name(names.step, layer)), {"it is missing"});
  }
  for (std::size_t i = 0; i < scan.norms.size(); ++i) {
    scan.norms[i] = read_norm_of(full_name(names.state_norms[i], layer), i == 0 ? inputs : states);
  }
  scan.rate = read_rates(layer, channels * states).reshaped(states, channels);
  scan.skip = read_flat(names.skip, layer, channels);
  rest.mixer = std::make_shared<SelectiveScan>(std::move(scan));
  rest.attention_output = linear(names.output, layer, width_, channels);
}

VectorXf Transformer::read_rates(int layer, Index count) const {
  const MixerNames& names = match_.family->mixer;
  refuse_both(names.minus_rate, names.log_rate, layer);
  const bool is_minus = has(names.minus_rate, layer);
  VectorXf rates = read_flat(is_minus ? names.minus_rate : names.log_rate, layer, count);
  for (float& rate : rates) rate = is_minus ? -rate : std::exp(rate);
  return rates;
}

VectorXf Transformer::read_flat(std::string_view pattern, int layer, Index size) const {
  const std::string name = full_name(pattern, layer);
  const TensorInfo& info = tensors_->tensor(name);
  std::uint64_t count = 1;
  for (const std::uint64_t side : info.shape) count *= side;
  if (count != static_cast<std::uint64_t>(size)) {
    refuse_item(name, {"its shape ", shape_text(info), " must have ", std::to_string(size),
                       " numbers, as the other tensors imply"});
  }
  VectorXf values(size);
  read_finite(*tensors_, name, 0, values.data(), size);
  return values;
}

Index Transformer::convolved(int layer, Index channels) const {
  const std::string name = full_name(match_.family->mixer.convolution, layer);
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
  return static_cast<Index>(width);
}

CausalConvolution Transformer::read_convolution(int layer, Index channels) const {
  const std::string name = full_name(match_.family->mixer.convolution, layer), bias = bias_of(name);
  CausalConvolution convolution;
  convolution.weight.resize(convolved(layer, channels), channels);
  read_finite(*tensors_, name, 0, convolution.weight.data(), convolution.weight.size());
  if (convolution_bias_) convolution.bias = read_bias(bias, channels);
  return convolution;
}

}  // namespace eigenscope
