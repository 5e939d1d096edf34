// What a training run logs: names, meanings, and the row.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "support/names.h"

namespace eigenscope {

/// A number that is logged. Those that no step gave yet are NaN.
struct LoggedMeasure {
  std::string_view name;
  Help meaning;  ///< with symbol, unit and range
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
                  "loss on the evaluated tokens of a table of the frequencies of tokens in the "
                  "training text; nats per token"},
    LoggedMeasure{"bigram_loss", "the same, given the token before"},
    LoggedMeasure{"trigram_loss", "the same, given the two tokens before"},
    LoggedMeasure{"perplexity", "exp(loss), at least 1"},
    LoggedMeasure{"learning_rate", "learning rate of the last step"},
    LoggedMeasure{"gradient_norm",
                  "Euclidean norm of the gradient in the last step, before clipping"},
    LoggedMeasure{"lowest_loss", "lowest validation loss so far; nats per token"},
    LoggedMeasure{"lowest_step", "step of lowest_loss"},
    LoggedMeasure{"gradient_embedding",
                  "norm of the gradient by the embeddings of tokens and positions, and by the "
                  "output weights where they are free"},
    LoggedMeasure{"gradient_query_key", "norm of the gradient by W_Q and W_K of all layers"},
    LoggedMeasure{"gradient_value", "norm of the gradient by W_V and W_O of all layers"},
    LoggedMeasure{"gradient_mlp", "norm of the gradient by the MLP matrices of all layers"},
    LoggedMeasure{"gradient_vectors", "norm of the gradient by all gains and biases"},
};
/// Of a layer's output over the measured sequences (token_geometry), and of its gradient.
inline constexpr std::array kRunLayerMeasures{
    LoggedMeasure{"residual",
                  "||X - mean_t(X) 1^T||_F/||X||_F of the layer's output X, in [0, 1]; 0 is rank "
                  "collapse; mean over the measured sequences"},
    LoggedMeasure{"effective_rank",
                  "exp of the entropy of the normalized singular values of X, from 1 to min(d, T); "
                  "mean over the measured sequences"},
    LoggedMeasure{"gradient_norm", "norm of the gradient by the layer's parameters"},
    LoggedMeasure{"gradient_query_key", "norm of the gradient by the layer's W_Q and W_K"},
};
/// Of a head: of W = W_Q W_K^T without LayerNorm's gain, and from `entropy` on means over the rows S of
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
    LoggedMeasure{"entropy", "row entropy over the log of the keys that the query sees, in [0, 1]"},
    LoggedMeasure{
        "entropy_bound",
        "lower bound of the entropy (Zhai et al., 2023, theorem 3.1), in [0, 1], for "
        "logits of norm ||X||_2 (||W||_F ||x|| + ||W_K b_Q||)/sqrt(d_h), x the query's "
        "token of X; NaN for rotary positions, with QK-norm and for attention other than softmax"},
    LoggedMeasure{"self_mass", "attention weight of a token on itself, in [0, 1]"},
    LoggedMeasure{"self_excess",
                  "Delta, logit of a token with itself minus its mean logit with the keys before"},
    LoggedMeasure{
        "self_reference",
        "1/(1 + t exp(-Delta)) for t keys before the query and the batch's mean Delta, in [0, 1]: "
        "self_mass if the logits with all keys before were equal"},
    LoggedMeasure{"sensitivity",
                  "1 - sum S_i^2, the sum of S_i (1 - S_i) over the keys, in [0, 1)"},
    LoggedMeasure{"logit_variance",
                  "variance of a row's logits over the keys; its five parts follow"},
    LoggedMeasure{"content_content",
                  "part of logit_variance: content of the query with content of the key; parts may "
                  "be negative and add up to it"},
    LoggedMeasure{"content_position",
                  "part of logit_variance: content of one with position of the other"},
    LoggedMeasure{"position_position",
                  "part of logit_variance: position of the query with position of the key"},
    LoggedMeasure{"bias_part",
                  "part of logit_variance: query bias with content and position of the key"},
    LoggedMeasure{
        "sink_part",
        "part of logit_variance: any query with what the first token has beyond position"},
};

/// One row of the log: the state after `step` steps.
struct LogRow {
  Eigen::Index step = 0;
  std::array<double, kRunMeasures.size()> run{};
  std::vector<std::array<double, kRunLayerMeasures.size()>> layers;
  std::vector<std::array<double, kRunHeadMeasures.size()>> heads;  ///< layer by layer

  double measure(std::string_view name) const;  ///< of kRunMeasures
  double& measure(std::string_view name);
  /// Mean over the heads, or the layers, that have a value (localization may be NaN).
  double head_mean(std::string_view name) const;
  double layer_mean(std::string_view name) const;
};

}  // namespace eigenscope
