// AdamW: Loshchilov and Hutter, Decoupled weight decay regularization, 2019.
#pragma once

#include "nn/tensor.h"
#include "training/settings.h"

namespace eigenscope {

/// Learning rate of step `step` (from 0): in proportion to step + 1 while it is below `warmup`, then by the
/// schedule: half a cosine or a line down to final_rate times the largest at `steps`, or constant.
double learning_rate_at(const OptimizerSettings& settings, Eigen::Index step);

/// Euclidean norm of `count` numbers, summed in double precision and a fixed order.
double gradient_norm(const float* gradient, Eigen::Index count);

class AdamW {
 public:
  /// `decay` is the decoupled weight decay of each parameter, `rate` its learning rate over that of the settings;
  /// without `rate` all are 1.
  AdamW(const OptimizerSettings& settings, Vector<float> decay, Vector<float> rate = {});

  /// Moves the parameters by step number `step`, from 0, of the gradient times `shrink`, at `rate` times the learning
  /// rate of the schedule.
  void step(Eigen::Index step, float shrink, const Vector<float>& gradient,
            Vector<float>& parameters, double rate = 1);

  /// Decaying means of the gradient and of its square: the state beside the step.
  Vector<float> first, second;

 private:
  OptimizerSettings settings_;
  Vector<float> decay_, rate_;
};

}  // namespace eigenscope
