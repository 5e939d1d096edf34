// What a layer makes of its states beside, or in the place of, what heads read.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <utility>

#include "inference/layer.h"

namespace eigenscope {

/// Gives what the output projection reads of one passage of T tokens.
class TokenMixer {
 public:
  virtual ~TokenMixer() = default;
  /// `projected` are the states after linear maps, one below the other, `read` (H d_v x T) is what heads read, of which
  /// a layer without heads has none. Returns the inputs of the output projection, inputs x T.
  virtual Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                                     const Eigen::MatrixXf& read) const = 0;
};

/// What the heads of a layer read, times the sigmoid of as many projected states (Qiu et al., 2025, arXiv:2505.06708).
class OutputGate final : public TokenMixer {
 public:
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;
};

/// A causal convolution of each channel over positions: y_t = bias + sum_i weight(i) x_(t - L + 1 + i), x_t = 0 before
/// the passage.
struct CausalConvolution {
  Eigen::MatrixXf weight;  ///< L x channels
  Eigen::VectorXf bias;    ///< by channel; empty for none

  Eigen::Index channels() const { return weight.cols(); }
  /// Columns of `x` begin `leading` apart with the channels at each of `length` positions. Returns y, channels x T.
  Eigen::MatrixXf operator()(const float* x, Eigen::Index leading, Eigen::Index length) const;
};

/// C * conv(B * x), entry by entry, of projected states [B | C | x] (Liquid AI, 2025, arXiv:2511.23404).
class ShortConvolution final : public TokenMixer {
 public:
  explicit ShortConvolution(CausalConvolution convolution) : convolution_(std::move(convolution)) {}
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;

 private:
  CausalConvolution convolution_;
};

/// Counts of heads of the delta rule, and their widths.
struct DeltaHeads {
  Eigen::Index keys = 0, key_width = 0;      ///< of queries and keys; d_k
  Eigen::Index values = 0, value_width = 0;  ///< of values; d_v
  /// Head h of the values uses keys h mod `keys`; else heads that share keys follow one another.
  bool in_turn = false;
};

/// The gated delta rule (Yang, Kautz, Hatamizadeh, 2024, arXiv:2412.06464), eq. 10: each head of the values has a state
/// S (d_k x d_v), and at each position S <- e^g S, then S <- S + b k (v - S^T k)^T; it reads S^T q, whose norm is
/// multiplied by silu(z). Queries and keys, each shared by as many heads, have length 1; queries are divided by
/// sqrt(d_k). With the rate of decay r, g = -r ln(1 + exp(a + step bias)), and b = sigmoid(w). Projected states are
/// [q | k | v | z | w | a], of which q, k and v go through the convolution and silu.
class DeltaRule final : public TokenMixer {
 public:
  /// Of the weights of the model.
  struct Weights {
    CausalConvolution convolution;
    Eigen::VectorXf rate, step_bias;  ///< by head of the values
    Norm norm;                        ///< of what one head reads
  };
  DeltaRule(const DeltaHeads& heads, Weights weights)
      : heads_(heads), weights_(std::move(weights)) {}
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;

 private:
  DeltaHeads heads_;
  Weights weights_;
};

/// Widths of a state space: heads of the values x, each of a width, and groups of heads that follow one another, whose
/// inputs B and outputs C they share.
struct StateSpaceHeads {
  Eigen::Index heads = 0, width = 0;
  Eigen::Index groups = 1, states = 0;

  Eigen::Index values() const { return heads * width; }
  Eigen::Index shared() const { return groups * states; }
  /// Of the convolution.
  Eigen::Index channels() const { return values() + 2 * shared(); }
};

/// Between which the steps of a state space are cut.
struct StepLimits {
  float least = 0, most = std::numeric_limits<float>::infinity();
};

/// Mamba-2 (Dao, Gu, 2024, arXiv:2405.21060), eq. 2 with the steps of its section 2.1: each head has states S (states x
/// width), and at each position S <- e^(-r d) S + d B x^T, of which it reads C^T S + D x; d = ln(1 + exp(s + step bias)).
/// What all heads read, or those of a group, times silu(z), has a norm, or none, or one before that product. Projected
/// states are [z | x | B | C | s], of which x, B and C go through the convolution and silu. What heads of attention
/// read stands above it.
class StateSpace final : public TokenMixer {
 public:
  /// Of the weights of the model.
  struct Weights {
    CausalConvolution convolution;
    Eigen::VectorXf rate, step_bias, skip;  ///< by head: r, of the steps, and D
    Norm norm;             ///< of what all heads read, or those of a group, without the gain
    Eigen::VectorXf gain;  ///< of what all heads read; as the norm, empty for none
    bool norm_first = false;
    StepLimits limits;
  };
  StateSpace(const StateSpaceHeads& heads, Weights weights)
      : heads_(heads), weights_(std::move(weights)) {}
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;

 private:
  StateSpaceHeads heads_;
  Weights weights_;
};

/// Mamba (Gu, Dao, 2023, arXiv:2312.00752), algorithm 2, with norms of its inputs (Lieber et al., 2024,
/// arXiv:2403.19887): each channel has N states s, and at each position s <- e^(-r d) s + d B x, entry by entry, of which
/// it reads C . s + D x, times silu(z). All channels x, after a convolution and silu, make [u | B | C], each with a norm,
/// and d = ln(1 + exp(step u)). Projected states are [x | z].
class SelectiveScan final : public TokenMixer {
 public:
  /// Of the weights of the model.
  struct Weights {
    CausalConvolution convolution;
    Linear states, step;        ///< to u, B and C, and to the channels
    std::array<Norm, 3> norms;  ///< of u, B and C
    Eigen::MatrixXf rate;       ///< r, N x channels
    Eigen::VectorXf skip;       ///< D, by channel
  };
  explicit SelectiveScan(Weights weights) : weights_(std::move(weights)) {}
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;

 private:
  Weights weights_;
};

}  // namespace eigenscope
