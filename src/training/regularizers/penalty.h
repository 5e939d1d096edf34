// The penalty that all forms of LocAteR share: squared deviation of a head's mean from its target,
// plus its scale; and the head with bias and norm that some forms penalize.
#pragma once

#include <memory>

#include "training/regularizers/regularizer.h"

namespace eigenscope {

/// The numbers of one head that the penalty depends on.
template <class Scalar>
struct PenalizedHead {
  virtual ~PenalizedHead() = default;
  double trace = 0, scale = 0;  ///< d times the mean, and d times the scale, of the penalty
  /// Adds of_trace dtrace + of_scale dscale to the model's gradient.
  virtual void add_slopes(Scalar of_trace, Scalar of_scale, Model<Scalar>& model) const = 0;
};

/// R = sum over the heads on which the settings let it act of c_mean (trace/d - m*)^2 + c_scale scale/d.
template <class Scalar>
class HeadPenalty : public Regularizer<Scalar> {
 public:
  explicit HeadPenalty(const TrainSettings& settings) : settings_(settings.regularizer) {}

  double mean(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head) const override {
    return head_of(model, layer, head)->trace / static_cast<double>(model.settings().width);
  }
  double add_penalty(const std::vector<double>& targets, Model<Scalar>& model) const override {
    const auto d = static_cast<double>(model.settings().width);
    double penalty = 0;
    for_acting_heads(model, [&](Eigen::Index layer, Eigen::Index head, std::size_t number) {
      const std::unique_ptr<PenalizedHead<Scalar>> penalized = head_of(model, layer, head);
      const double excess = penalized->trace / d - targets[number];
      penalty +=
          settings_.mean_weight * excess * excess + settings_.scale_weight * penalized->scale / d;
      penalized->add_slopes(static_cast<Scalar>(2 * settings_.mean_weight * excess / d),
                            static_cast<Scalar>(settings_.scale_weight / d), model);
    });
    return penalty;
  }

 protected:
  virtual std::unique_ptr<PenalizedHead<Scalar>> head_of(const Model<Scalar>& model,
                                                         Eigen::Index layer,
                                                         Eigen::Index head) const = 0;
  /// visit(layer, head, number): `number` counts all heads of the model.
  template <class Visit>
  void for_acting_heads(const Model<Scalar>& model, Visit visit) const {
    const Eigen::Index heads = model.settings().heads;
    for (Eigen::Index layer = 0; layer < model.settings().depth; ++layer) {
      for (Eigen::Index head = 0; head < settings_.acting(heads); ++head) {
        visit(layer, head, static_cast<std::size_t>(layer * heads + head));
      }
    }
  }
  const RegularizerSettings& settings() const { return settings_; }

 private:
  RegularizerSettings settings_;
};

/// The penalty of heads that depend on the model alone: the constructor of `Head` takes model, layer and head.
template <class Scalar, class Head>
class PenaltyOf : public HeadPenalty<Scalar> {
 public:
  PenaltyOf(const TrainSettings& settings, const ParameterLayout&)
      : HeadPenalty<Scalar>(settings) {}

 protected:
  std::unique_ptr<PenalizedHead<Scalar>> head_of(const Model<Scalar>& model, Eigen::Index layer,
                                                 Eigen::Index head) const override {
    return std::make_unique<Head>(model, layer, head);
  }
};

inline constexpr std::array<std::string_view, 6> kPenaltySettings{
    "mean_weight", "scale_weight", "target_kind", "target", "target_heads", "target_steps"};

/// A head as the logits depend on it: with the query bias and the norm's gain and bias, or under the covariance of the
/// tokens. A regularizer of W_Q W_K^T alone does not see these: the query bias can carry all of attention while W
/// vanishes.
///
/// Queries Q x + c and keys K x of tokens x with covariance S and mean mu: trace tr(K S Q^T), scale
/// tr((Q S Q^T + c c^T) K S K^T).
///
/// Without `moments` attention reads x = g z + beta, z normalized by the norm before it (g = 1 and beta = 0 where
/// there is none) and of identity covariance: Q = W_Q^T diag(g), K = W_K^T diag(g), c = b_Q + W_Q^T beta, S = I. The
/// scale is then ||[Q^T; c^T] K||_F^2, the variance of q^T k over independent z, z'.
///
/// With `moments`, d x (d + 1), S and mu in its last column: Q = W_Q^T, K = W_K^T, c = b_Q + W_Q^T mu, and the scale is
/// d_h times the variance of the logits of independent tokens of these moments. With S = I, mu = 0 and b_Q = 0 it is
/// ||W||_F^2.
template <class Scalar>
struct EffectiveHead final : PenalizedHead<Scalar> {
  EffectiveHead(const Model<Scalar>& model, Eigen::Index layer, Eigen::Index head,
                const Matrix<Scalar>* moments = nullptr);
  /// The moments are held constant.
  void add_slopes(Scalar of_trace, Scalar of_scale, Model<Scalar>& model) const override;
  /// W diag(g), or W S.
  Matrix<Scalar> seen(const Matrix<Scalar>& weights) const;

  /// Offsets of gain and bias of the norm whose output attention reads; -1 where there is none.
  Eigen::Index norm_gain = -1, norm_bias = -1;
  Eigen::Index d, width, leading, query_row, key_row, fused, bias;
  bool folded;
  Vector<Scalar> gain, mean, constant;  ///< constant: c
  Matrix<Scalar> covariance;
  Matrix<Scalar> query, key, query_seen, key_seen, query_gram, key_gram;
};

}  // namespace eigenscope
