#include "labs/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kPairs = 10;
constexpr double kArmijo = 1e-4;
constexpr double kShortest = 1e-10;
/// Pairs with <step, change> below this share of |step| |change| have no reliable curvature and are not kept.
constexpr double kFlat = 1e-10;

double inner(const VectorXd& a, const VectorXd& b) {
  return inner_product(a.data(), b.data(), a.size());
}

}  // namespace

Lbfgs::Lbfgs(Function function, VectorXd start, Limits limits)
    : function_(std::move(function)),
      limits_(limits),
      at_(std::move(start)),
      gradient_(at_.size()) {
  value_ = function_(at_, gradient_);
  ++evaluations_;
}

double Lbfgs::gradient_size() const {
  return std::sqrt(inner(gradient_, gradient_) / static_cast<double>(gradient_.size()));
}

VectorXd Lbfgs::direction() const {
  VectorXd direction = -gradient_;
  std::vector<double> shares(pairs_.size());
  for (std::size_t i = pairs_.size(); i-- > 0;) {
    shares[i] = inner(pairs_[i].step, direction) / pairs_[i].product;
    direction -= shares[i] * pairs_[i].change;
  }
  const Pair& last = pairs_.back();
  direction *= last.product / inner(last.change, last.change);
  for (std::size_t i = 0; i < pairs_.size(); ++i) {
    const double back = inner(pairs_[i].change, direction) / pairs_[i].product;
    direction += (shares[i] - back) * pairs_[i].step;
  }
  return direction;
}

bool Lbfgs::advance() {
  if (converged() || iterations_ >= limits_.iterations) return true;
  ++iterations_;
  VectorXd along = pairs_.empty() ? VectorXd(-gradient_) : direction();
  double slope = inner(along, gradient_);
  if (!(slope < 0)) {
    pairs_.clear();
    along = -gradient_;
    slope = inner(along, gradient_);
  }
  double length = pairs_.empty() ? std::min(1.0, 1 / std::sqrt(-slope)) : 1;
  if (length_ > 0) length = 2 * length_;
  VectorXd next(at_.size()), next_gradient(at_.size());
  for (;; length /= 2) {
    if (length < kShortest) return true;  // rounding hides any descent that is left
    next = at_ + length * along;
    const double value = function_(next, next_gradient);
    ++evaluations_;
    if (!(value <= value_ + kArmijo * length * slope)) continue;
    value_ = value;
    break;
  }
  if (limits_.descent == Descent::gradient) {
    length_ = length;
    at_.swap(next);
    gradient_.swap(next_gradient);
    return converged() || iterations_ >= limits_.iterations;
  }
  Pair pair{next - at_, next_gradient - gradient_, 0};
  pair.product = inner(pair.step, pair.change);
  const double norms = std::sqrt(inner(pair.step, pair.step) * inner(pair.change, pair.change));
  if (pair.product > kFlat * norms) {
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > kPairs) pairs_.pop_front();
  }
  at_.swap(next);
  gradient_.swap(next_gradient);
  return converged() || iterations_ >= limits_.iterations;
}

}  // namespace eigenscope
