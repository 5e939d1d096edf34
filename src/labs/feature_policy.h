// Policies that choose an action from an observation of F numbers, with their gradients: self-attention over
// the features, and the policies that it is compared with.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/tensor.h"
#include "nn/tokens.h"
#include "support/choice.h"

namespace eigenscope {

/// Input of the hidden layer of a policy.
enum class PolicyKind {
  attention,  ///< the sum of tokens and their self-attention, over sqrt(F)
  uniform,    ///< attention weights of 1/F, which leaves the sum of x_i u_i and a bias
  gate,       ///< feature i times F softmax(g)_i, with trained numbers g
  sparse,     ///< the features, with a penalty on the absolute weights
  plain       ///< the features
};
inline constexpr std::array kPolicyNames{
    Choice{"attention", "self-attention"}, Choice{"uniform", "uniform weights"},
    Choice{"gate", "static gate"}, Choice{"sparse", "perceptron, L1"},
    Choice{"plain", "perceptron"}};

/// True if the policy adds up tokens of features, so that the order of features is immaterial.
constexpr bool has_tokens(PolicyKind kind) {
  return kind == PolicyKind::attention || kind == PolicyKind::uniform;
}

/// Sizes of an observation and a policy.
struct PolicyShape {
  Eigen::Index features = 1;  ///< F
  Eigen::Index actions = 2;
  Eigen::Index width = 16;   ///< d, of tokens, queries, keys and values
  Eigen::Index hidden = 32;  ///< hidden units behind self-attention

  /// Hidden units of a policy whose number of parameters is as near as possible to that of self-attention.
  Eigen::Index hidden_of(PolicyKind kind) const;
};

/// The token of feature i is x_i u_i + p_i, with trained u_i and p_i of width d; self-attention adds
/// V softmax(K^T q / sqrt(d)) to it. Behind this is one hidden layer of ReLUs.
template <class Scalar>
class FeaturePolicy {
 public:
  /// Independent normal weights with the standard deviations 1/sqrt(2) of tokens and one over the square root of
  /// its inputs of each linear map; biases and g are 0.
  FeaturePolicy(PolicyKind kind, const PolicyShape& shape, std::uint64_t seed,
                std::uint64_t stream);

  /// Observations F x B.
  void forward(const Matrix<Scalar>& observations);
  /// After forward, actions x B.
  const Matrix<Scalar>& logits() const { return logits_; }

  /// After forward with the same observations: mean over the batch of -log p(action), times the observation's
  /// advantage unless there are none, plus `penalty` times the sum of the absolute weights of the hidden layer of a
  /// sparse policy. The gradient by parameters() is in gradient(); logits are lost.
  double backward(const Matrix<Scalar>& observations, std::span<const TokenId> actions,
                  Scalar penalty, std::span<const Scalar> advantages = {});

  Vector<Scalar>& parameters() { return parameters_; }
  const Vector<Scalar>& gradient() const { return gradient_; }

  /// After forward: F numbers with the sum 1. Attention: mean weight on each feature over queries and
  /// observations; gate: softmax(g); perceptrons: squared weights of the hidden layer.
  Eigen::VectorXd feature_shares() const;
  /// U^T W_QK U of self-attention, F x F, whose entry (i, j) times x_i x_j is the part of the logit of query i and
  /// key j that depends on both features.
  Eigen::MatrixXd feature_logits() const;

 private:
  using Index = Eigen::Index;

  /// Number of inputs of the hidden layer.
  Index inputs() const { return has_tokens(kind_) ? shape_.width : shape_.features; }
  /// First parameter of each matrix, one after the other.
  Index place() const { return shape_.width * shape_.features; }
  Index attention() const;
  Index up() const;
  Index up_bias() const { return up() + hidden_ * inputs(); }
  Index down() const { return up_bias() + hidden_; }
  Index down_bias() const { return down() + shape_.actions * hidden_; }
  Index size() const { return down_bias() + shape_.actions; }

  AttentionShape attention_shape(Index batch) const;
  /// 1/sqrt(F), times the sums over tokens.
  Scalar scale() const;
  void attend(const Matrix<Scalar>& observations);
  void attend_backward(const Matrix<Scalar>& observations);
  void average(const Matrix<Scalar>& observations);
  void average_backward(const Matrix<Scalar>& observations);
  void gate_backward(const Matrix<Scalar>& observations);

  PolicyKind kind_;
  PolicyShape shape_;
  Index hidden_;
  Vector<Scalar> parameters_, gradient_;
  // Shapes with self-attention: d x BF, 3d x BF, F x BF, d x BF. With uniform
  // weights tokens_ is their sum, d x B.
  Matrix<Scalar> tokens_, fused_, weights_, attended_;
  Matrix<Scalar> read_, up_, active_, logits_;
  Matrix<Scalar> dread_, dup_, dattended_, dfused_, dtokens_;
};

// REINFORCE for one step (Williams, 1992): actions drawn from a policy, and by how much rewards exceed a baseline.

/// Draws an action for each column of logits (actions x B) from its softmax. Column b has draw `first` + b of the
/// stream.
template <class Scalar>
std::vector<TokenId> sampled_actions(const Matrix<Scalar>& logits, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t first);

/// Each reward minus the mean of the others, of which there is one at least. The baseline does not depend on the
/// action of the observation, so that the mean of advantage times gradient of log p(action) is, in expectation, the
/// gradient of the mean reward.
template <class Scalar>
std::vector<Scalar> advantages_of(std::span<const Scalar> rewards);

}  // namespace eigenscope
