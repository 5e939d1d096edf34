// The log of a training run: names and meanings of its measures, and its rows.
#pragma once

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "support/choice.h"

namespace eigenscope {

/// A logged number. It is NaN before the first step that measures it.
struct LoggedMeasure {
  std::string_view name;
  Help meaning;  ///< definition with symbol, unit and range
};

/// Gradients are those of the last step by what the optimizer trains, with the regularizer's, before
/// clipping.
inline constexpr std::array kRunMeasures{
    LoggedMeasure{"train_loss",
                  "cross-entropy of the last step's batch, without regularizer; nats per token"},
    LoggedMeasure{"loss", "cross-entropy of the validation text; nats per token"},
    LoggedMeasure{"bits_per_byte",
                  "loss/(ln 2 x bytes per token of the validation text); bits per byte"},
    LoggedMeasure{
        "bits_per_byte_error",
        "standard error of bits_per_byte over the evaluated sequences, as a sample of such "
        "text; bits per byte"},
    LoggedMeasure{"unigram_loss",
                  "unigram loss: loss on the evaluated tokens of a table of the training text's "
                  "token frequencies; nats per token"},
    LoggedMeasure{"bigram_loss",
                  "bigram loss: loss on the evaluated tokens of a table of the training text's "
                  "frequencies given the previous token; nats per token"},
    LoggedMeasure{"trigram_loss",
                  "trigram loss: loss on the evaluated tokens of a table of the training text's "
                  "frequencies given the two previous tokens; nats per token"},
    LoggedMeasure{"perplexity", "exp(loss), at least 1"},
    LoggedMeasure{"learning_rate", "learning rate of the last step"},
    LoggedMeasure{"gradient_norm",
                  "Euclidean norm of the gradient in the last step, before clipping"},
    LoggedMeasure{"lowest_loss", "lowest validation loss so far; nats per token"},
    LoggedMeasure{"lowest_step", "step of lowest_loss"},
    LoggedMeasure{
        "gradient_embedding",
        "gradient norm of the token and position embeddings and of untied output weights"},
    LoggedMeasure{"gradient_query_key", "gradient norm of W_Q and W_K in all layers"},
    LoggedMeasure{"gradient_value", "gradient norm of W_V and W_O in all layers"},
    LoggedMeasure{"gradient_mlp", "gradient norm of the MLP matrices in all layers"},
    LoggedMeasure{"gradient_vectors", "gradient norm of all gains and biases"},
};
/// Measures of a layer: the geometry of its output over the measured sequences (token_geometry), and its gradient.
inline constexpr std::array kRunLayerMeasures{
    LoggedMeasure{"residual",
                  "||X - mean_t(X) 1^T||_F/||X||_F of the layer's output X, in [0, 1]; 0 is rank "
                  "collapse; mean over the measured sequences"},
    LoggedMeasure{"effective_rank",
                  "exp of the entropy of the normalized singular values of X, from 1 to min(d, T); "
                  "mean over the measured sequences"},
    LoggedMeasure{"gradient_norm", "gradient norm of the layer's parameters"},
    LoggedMeasure{"gradient_query_key", "gradient norm of the layer's W_Q and W_K"},
};
/// Measures of a head: of W = W_Q W_K^T without LayerNorm's gain, and from `entropy` on means over the rows S of
/// its attention in the measured sequences, without the first row of each, which has one key. Logits are
/// those after division by sqrt(d_h). With attention self S is the identity, with none the measures of S
/// are NaN; those of W and of the logits are then of matrices that attention does not read.
inline constexpr std::array kRunHeadMeasures{
    LoggedMeasure{"mean", "m = tr(W)/d, mean of the eigenspectrum"},
    LoggedMeasure{"variance", "v = tr(W^2)/d - m^2; negative for mostly imaginary spectra"},
    LoggedMeasure{"variance_modulus", "mean of |mu - m|^2 over the d eigenvalues mu, at least 0"},
    LoggedMeasure{"variance_frobenius", "||W||_F^2/d - m^2, at least 0"},
    LoggedMeasure{"eta_s", "eta_S = tr(W^2)"},
    LoggedMeasure{"eta_f", "eta_F = ||W||_F^2, at least |eta_S|"},
    LoggedMeasure{"localization",
                  "localization index L in [0, 1 - 1/T] of the theory for these traces, the "
                  "normalized walk and the temperature sqrt(d_h); NaN where no signal propagates"},
    LoggedMeasure{"entropy", "row entropy over the log of the number of visible keys, in [0, 1]"},
    LoggedMeasure{
        "entropy_bound",
        "lower bound of the entropy (Zhai et al., 2023, theorem 3.1), in [0, 1], for "
        "logits of norm ||X||_2 (||W||_F ||x|| + ||W_K b_Q||)/sqrt(d_h), x the query's "
        "token of X; NaN for rotary positions, with QK-norm and for attention other than softmax"},
    LoggedMeasure{"self_mass", "attention weight of a token on itself, in [0, 1]"},
    LoggedMeasure{"self_excess",
                  "self-attention excess Delta: logit of a token with itself minus its mean logit "
                  "with the previous keys"},
    LoggedMeasure{"self_reference",
                  "1/(1 + t exp(-Delta)) for t previous keys and the batch's mean Delta, in [0, "
                  "1]; self_mass if all previous keys had equal logits"},
    LoggedMeasure{"sensitivity", "sensitivity: sum of S_i (1 - S_i) over the keys, in [0, 1)"},
    LoggedMeasure{"logit_variance",
                  "variance of a row's logits over the keys, the sum of the five parts below"},
    LoggedMeasure{
        "content_content",
        "part of logit_variance: content of the query with content of the key; can be negative"},
    LoggedMeasure{"content_position",
                  "part of logit_variance: content of query or key with position of the other"},
    LoggedMeasure{"position_position",
                  "part of logit_variance: position of the query with position of the key"},
    LoggedMeasure{"bias_part",
                  "part of logit_variance: query bias with content and position of the key"},
    LoggedMeasure{
        "sink_part",
        "part of logit_variance: query with the part of the first key beyond position (sink)"},
    LoggedMeasure{"sink", "sink score: attention weight on the first token, in [0, 1]"},
    LoggedMeasure{"largest_logit", "largest logit over the visible keys"},
    LoggedMeasure{"spread",
                  "sqrt(tr(W C W^T C)/d_h): standard deviation of the logits of independent tokens "
                  "with the covariance C of what attention reads"},
    LoggedMeasure{"sigma_max", "largest singular value of W"},
    LoggedMeasure{"stable_rank", "||W||_F^2/sigma_max^2, from 1 to d_h"},
    LoggedMeasure{"update_ratio", "||U||_F/||W||_F of the last step's change U of W"},
    LoggedMeasure{"update_entropy",
                  "entropy of the squared singular values of U over their sum, over log(2 d_h), in "
                  "[0, 1]"},
};

/// One row of the log: the state after `step` steps.
struct LogRow {
  Eigen::Index step = 0;
  std::array<double, kRunMeasures.size()> run{};
  std::vector<std::array<double, kRunLayerMeasures.size()>> layers;
  std::vector<std::array<double, kRunHeadMeasures.size()>> heads;  ///< layer by layer

  /// The measure of kRunMeasures with this name. All five throw InvalidArgument ("measure") for an unknown name.
  double measure(std::string_view name) const;
  double& measure(std::string_view name);
  /// Mean over the heads, or the layers, that have a value (localization may be NaN).
  double head_mean(std::string_view name) const;
  double layer_mean(std::string_view name) const;
  /// The smallest and the largest value over those heads; NaN for none.
  std::pair<double, double> head_extremes(std::string_view name) const;
};

}  // namespace eigenscope
