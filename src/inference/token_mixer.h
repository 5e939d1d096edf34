// Token mixers: what the output projection of a layer reads beside the outputs of attention heads, or in their place.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <utility>

#include "inference/layer.h"

namespace eigenscope {

/// Computes the inputs of the output projection for one passage of T tokens.
class TokenMixer {
 public:
  virtual ~TokenMixer() = default;
  /// `projected` are the states after linear maps, one below the other; `read` (H d_v x T) are the outputs of the
  /// heads, empty in a layer without heads. Returns the inputs of the output projection, inputs x T.
  virtual Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                                     const Eigen::MatrixXf& read) const = 0;
};

/// An output gate (Qiu et al., 2025, arXiv:2505.06708): the outputs of the heads times the sigmoid of as many projected
/// states, entry by entry.
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
  Eigen::Index keys = 0, key_width = 0;      ///< heads of queries and keys, and their width d_k
  Eigen::Index values = 0, value_width = 0;  ///< heads of values, and their width d_v
  /// Head h of the values uses keys h mod `keys`; else heads that share keys follow one another.
  bool in_turn = false;
};

/// The gated delta rule (Yang, Kautz, Hatamizadeh, 2024, arXiv:2412.06464), eq. 10: each head of the values has a state
/// S (d_k x d_v), and at each position S <- e^g S, then S <- S + b k (v - S^T k)^T; its output is norm(S^T q) silu(z).
/// Queries and keys, each shared by as many heads, have length 1; queries are divided by sqrt(d_k). With the rate of
/// decay r, g = -r ln(1 + exp(a + step bias)), and b = sigmoid(w). Projected states are [q | k | v | z | w | a], of
/// which q, k and v go through the convolution and silu.
class DeltaRule final : public TokenMixer {
 public:
  /// The weights of a layer.
  struct Weights {
    CausalConvolution convolution;
    Eigen::VectorXf rate, step_bias;  ///< by head of the values
    Norm norm;                        ///< over the output of one head
  };
  DeltaRule(const DeltaHeads& heads, Weights weights)
      : heads_(heads), weights_(std::move(weights)) {}
  Eigen::MatrixXf operator()(const Eigen::MatrixXf& projected,
                             const Eigen::MatrixXf& read) const override;

 private:
  DeltaHeads heads_;
  Weights weights_;
};

/// Sizes of a state space: heads of the values x with the channels `width` each, and groups of consecutive heads that
/// share their inputs B and outputs C, of `states` numbers each.
struct StateSpaceHeads {
  Eigen::Index heads = 0, width = 0;
  Eigen::Index groups = 1, states = 0;

  Eigen::Index values() const { return heads * width; }
  Eigen::Index shared() const { return groups * states; }
  /// Channels of the convolution: x, B and C.
  Eigen::Index channels() const { return values() + 2 * shared(); }
};

/// Range to which the steps d of a state space are clamped.
struct StepLimits {
  float least = 0, most = std::numeric_limits<float>::infinity();
};

/// Mamba-2 (Dao, Gu, 2024, arXiv:2405.21060), eq. 2 with the steps of its section 2.1: each head has states S (states x
/// width), and at each position S <- e^(-r d) S + d B x^T; its output is C^T S + D x, with d = ln(1 + exp(s + step
/// bias)). The outputs of all heads, or of a group, are multiplied by silu(z) and then normalized, normalized before
/// (`norm_first`), or not normalized. Projected states are [z | x | B | C | s], of which x, B and C go through the
/// convolution and silu. The outputs of attention heads stand above those of the state space.
class StateSpace final : public TokenMixer {
 public:
  /// The weights of a layer.
  struct Weights {
    CausalConvolution convolution;
    Eigen::VectorXf rate, step_bias, skip;  ///< by head: r, the bias of the steps, and D
    Norm norm;             ///< over the outputs of all heads, or of a group, without the gain
    Eigen::VectorXf gain;  ///< gain of the norm for all heads; empty for no norm
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
/// arXiv:2403.19887): each channel has N states s, and at each position s <- e^(-r d) s + d B x, entry by entry; its
/// output is (C . s + D x) silu(z). All channels x, after a convolution and silu, are mapped to [u | B | C], each with
/// a norm, and d = ln(1 + exp(step u)). Projected states are [x | z].
class SelectiveScan final : public TokenMixer {
 public:
  /// The weights of a layer.
  struct Weights {
    CausalConvolution convolution;
    Linear states, step;        ///< maps of x to [u | B | C], and of u to the channels
    std::array<Norm, 3> norms;  ///< norms of u, B and C
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
