#include "inference/transformer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "checkpoint/config_part.h"
#include "checkpoint/key_guards.h"
#include "checkpoint/tensor_guards.h"
#include "inference/text_family.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr Index kAnyNumber = std::numeric_limits<Index>::max();  // of weights in memory
constexpr float kLatentEpsilon = 1e-6F;  // of latent norms, whatever config.json says

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
  check_keys(keys, {*match_.family, stack(), head_width}, {});
  check_norms(match_, stack(), keys);
}

void Transformer::find_layers() {
  for (const LayerTensors& layer : stack().layers) {
    while (stored_ < layer.layer && lacks_heads(stored_)) ++stored_;
    if (layer.layer != stored_) {
      refuse_item(full_name(attention().query_weight, stored_), "it is missing");
    }
    ++stored_;
  }
  while (lacks_heads(stored_)) ++stored_;
  for (int layer = 0; layer < stored_; ++layer) check_branches(layer);
}

bool Transformer::has(std::string_view pattern, int layer) const {
  return !pattern.empty() && tensors_->tensors().contains(full_name(pattern, layer));
}

void Transformer::refuse_both(std::string_view one, std::string_view other, int layer) const {
  if (!has(one, layer) || !has(other, layer)) return;
  refuse_item(full_name(one, layer),
              {"it must not stand beside '", shown_name(full_name(other, layer)), "'"});
}

bool Transformer::lends_keys(int layer) const {
  return std::find(key_layers_.begin() + layer + 1, key_layers_.end(), layer) != key_layers_.end();
}

bool Transformer::has_lent_keys() const {
  int layer = 0;
  while (layer < layers_ && !lends_keys(layer)) ++layer;
  return layer < layers_;
}

Index Transformer::heads_before(int layer) const {
  const auto& all = layers_with_heads_;
  return heads() * (std::lower_bound(all.begin(), all.end(), layer) - all.begin());
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
  vocabulary_ = tokens;
  width_ = embedding_width_ = width;
  if (!names().embedding_projection.empty()) width_ = sides(names().embedding_projection, 0)[1];
  if (has_skip(0)) width_ = sides(names().skip, 0)[1];
}

std::string Transformer::full_name(std::string_view pattern, int layer) const {
  return eigenscope::full_name(match_.prefix, pattern, layer / sharing_);
}

bool Transformer::has_mixture(int layer) const { return has(names().experts.router.weight, layer); }

bool Transformer::has_mixtures() const {
  int layer = 0;
  while (layer < layers_ && !has_mixture(layer)) ++layer;
  return layer < layers_;
}

bool Transformer::has_skip(int layer) const { return has(names().skip, layer); }

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
  const bool none = names().optional_bias && !tensors_->tensors().contains(bias);
  if (!none) map.set_bias(read_bias(bias, out));
  return map;
}

