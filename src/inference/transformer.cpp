#include "inference/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/config_part.h"
#include "checkpoint/key_guards.h"
#include "checkpoint/tensor_guards.h"
#include "inference/text_family.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/words.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

}  // namespace

Transformer::Transformer(std::shared_ptr<const Safetensors> tensors, const Config& config,
                         ModelInput input)
    : tensors_(std::move(tensors)), match_(family_of(input, *tensors_, config)) {
  if (input == ModelInput::pictures) {
    patches_.emplace(tensors_, match_.prefix, match_.family->picture);
  }
  refuse_foreign();
  read_embeddings();
  find_layers();
  const ConfigKeys keys = part_keys(&config, stack().part);
  const std::string_view count_key = attention().layer_count_key;
  const auto told = keys.integer(count_key, kMostLayers);
  if (names().layers_key.empty() && told && *told > static_cast<std::uint64_t>(stored_)) {
    refuse_item(keys.path(count_key),
                {"it must count the layers of the file, ", std::to_string(stored_), ", but is ",
                 std::to_string(*told), " in ", keys.name()});
  }
  // Layers without heads beyond the count, as those with heads, are not of the model.
  if (names().layers_key.empty() && told) stored_ = std::min(stored_, static_cast<int>(*told));
  read_layers(keys);
  for (int layer = 0; layer < layers_; ++layer) key_layers_.push_back(layer);
  for (const LayerTensors& layer : stack().layers) {
    if (layer.key_layer != layer.layer) {
      key_layers_[static_cast<std::size_t>(layer.layer)] = layer.key_layer;
    }
  }
  read_config(keys);
  read_layer_inputs(keys);
  const int first = layers_with_heads_.front();
  const std::string_view compression = attention().latent.query_weight;
  const std::string_view reader = compression.empty() ? attention().query_weight : compression;
  check_width(keys, match_.family->width_key, full_name(reader, first),
              static_cast<std::uint64_t>(sides(reader, first)[0]));
  check_tensors(match_, tensors_->tensors(), {}, LayerPart::whole);
  const auto head_width = static_cast<std::uint64_t>(first_rules().head_width);
  check_keys(keys, {*match_.family, stack(), head_width, LayerPart::whole}, {});
  check_norms(match_, stack(), keys);
}

bool Transformer::has(std::string_view pattern, int layer) const {
  return !pattern.empty() && tensors_->tensors().contains(full_name(pattern, layer));
}

void Transformer::refuse_both(std::string_view one, std::string_view other, int layer) const {
  if (!has(one, layer) || !has(other, layer)) return;
  refuse_item(full_name(one, layer),
              {"it must not stand beside '", shown_name(full_name(other, layer)), "'"});
}

void Transformer::refuse_foreign() const {
  for (const std::string_view foreign : names().foreign) {
    const std::string name = full_name(foreign);
    if (foreign.empty() || !tensors_->tensors().contains(name)) continue;
    refuse_item(name, "forward passes with this tensor are not supported");
  }
}

void Transformer::read_embeddings() {
  if (patches_) {
    width_ = embedding_width_ = patches_->width();
    return;
  }
  const auto [tokens, width] = matrix_shape(*tensors_, match_.embeddings);
  vocabulary_ = tokens - static_cast<Index>(names().picture_rows);
  if (vocabulary_ < 1) {
    refuse_item(match_.embeddings, {"it must have more than the ",
                                    std::to_string(tokens - vocabulary_), " rows for pictures"});
  }
  width_ = embedding_width_ = width;
  if (has(names().embedding_projection, 0)) width_ = sides(names().embedding_projection, 0)[1];
  if (has_skip(0)) width_ = sides(names().skip, 0)[1];
}

std::string Transformer::full_name(std::string_view pattern, int layer) const {
  return eigenscope::full_name(match_.prefix, pattern, layer / sharing_);
}

bool Transformer::has_skip(int layer) const { return has(names().skip, layer); }

bool Transformer::has_output_norms(int layer) const {
  return names().output_norms_key.empty() || has(names().attention_output_norm, layer);
}

Index Transformer::entering_width(int layer) const {
  return has_skip(layer) ? sides(names().skip, layer)[0] : width_;
}

VectorXf Transformer::read_bias(const std::string& name, Index size) const {
  const TensorInfo& info = tensors_->tensor(name);
  if (info.shape != std::vector<std::uint64_t>{static_cast<std::uint64_t>(size)}) {
    refuse_item(name, {"its shape ", shape_text(info), " is not [", std::to_string(size),
                       "], the shape that the other tensors imply"});
  }
  VectorXf values(size);
  read_finite(*tensors_, name, 0, values.data(), size);
  return values;
}

MatrixXf Transformer::read_rows(const std::string& name, Index first, Index count) const {
  if (matrix_shape(*tensors_, name)[1] != embedding_width_) {
    refuse_item(name, {"its shape ", shape_text(tensors_->tensor(name)), " does not fit the width ",
                       std::to_string(embedding_width_)});
  }
  MatrixXf values(embedding_width_, count);
  read_finite(*tensors_, name, first * embedding_width_, values.data(), values.size());
  return values;
}

StoredLinear Transformer::linear(std::string_view pattern, int layer, Index out, Index in) const {
  const std::string name = full_name(pattern, layer), bias = bias_of(name);
  StoredLinear map(tensors_, name, out, in, match_.family->inputs_first());
  const bool optional = names().optional_bias || lists(names().without_bias, pattern);
  const bool none = optional && !tensors_->tensors().contains(bias);
  if (!none) map.set_bias(read_bias(bias, out));
  return map;
}

