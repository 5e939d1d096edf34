// Inputs of the layers: embeddings of tokens, positions and pictures, and per-layer embeddings beside them.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "inference/transformer.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

}  // namespace

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
  if (scaled_embedding_) tokens *= std::sqrt(static_cast<float>(width_));
  tokens *= embedding_factor_;
  if (embeds_positions()) {
    add_positions(ids, first_position_ + first, tokens);
  }
  if (has_types_) {
    tokens.colwise() += VectorXf(read_rows(full_name(names().type_embedding), 0, 1));
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
  if (!has(names().embedding_projection, 0)) return tokens;
  return linear(names().embedding_projection, 0, width_, embedding_width_).read()(tokens);
}

Eigen::MatrixXd Transformer::token_embeddings(Index begin, Index end) const {
  return read_rows(match_.embeddings, begin, end - begin).transpose().cast<double>();
}

void Transformer::read_layer_inputs(const ConfigKeys& keys) {
  const LayerInputNames& tensors = names().layer_input;
  if (tensors.gate.empty()) return;
  const std::string name = full_name(tensors.embeddings), key = "hidden_size_per_layer_input";
  bool has_gate = keys.number(key, 0, static_cast<double>(kLargestSide)).value_or(0) > 0;
  bool has_scale = false;
  for (int layer = 0; layer < layers_; ++layer) {
    has_gate = has_gate || has(tensors.gate, layer);
    has_scale = has_scale || has(names().layer_scale, layer);
  }
  for (int layer = 0; layer < layers_ && has_scale; ++layer) {
    if (has(names().layer_scale, layer)) continue;
    refuse_item(full_name(names().layer_scale, layer),
                "it is missing, though other layers have it");
  }
  if (!has_gate && !has(tensors.embeddings, 0)) return;
  const auto [tokens, width] = matrix_shape(*tensors_, name);
  const Index input_width = sides(tensors.gate, 0)[1];
  check_width(keys, key, full_name(tensors.gate), static_cast<std::uint64_t>(input_width));
  if (tokens < vocabulary_ || width != layers_ * input_width) {
    refuse_item(name, {"its shape ", shape_text(tensors_->tensor(name)), " must be ",
                       std::to_string(vocabulary_), " tokens, and ", std::to_string(layers_),
                       " layers times ", std::to_string(input_width)});
  }
  layer_input_width_ = input_width;
}

MatrixXf Transformer::layer_input(int layer, const StoredLayerInput& stored,
                                  std::span<const int> ids, const MatrixXf& embedded) const {
  const Index width = layer_input_width_;
  MatrixXf input = stored.norm(stored.projection(embedded));
  const std::string embeddings = full_name(names().layer_input.embeddings);
  const float scale = std::sqrt(static_cast<float>(width));
  Eigen::VectorXf looked_up(width);
  for (Index t = 0; t < input.cols(); ++t) {
    const Index id = ids[static_cast<std::size_t>(t)];
    read_finite(*tensors_, embeddings, (id * layers_ + layer) * width, looked_up.data(), width);
    for (Index i = 0; i < width; ++i) {
      input(i, t) = (input(i, t) + scale * looked_up[i]) / std::numbers::sqrt2_v<float>;
    }
  }
  return input;
}

void Transformer::read_layer_input(StoredRest& rest, int layer) const {
  const ForwardNames& text = names();
  const LayerInputNames& tensors = text.layer_input;
  if (has(text.layer_scale, layer)) {
    rest.norms.layer_scale = read_bias(full_name(text.layer_scale, layer), 1)[0];
  }
  if (!has_layer_inputs()) return;
  const Index width = layer_input_width_;
  StoredLayerInput& input = rest.layer_input.emplace();
  const StoredLinear all = linear(tensors.projection, 0, layers_ * width, embedding_width_);
  input.projection = all.part(layer * width, width).read();
  input.projection.weight *= 1 / std::sqrt(static_cast<float>(embedding_width_));
  input.norm = read_norm_of(full_name(tensors.norm), width);
  input.maps.up = linear(tensors.gate, layer, width, width_);
  input.maps.down = linear(tensors.output, layer, width_, width);
  rest.norms.layer_input_norm = read_norm(tensors.output_norm, layer);
}

}  // namespace eigenscope