Norm Transformer::read_norm_of(const std::string& name, Index size) const {
  const auto stored = [&](const std::string& own) {
    const std::string found = stored_norm(tensors_->tensors(), own);
    return found.empty() ? own : found;
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

Norm Transformer::read_norm(std::string_view pattern, int layer) const {
  return pattern.empty() ? Norm() : read_norm_of(full_name(pattern, layer), width_);
}

VectorXf Transformer::read_scale(std::string_view pattern, int layer) const {
  const std::string name = full_name(pattern, layer);
  if (residual_factor_ != 1) return VectorXf::Constant(width_, residual_factor_);
  const bool none = pattern.empty() || !tensors_->tensors().contains(name);
  return none ? VectorXf() : read_bias(name, width_);
}

Norm Transformer::read_projection_norm(std::string_view pattern, int layer, Index outputs) const {
  const std::string name = full_name(pattern, layer);
  if (pattern.empty() || !tensors_->tensors().contains(name)) return {};
  const Index head_width = rules(layer).head_width;
  const bool each = tensors_->tensor(name).shape ==
                    std::vector<std::uint64_t>{static_cast<std::uint64_t>(head_width)};
  return read_norm_of(name, each ? head_width : outputs);
}

MatrixXf Transformer::embed(std::span<const int> ids, Index first) const {
  const auto length = static_cast<Index>(ids.size());
  if (length < 1 || first + length > positions()) {
    throw InvalidArgument("length",
                          "be an integer from 1 to " + std::to_string(positions()) +
                              ", the tokens that the model takes",
                          "found " + std::to_string(first + length));
  }
  MatrixXf tokens(embedding_width_, length);
  for (Index t = 0; t < length; ++t) {
    const int id = ids[static_cast<std::size_t>(t)];
    if (id < 0 || id >= vocabulary_) {
      throw InvalidArgument("token", "be an id from 0 to " + std::to_string(vocabulary_ - 1),
                            "found " + std::to_string(id));
    }
    tokens.col(t) = read_rows(match_.embeddings, id, 1);
  }
  if (names().scaled_embedding) tokens *= std::sqrt(static_cast<float>(width_));
  tokens *= embedding_factor_;
  if (embeds_positions()) {
    add_positions(ids, first_position_ + first, tokens);
  }
  const std::string types = full_name(names().type_embedding);
  if (!names().type_embedding.empty() && tensors_->tensors().contains(types)) {
    tokens.colwise() += VectorXf(read_rows(types, 0, 1));
  }
  return end_embedding(std::move(tokens));
}

void Transformer::add_positions(std::span<const int> ids, Index row, MatrixXf& tokens) const {
  const std::string name = full_name(names().position_embedding);
  if (names().first_position_key.empty()) {
    tokens += read_rows(name, row, tokens.cols());
    return;
  }
  // Padding has the row before the first one, and does not count.
  const Index padding = first_position_ - 1;
  for (Index t = 0; t < tokens.cols(); ++t) {
    const bool pads = ids[static_cast<std::size_t>(t)] == padding;
    tokens.col(t) += read_rows(name, pads ? padding : row++, 1);
  }
}

MatrixXf Transformer::embed(const Passage& passage) const {
  if (!patches_) return embed(passage.ids);
  if (!passage.patches) throw InvalidArgument("image", "be given");
  return end_embedding((*patches_)(*passage.patches));
}

MatrixXf Transformer::end_embedding(MatrixXf tokens) const {
  if (!names().embedding_norm.empty()) {
    tokens = read_norm_of(full_name(names().embedding_norm), embedding_width_)(std::move(tokens));
  }
  if (names().embedding_projection.empty()) return tokens;
  return linear(names().embedding_projection, 0, width_, embedding_width_).read()(tokens);
}

Eigen::MatrixXd Transformer::token_embeddings(Index begin, Index end) const {
  return read_rows(match_.embeddings, begin, end - begin).transpose().cast<double>();
}

std::string Transformer::output_name() const {
  if (const MaskedHead* head = masked_head()) return std::string(head->output);
  const std::string name(names().output);  // without the prefix of the others
  if (tensors_->tensors().contains(name)) return name;
  // In a model of several parts it has the prefix of the text's part.
  constexpr std::string_view kModel = "model.";
  std::string prefix = match_.prefix;
  if (prefix.ends_with(kModel)) prefix.resize(prefix.size() - kModel.size());
  return tensors_->tensors().contains(prefix + name) ? prefix + name : name;
}

const MaskedHead* Transformer::masked_head() const {
  const MaskedHead& head = names().masked_head;
  const bool has = !head.dense.empty() && !patches_ && !causal() &&
                   tensors_->tensors().contains(std::string(head.dense));
  return has ? &head : nullptr;
}

bool Transformer::has_output() const {
  if (patches_ || names().output.empty()) return false;
  return masked_head() || tensors_->tensors().contains(output_name()) || (causal() && tied_output_);
}

MatrixXf Transformer::output_states(const MatrixXf& tokens) const {
  MatrixXf states = finished(tokens);
  const MaskedHead* const head = masked_head();
  if (!head) return states;
  const std::string name(head->dense), bias = bias_of(name);
  StoredLinear dense(tensors_, name, width_, width_, false);
  if (tensors_->tensors().contains(bias)) dense.set_bias(read_bias(bias, width_));
  states = dense.read()(states);
  activation_forward(head_activation_, states, states);
  return read_norm_of(std::string(head->norm), width_)(std::move(states));
}

StoredLinear Transformer::output() const {
  const std::string name = output_name();
  const MaskedHead* const head = masked_head();
  std::string bias = head ? std::string(head->output_bias) : bias_of(name);
  // One parameter of two names, of which a file may have the other.
  if (!tensors_->tensors().contains(bias)) bias = bias_of(name);
  const bool tied = tied_output_ && !tensors_->tensors().contains(name);
  StoredLinear output(tensors_, tied ? match_.embeddings : name, vocabulary_, width_, false);
  if (!tensors_->tensors().contains(bias)) return output;
  if (!head && !names().output_bias) {
    refuse_item(bias, {"models of the family ", match_.family->name, " have no such bias"});
  }
  output.set_bias(read_bias(bias, vocabulary_));
  return output;
}

Linear Transformer::read_output() const {
  Linear output = this->output().read();
  output.weight *= output_scale_;
  output.bias *= output_scale_;
  return output;
}

void Transformer::read_latent_projections(LayerWeights& weights, int layer,
                                          Index most_weights) const {
  const LayerRules& rules = this->rules(layer);
  const auto& [rank, turned, compressed, values] = latent_;
  const LatentNames& latent = attention().latent;
  const auto compression = [&](std::string_view weight, std::string_view gain, Index outputs,
                               Index normalized) {
    Compression of{linear(weight, layer, outputs, width_).read(),
                   read_norm_of(full_name(gain, layer), normalized)};
    of.norm.epsilon = kLatentEpsilon;
    return of;
  };
  Index entering = width_;
  if (!latent.query_weight.empty()) {
    entering = sides(attention().query_weight, layer)[0];
    weights.query_input = compression(latent.query_weight, latent.query_gain, entering, entering);
  }
  weights.key_input = compression(latent.key_weight, latent.key_gain, rank + turned, rank);
  const StoredLinear query =
      linear(attention().query_weight, layer, rules.heads * rules.head_width, entering);
  const StoredLinear key =
      linear(attention().key_weight, layer, rules.heads * (compressed + values), rank);
  for (const auto& [map, pattern] :
       {std::pair(&query, attention().query_weight), std::pair(&key, attention().key_weight)}) {
    if (map->bias().size() == 0) continue;
    refuse_item(bias_of(full_name(pattern, layer)), "a bias here is not supported");
  }
  const auto heads = static_cast<std::uint64_t>(rules.heads);
  HeadPlaces places{.layout = HeadLayout::kLatent,
                    .grid = {heads, heads, static_cast<std::uint64_t>(rules.head_width)},
                    .turned = turned,
                    .compressed = compressed,
                    .values = values};
  const auto projection = [&](Projection which, const StoredLinear& map, float scale) {
    places.projection = which;
    return HeadProjection(map, places, scale, most_weights);
  };
  weights.query =
      projection(Projection::query, query, query_scales_[static_cast<std::size_t>(layer)]);
  weights.key = projection(Projection::key, key, 1);
  weights.value = projection(Projection::value, key, 1);
}

void Transformer::read_projections(LayerWeights& weights, int layer, Index most_weights) const {
  if (match_.family->latent()) return read_latent_projections(weights, layer, most_weights);
  const LayerRules& rules = this->rules(layer);
  const Index head_width = rules.head_width, width = entering_width(layer);
  const int key_layer = this->key_layer(layer);
  const float query_scale = query_scales_[static_cast<std::size_t>(layer)];
  const Index queries = rules.heads * head_width, keys = rules.key_heads * head_width;
  weights.query_norm = read_projection_norm(attention().query_norm_gain, layer, queries);
  weights.key_norm = read_projection_norm(attention().key_norm_gain, key_layer, keys);
  const auto bare_norm = [&] {
    return Norm{NormKind::rms_norm, VectorXf::Ones(head_width), {}, epsilon_};
  };
  if (names().bare_value_norm) weights.value_norm = bare_norm();
  if (bare_norms_ && rules.rotary.pairs != RotaryPairs::kNone) {
    // The original normalizes after the rotation, which leaves lengths as they are.
    weights.query_norm = weights.key_norm = bare_norm();
  }
  const bool bare = weights.query_norm.is_none();
  if (!bare) {
    weights.query_norm.gain *= query_scale;
    weights.query_norm.bias *= query_scale;
  }
  const auto count = [](Index n) { return static_cast<std::uint64_t>(n); };
  const HeadGrid grid{count(rules.heads), count(rules.key_heads), count(head_width)};
  const Index most = weights.normalizes_all_heads(rules) ? kAnyNumber : most_weights;
  std::optional<StoredLinear> fused;
  Linear all;  // where outputs lie apart in the file, which is then read as a whole
  if (match_.family->fused()) {
    fused = linear(attention().query_weight, layer, queries + 2 * keys, width);
    if (match_.family->inputs_first()) all = fused->read();
  }
  const auto projection = [&](Projection which, std::string_view pattern, Index outputs) {
    const HeadPlaces places{which, match_.family->layout, grid};
    const float scale = bare && which == Projection::query ? query_scale : 1;
    if (all.weight.size() > 0) return HeadProjection(all, places, scale);
    const int at = which == Projection::query ? layer : key_layer;
    return HeadProjection(fused ? *fused : linear(pattern, at, outputs, width), places, scale,
                          most);
  };
  const Index parts = match_.family->gated() ? 2 : 1;
  weights.query = projection(Projection::query, attention().query_weight, parts * queries);
  weights.key = projection(Projection::key, attention().key_weight, keys);
  weights.value = projection(Projection::value,
                             keys_are_values(layer) ? attention().key_weight : names().value, keys);
  if (key_layer == layer) return;
  weights.query_input.rows = weights.key_input.rows = width;
  weights.key_input.first_row = width;
}

bool Transformer::keys_are_values(int layer) const {
  const bool sees_all = rules(layer).reach == LayerRules().reach;
  return !names().keys_as_values_key.empty() && sees_all && !has(names().value, key_layer(layer));
}

std::array<Index, 2> Transformer::sides(std::string_view pattern, int layer) const {
  auto shape = matrix_shape(*tensors_, full_name(pattern, layer));
  if (!match_.family->inputs_first()) std::swap(shape[0], shape[1]);
  return shape;
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

LayerWeights Transformer::read_heads(int layer, Index most_weights) const {
  LayerWeights weights;
  read_projections(weights, layer, most_weights);
  if (rules(layer).learned_sinks) {
    weights.sinks = read_bias(full_name(attention().sinks, layer), heads());
  }
  const std::string_view gain = attention().query_gain;
  if (!gain.empty() && (layer > 0 || !names().bare_first)) {
    weights.attention_norm = read_norm_of(full_name(gain, layer), entering_width(layer));
  }
  if (const int earlier = key_layer(layer); earlier != layer) {
    weights.earlier_norm = read_norm(gain, earlier);
  }
  return weights;
}

namespace {

/// Takes the gate out of `up`, which has both.
void divide_gate(GateRows rows, StoredMlp& mlp) {
  if (rows == GateRows::separate) return;
  const Index hidden = mlp.up.outputs() / 2;
  const bool halves = rows == GateRows::halves;
  mlp.gate = mlp.up.part(0, hidden, halves ? 1 : 2);
  mlp.up = mlp.up.part(halves ? hidden : 1, hidden, halves ? 1 : 2);
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
    mixture.router.correction = read_bias(full_name(names.router.correction, layer), experts);
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
  if (names.shared.down.empty()) return mixture;
  mixture.experts.push_back(mlp(names.shared, layer, width_));
  mixture.router.shared = true;
  if (!names.shared_gate.empty()) {
    mixture.router.shared_gate = linear(names.shared_gate, layer, 1, width_).read();
  }
  return mixture;
}

StoredRest Transformer::rest(int layer, LayerWeights weights) const {
  const ForwardNames& text = names();
  StoredRest rest;
  rest.norms = std::move(weights);
  if (has_skip(layer)) {
    rest.norms.skip = linear(text.skip, layer, width_, entering_width(layer)).read();
  }
  if (has_heads(layer)) {
    const Index read = heads() * rules(layer).value_width;
    rest.attention_output = linear(text.attention_output, layer, width_, read);
  }
  read_mixer(rest, layer);
  rest.norms.attention_output_norm = read_norm(text.attention_output_norm, layer);
  rest.norms.attention_end_norm = read_norm(text.attention_end_norm, layer);
  rest.norms.attention_scale = read_scale(text.attention_scale, layer);
  if (text.optional_branches && !has_mlp(layer)) return rest;
  if (has_mixture(layer)) {
    rest.mixture = mixture(layer);
  } else {
    const GateRows gate_rows = text.fused_gate ? GateRows::halves : GateRows::separate;
    rest.mlp = mlp({text.mlp_gate, text.mlp_up, text.mlp_down, gate_rows}, layer, width_);
  }
  rest.norms.mlp_norm = read_norm(text.mlp_norm, layer);
  rest.norms.mlp_output_norm = read_norm(text.mlp_output_norm, layer);
  rest.norms.mlp_end_norm = read_norm(text.mlp_end_norm, layer);
  rest.norms.mlp_scale = read_scale(text.mlp_scale, layer);
  read_layer_input(rest, layer);
  return rest;
}

MatrixXf Transformer::finished(const MatrixXf& tokens) const {
  return read_norm(names().final_norm)(tokens);
}

}  // namespace eigenscope
