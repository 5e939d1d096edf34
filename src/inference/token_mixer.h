// What a layer makes of its states beside, or in the place of, what heads read.
#pragma once

#include <Eigen/Core>
#include <variant>

#include "inference/layer.h"

namespace eigenscope {

/// What the heads of a layer read, times the sigmoid of as many projected states (Qiu et al., 2025, arXiv:2505.06708).
struct OutputGate {};

/// A causal convolution of each channel over positions: y_t = bias + sum_i weight(i) x_(t - L + 1 + i), x_t = 0 before
/// the passage.
struct CausalConvolution {
  Eigen::MatrixXf weight;  ///< L x channels
  Eigen::VectorXf bias;    ///< by channel; empty for none

  Eigen::Index channels() const { return weight.cols(); }
  /// `x` is channels x T, and so is y.
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& x) const;
};

/// C * conv(B * x), entry by entry, of projected states [B | C | x] (Liquid AI, 2025, arXiv:2511.23404).
struct ShortConvolution {
  CausalConvolution convolution;
};

/// The gated delta rule (Yang, Kautz, Hatamizadeh, 2024, arXiv:2412.06464), eq. 10: each head of the values has a state
/// S (d_k x d_v), and at each position S <- e^g S, then S <- S + b k (v - S^T k)^T; it reads S^T q, whose norm is
/// multiplied by silu(z). Queries and keys, each shared by as many heads, have length 1; queries are divided by
/// sqrt(d_k). With the rate of decay r, g = -r ln(1 + exp(a + step bias)), and b = sigmoid(w). Projected states are
/// [q | k | v | z | w | a], of which q, k and v go through the convolution and silu.
struct DeltaRule {
  Eigen::Index key_heads = 0, key_width = 0;  ///< of queries and keys; d_k
  Eigen::Index heads = 0, value_width = 0;    ///< of values; d_v
  bool in_turn =
      false;  ///< head h uses keys h mod `key_heads`, not one of as many that follow one another
  CausalConvolution convolution;
  Eigen::VectorXf rate, step_bias;  ///< by head of the values
  Norm norm;                        ///< of what one head reads
};

using TokenMixer = std::variant<OutputGate, ShortConvolution, DeltaRule>;

/// What the output projection reads of one passage of T tokens (its inputs x T). `projected` are the projected states,
/// `read` what heads read (H d_v x T), which an output gate alone needs.
Eigen::MatrixXf mix_tokens(const TokenMixer& mixer, const Eigen::MatrixXf& projected,
                           const Eigen::MatrixXf& read);

}  // namespace eigenscope