Norm Transformer::read_norm_of(const std::string& name, Index size) const {
  const auto stored = [&](const std::string& tensor) {
    const std::string in_file = stored_norm(tensors_->tensors(), tensor);
    return in_file.empty() ? tensor : in_file;
  };
  const bool rms = names().norm == NormKind::rms_norm;
  VectorXf gain = read_bias(stored(name), size);
  if (match_.family->gain_plus_one) gain.array() += 1;
  const std::string bias = stored(bias_of(name));
  if (rms) return {names().norm, std::move(gain), {}, epsilon_};
  const bool none = names().optional_bias && !tensors_->tensors().contains(bias);
  return {names().norm, std::move(gain),
          none ? VectorXf(VectorXf::Zero(size)) : read_bias(bias, size), epsilon_};
}

Norm Transformer::gainless_norm(Index size) const {
  const bool rms = names().norm == NormKind::rms_norm;
  return {names().norm, VectorXf::Ones(size), rms ? VectorXf() : VectorXf(VectorXf::Zero(size)),
          epsilon_};
}

Norm Transformer::read_norm(std::string_view pattern, int layer) const {
  return pattern.empty() ? Norm() : read_norm_of(full_name(pattern, layer), width_);
}

VectorXf Transformer::read_scale(std::string_view pattern, int layer) const {
  const std::string name = full_name(pattern, layer);
  if (residual_factor_ != 1) return VectorXf::Constant(width_, residual_factor_);
  const bool none = pattern.empty() || !tensors_->tensors().contains(name);
  return none ? VectorXf() : read_bias(name, width_);
}

std::array<Index, 2> Transformer::sides(std::string_view pattern, int layer) const {
  auto shape = matrix_shape(*tensors_, full_name(pattern, layer));
  if (!match_.family->inputs_first()) std::swap(shape[0], shape[1]);
  return shape;
}

void Transformer::read_xielu_numbers(const ConfigKeys& keys) {
  constexpr double kLargest = 1e3;
  if (names().xielu.alpha_p.empty()) return;
  for (int layer = 0; layer < layers_; ++layer) {
    auto number = xielu_numbers_.emplace_back().begin();
    for (const char* const name : kXieluNumbers) {
      const std::string key = std::string("xielu.") + name, element = element_key(key, layer);
      const bool listed = keys.value(key) == "an array";
      *number++ = keys.number(listed ? element : key, -kLargest, kLargest);
      if (!listed || keys.has(element)) continue;
      refuse_item(keys.path(key), {"it must have an element for each of the ",
                                   std::to_string(layers_), " layers in ", keys.name()});
    }
  }
}

Xielu Transformer::read_xielu(int layer) const {
  const auto& [alpha_p, alpha_n, beta, eps] = names().xielu;
  const auto& told = xielu_numbers_[static_cast<std::size_t>(layer)];
  const auto number = [&](std::string_view pattern, std::optional<double> otherwise) {
    const bool stored = has(pattern, layer) || !otherwise;
    return stored ? static_cast<double>(read_flat(pattern, layer, 1)[0]) : *otherwise;
  };
  const auto softplus = [](double x) {
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  };
  const double linear = number(beta, told[2].value_or(0.5));
  return {softplus(number(alpha_p, told[0])), linear + softplus(number(alpha_n, told[1])), linear,
          number(eps, told[3].value_or(-1e-6))};
}

LayerWeights Transformer::read_layer(int layer) const {
  StoredRest stored = rest(layer, read_heads(layer, kAnyNumber));
  LayerWeights& weights = stored.norms;
  weights.attention_output = stored.attention_output.read();
  if (stored.mlp.gate.outputs() > 0) weights.mlp_gate = stored.mlp.gate.read();
  weights.mlp_up = stored.mlp.up.read();
  weights.mlp_down = stored.mlp.down.read();
  return std::move(weights);
}

StoredRest Transformer::rest(int layer, LayerWeights weights) const {
  const ForwardNames& text = names();
  StoredRest rest;
  if (is_skipped(layer)) return rest;
  rest.norms = std::move(weights);
  if (has_skip(layer)) {
    rest.norms.skip = linear(text.skip, layer, width_, entering_width(layer)).read();
  }
  if (has_heads(layer)) {
    const Index read = heads() * rules(layer).value_width;
    rest.attention_output =
        linear(text.attention_output, layer, width_, read).scaled(attention_factor_);
  }
  read_mixer(rest, layer);
  const bool ends = has_output_norms(layer);
  rest.norms.attention_output_norm = read_norm(ends ? text.attention_output_norm : "", layer);
  rest.norms.attention_end_norm = read_norm(text.attention_end_norm, layer);
  rest.norms.attention_scale = read_scale(text.attention_scale, layer);
  if (text.optional_branches && !has_mlp(layer)) return rest;
  if (has_mixture(layer)) {
    rest.mixture = mixture(layer);
  } else {
    const bool joined = text.gate_rows != GateRows::separate && !has(text.mlp_gate, layer);
    rest.mlp = mlp({joined ? "" : text.mlp_gate, text.mlp_up, text.mlp_down,
                    joined ? text.gate_rows : GateRows::separate},
                   layer, width_);
    rest.mlp.gate = rest.mlp.gate.scaled(mlp_factors_[0]);
    rest.mlp.down = rest.mlp.down.scaled(mlp_factors_[1]);
  }
  if (!text.xielu.alpha_p.empty()) rest.norms.xielu = read_xielu(layer);
  rest.norms.mlp_norm = branch_norm(text.mlp_norm, layer);
  rest.norms.mlp_output_norm = read_norm(ends ? text.mlp_output_norm : "", layer);
  rest.norms.mlp_end_norm = read_norm(text.mlp_end_norm, layer);
  rest.norms.mlp_scale = read_scale(text.mlp_scale, layer);
  read_layer_input(rest, layer);
  return rest;
}

}  // namespace eigenscope
