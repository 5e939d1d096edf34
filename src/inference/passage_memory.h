// The memory of a passage: what later layers read beside the tokens that enter them.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "inference/transformer.h"

namespace eigenscope {

/// Ids and embeddings for the inputs of layers, and the tokens of layers whose keys later ones use. Empty for a model
/// without either.
class PassageMemory {
 public:
  /// `embedded` (d x T) are the embeddings of a passage with these ids.
  PassageMemory(const Transformer& model, const std::vector<int>& ids,
                const Eigen::MatrixXf& embedded) {
    if (!model.has_layer_inputs()) return;
    ids_ = ids;
    embedded_ = embedded;
  }

  /// Keeps the tokens (d x T) that enter a layer, where later ones use its keys.
  void enter(const Transformer& model, int layer, const Eigen::MatrixXf& tokens) {
    if (layer == model.layers() || !model.lends_keys(layer)) return;
    entered_.resize(static_cast<std::size_t>(layer + 1));
    entered_.back() = tokens;
  }
  /// The states of a layer whose heads have these weights: states_of().
  Eigen::MatrixXf states(const Transformer& model, int layer, const LayerWeights& weights,
                         const Eigen::MatrixXf& tokens) const {
    const int key_layer = model.key_layer(layer);
    if (key_layer == layer) return states_of(weights, tokens);
    return states_of(weights, tokens, entered_[static_cast<std::size_t>(key_layer)]);
  }

  /// The input of a layer: Transformer::layer_input().
  Eigen::MatrixXf input(const Transformer& model, int layer, const StoredLayerInput& stored) const {
    return model.layer_input(layer, stored, ids_, embedded_);
  }

 private:
  std::vector<int> ids_;
  Eigen::MatrixXf embedded_;
  std::vector<Eigen::MatrixXf> entered_;  // by layer; empty for most
};

}  // namespace eigenscope
