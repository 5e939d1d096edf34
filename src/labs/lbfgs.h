// Minimization of a smooth function by limited-memory BFGS or gradient descent, one iteration at a time.
#pragma once

#include <Eigen/Core>
#include <array>
#include <deque>
#include <functional>

#include "support/choice.h"

namespace eigenscope {

enum class Descent { lbfgs, gradient };
inline constexpr std::array kDescentNames{Choice{"l-bfgs", "L-BFGS"},
                                          Choice{"gradient-descent", "gradient descent"}};

/// L-BFGS (Nocedal, 1980), or descent along the gradient, with backtracking to Armijo's condition. Sums run in fixed
/// lanes, so the path is the same to the last bit natively and in WASM where the function's values are.
class Lbfgs {
 public:
  /// The value at a point, and its gradient, which has the point's size.
  using Function = std::function<double(const Eigen::VectorXd& at, Eigen::VectorXd& gradient)>;

  struct Limits {
    /// Root mean square of the gradient's entries below which it has converged.
    double gradient = 1e-6;
    int iterations = 500;
    Descent descent = Descent::lbfgs;
  };

  Lbfgs(Function function, Eigen::VectorXd start, Limits limits);

  /// Does one iteration; true when it has converged, when no step lowers the value, or after the last iteration.
  bool advance();

  const Eigen::VectorXd& at() const { return at_; }
  double value() const { return value_; }
  /// Root mean square of the gradient's entries.
  double gradient_size() const;
  bool converged() const { return gradient_size() <= limits_.gradient; }
  int iterations() const { return iterations_; }
  /// Calls of the function so far.
  int evaluations() const { return evaluations_; }

 private:
  /// A step with the change of the gradient along it.
  struct Pair {
    Eigen::VectorXd step, change;
    double product;
  };

  Eigen::VectorXd direction() const;

  Function function_;
  Limits limits_;
  Eigen::VectorXd at_, gradient_;
  double value_ = 0;
  std::deque<Pair> pairs_;
  double length_ = 0;  // last step of gradient descent, over the gradient
  int iterations_ = 0, evaluations_ = 0;
};

}  // namespace eigenscope
