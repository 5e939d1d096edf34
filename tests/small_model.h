// The small transformer on which the tests of training compute gradients by hand and by differences.
#pragma once

#include <vector>

#include "nn/dropout.h"
#include "test_matrices.h"
#include "training/regularizers/head_products.h"
#include "training/regularizers/regularizer.h"

namespace eigenscope::testing {

inline ModelSettings small_model() {
  ModelSettings settings;
  settings.vocabulary = 7;
  settings.width = 8;
  settings.depth = 2;
  settings.heads = 4;
  settings.length = 5;
  settings.mlp_ratio = 1.5;
  return settings;
}

/// With what LLaMA has in place of GPT-2's parts.
inline ModelSettings small_llama() {
  ModelSettings settings = small_model();
  settings.key_heads = 2;
  settings.positions = Positions::rotary;
  settings.normalization = Normalization::rms;
  settings.mlp_kind = MlpKind::gated;
  settings.linear_bias = LinearBias::without;
  return settings;
}

/// Pre- and post-norm, rotary positions with grouped keys, and no MLP.
inline std::vector<ModelSettings> norms_and_positions() {
  std::vector<ModelSettings> all(4, small_model());
  all[1].norm = BlockNorm::post;
  all[2].positions = Positions::rotary;
  all[2].key_heads = 2;
  all[3].norm = BlockNorm::post;
  all[3].mlp_ratio = 0;
  return all;
}

/// Two sequences of five tokens, and the token after each.
inline const std::vector<TokenId> kTokens{0, 3, 6, 3, 1, 2, 5, 5, 4, 0};
inline const std::vector<TokenId> kTargets{3, 6, 3, 1, 2, 5, 5, 4, 0, 1};

/// A model with every parameter drawn, gains and biases too.
inline Model<double> drawn(const ModelSettings& settings) {
  Model<double> model(settings);
  initialize(model, {}, 5);
  const Eigen::Index count = model.layout().size;
  model.parameters() += 0.3 * random_matrix(count, 1, 9);
  return model;
}

/// Of the two sequences, with the gradient where it is asked for.
inline double loss_of(Model<double>& model, bool gradient = false, const Dropout& dropout = {}) {
  model.forward(kTokens, 5, {}, dropout);
  return model.loss(kTargets, gradient);
}

/// Every row of the table.
inline std::vector<RegularizerKind> regularizer_kinds() {
  std::vector<RegularizerKind> kinds;
  for (std::size_t k = 0; k < kRegularizerCount; ++k) {
    kinds.push_back(static_cast<RegularizerKind>(k));
  }
  return kinds;
}

/// That of `own` for this model, from seed 3.
template <class Scalar>
std::unique_ptr<Regularizer<Scalar>> regularizer_of(const RegularizerSettings& own,
                                                    const Model<Scalar>& model) {
  TrainSettings settings;
  settings.model = model.settings();
  settings.regularizer = own;
  settings.seed = 3;
  return make_regularizer<Scalar>(settings, model.layout());
}

/// tr(W)/d of every head, layer by layer.
template <class Scalar>
std::vector<double> head_means(const Model<Scalar>& model) {
  std::vector<double> means;
  for (Eigen::Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Eigen::Index head = 0; head < model.settings().heads; ++head) {
      means.push_back(head_traces(model, layer, head).xi /
                      static_cast<double>(model.settings().width));
    }
  }
  return means;
}

}  // namespace eigenscope::testing
