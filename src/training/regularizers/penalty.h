// The penalty that all forms of LocAteR share: squared deviation of a head's mean from its target, plus its scale.
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

}  // namespace eigenscope
