// Per-layer embeddings: what layers read of the ids of a passage beside its tokens.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>

#include "inference/transformer.h"
#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;

}  // namespace

void Transformer::read_layer_inputs(const ConfigKeys& keys) {
  const LayerInputNames& own = names().layer_input;
  if (own.gate.empty()) return;
  const std::string name = full_name(own.embeddings), key = "hidden_size_per_layer_input";
  bool has_gate = keys.number(key, 0, static_cast<double>(kLargestSide)).value_or(0) > 0;
  bool has_scale = false;
  for (int layer = 0; layer < layers_; ++layer) {
    has_gate = has_gate || has(own.gate, layer);
    has_scale = has_scale || has(names().layer_scale, layer);
  }
  for (int layer = 0; layer < layers_ && has_scale; ++layer) {
    if (has(names().layer_scale, layer)) continue;
    refuse_item(full_name(names().layer_scale, layer),
                "it is missing, though other layers have it");
  }
  if (!has_gate && !has(own.embeddings, 0)) return;
  const auto [tokens, width] = matrix_shape(*tensors_, name);
  const Index own_width = sides(own.gate, 0)[1];
  check_width(keys, key, full_name(own.gate), static_cast<std::uint64_t>(own_width));
  if (tokens < vocabulary_ || width != layers_ * own_width) {
    refuse_item(name, {"its shape ", shape_text(tensors_->tensor(name)), " must be ",
                       std::to_string(vocabulary_), " tokens, and ", std::to_string(layers_),
                       " layers times ", std::to_string(own_width)});
  }
  layer_input_width_ = own_width;
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
  const LayerInputNames& own = text.layer_input;
  if (has(text.layer_scale, layer)) {
    rest.norms.layer_scale = read_bias(full_name(text.layer_scale, layer), 1)[0];
  }
  if (!has_layer_inputs()) return;
  const Index width = layer_input_width_;
  StoredLayerInput& input = rest.layer_input.emplace();
  const StoredLinear all = linear(own.projection, 0, layers_ * width, embedding_width_);
  input.projection = all.part(layer * width, width).read();
  input.projection.weight *= 1 / std::sqrt(static_cast<float>(embedding_width_));
  input.norm = read_norm_of(full_name(own.norm), width);
  input.maps.up = linear(own.gate, layer, width, width_);
  input.maps.down = linear(own.output, layer, width_, width);
  rest.norms.layer_input_norm = read_norm(own.output_norm, layer);
}

}  // namespace eigenscope
