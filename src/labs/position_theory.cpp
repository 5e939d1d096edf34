#include "labs/position_theory.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <utility>

#include "support/decompositions.h"

namespace eigenscope {
namespace {

/// Nodes of the quadrature over each field.
constexpr int kNodes = 10;
constexpr int kIterations = 200;
/// Share of the new value in each iteration: the positional minimum oscillates with larger shares.
constexpr double kStep = 0.3;
constexpr double kTolerance = 1e-6;
constexpr int kNewton = 40;
/// Guess of the response of the training samples, which adds to the ridge.
constexpr double kFirstResponse = 0.01;
/// Iterations in which a proximal point may change to a lower minimum; after them it follows its present one, so that
/// no node jumps back and forth.
constexpr int kChoices = 25;

/// Nodes and weights of the standard normal law (Golub and Welsch, 1969).
std::pair<Eigen::VectorXd, Eigen::VectorXd> normal_quadrature(int count) {
  Eigen::MatrixXd jacobi = Eigen::MatrixXd::Zero(count, count);
  for (int i = 1; i < count; ++i)
    jacobi(i, i - 1) = jacobi(i - 1, i) = std::sqrt(static_cast<double>(i));
  const SymmetricEigen eigen = symmetric_eigen(jacobi);
  const Eigen::VectorXd& at = eigen.values;
  const Eigen::VectorXd weight = eigen.vectors.row(0).array().square().matrix();
  return {(at - at.reverse()) / 2, (weight + weight.reverse()) / 2};  // symmetric but for rounding
}

/// Least |h - cavity|^2 / (2 width) + loss of the sample at h, from a start: Newton's method, damped where the
/// curvature is not positive.
struct Proximal {
  double first, second;
  double value;

  Proximal(double cavity1, double cavity2, double start1, double start2, double position,
           double stiffness, const SelfWeights& target, double scale)
      : first(start1), second(start2) {
    const auto at = [&](double h1, double h2) {
      SampleLoss loss(h1 + position, h2 - position, target, scale);
      const double r1 = h1 - cavity1, r2 = h2 - cavity2;
      loss.value += stiffness / 2 * (r1 * r1 + r2 * r2);
      loss.d1 += stiffness * r1;
      loss.d2 += stiffness * r2;
      return loss;
    };
    SampleLoss here = at(first, second);
    double damping = 0;
    for (int i = 0; i < kNewton; ++i) {
      if (here.d1 * here.d1 + here.d2 * here.d2 < 1e-22) break;
      const double a = here.d11 + stiffness + damping, c = here.d22 + stiffness + damping;
      const double determinant = a * c - here.d12 * here.d12;
      if (a > 0 && determinant > 1e-12 * stiffness * stiffness) {
        const double h1 = first - (c * here.d1 - here.d12 * here.d2) / determinant;
        const double h2 = second - (a * here.d2 - here.d12 * here.d1) / determinant;
        const SampleLoss next = at(h1, h2);
        if (next.value <= here.value) {
          first = h1;
          second = h2;
          here = next;
          damping = damping > 1e-6 * stiffness ? damping / 4 : 0;
          continue;
        }
      }
      damping = std::max(4 * damping, stiffness / 4);
    }
    value = here.value;
  }
};

}  // namespace

SampleLaw::SampleLaw() {
  const auto [at, weight] = normal_quadrature(kNodes);
  // Exchanging the tokens and negating all fields maps a node to one of the same loss: one of both is enough, with
  // twice the weight.
  constexpr int kMirror = kNodes - 1;
  for (int i = 0; i < kNodes; ++i) {
    for (int j = kMirror - i; j < kNodes; ++j) {
      for (int k = 0; k < kNodes; ++k) {
        for (int l = i + j > kMirror ? 0 : kMirror - k; l < kNodes; ++l) {
          const bool is_symmetric = i + j == kMirror && k + l == kMirror;
          nodes_.push_back(
              {{at[i], at[j], at[k], at[l]},
               (is_symmetric ? 1 : 2) * weight[i] * weight[j] * weight[k] * weight[l]});
        }
      }
    }
  }
}

double SampleLaw::test_error(const TiedProblem& problem, const Overlaps& overlaps) const {
  const double std = problem.token_std;
  const double apart =
      std::sqrt(std::max(0.0, overlaps.square - overlaps.meaning * overlaps.meaning));
  double sum = 0;
  for (const auto& [at, weight] : nodes_) {
    const SelfWeights target = problem.teacher(std * at[0], std * at[1]);
    const double h1 = std * (overlaps.meaning * at[0] + apart * at[2]);
    const double h2 = std * (overlaps.meaning * at[1] + apart * at[3]);
    sum += weight *
           SampleLoss(h1 + overlaps.position, h2 - overlaps.position, target, 2 * std * std).value;
  }
  return sum;
}

double SampleLaw::best_constant(const TiedProblem& problem) const {
  const double std = problem.token_std;
  double mean = 0, square = 0;  // moments of a row; both rows have the same law about their mean
  for (const auto& [at, weight] : nodes_) {
    const double weight_on_self = problem.teacher(std * at[0], std * at[1])[0];
    mean += weight * weight_on_self;
    square += weight * weight_on_self * weight_on_self;
  }
  return 2 * std * std * (square - mean * mean);
}

SaddlePoint::SaddlePoint(const SampleLaw& law, const TiedProblem& problem, const Overlaps& guess)
    : law_(law),
      problem_(problem),
      overlaps_(guess),
      susceptibility_(1 / (problem.ridge + kFirstResponse * problem.samples_over_width)) {}

bool SaddlePoint::advance() {
  if (converged_ || iterations_ >= kIterations) return true;
  ++iterations_;
  const double std = problem_.token_std, variance = std * std, scale = 2 * variance;
  const double alpha = problem_.samples_over_width;
  const Overlaps now = overlaps_;
  const double stiffness = 1 / (variance * susceptibility_);
  const double apart = std::sqrt(std::max(0.0, now.square - now.meaning * now.meaning));
  double response = 0, response_square = 0, force_square = 0, force_meaning = 0, force_position = 0,
         fit = 0;
  const bool begins = fields_.empty();
  fields_.resize(law_.nodes().size());
  std::size_t k = 0;
  for (const auto& [at, weight] : law_.nodes()) {
    const double z1 = std * at[0], z2 = std * at[1];
    const SelfWeights target = problem_.teacher(z1, z2);
    const double cavity1 = std * (now.meaning * at[0] + apart * at[2]);
    const double cavity2 = std * (now.meaning * at[1] + apart * at[3]);
    // The proximal point is the lowest of the minima that two starts find.
    const auto from = [&](double h1, double h2) {
      return Proximal(cavity1, cavity2, h1, h2, now.position, stiffness, target, scale);
    };
    Proximal proximal = begins ? from(cavity1, cavity2) : from(fields_[k].first, fields_[k].second);
    if (!begins && iterations_ <= kChoices) {
      const Proximal other = from(cavity1, cavity2);
      if (other.value < proximal.value) proximal = other;
    }
    fields_[k++] = {proximal.first, proximal.second};
    const SampleLoss loss(proximal.first + now.position, proximal.second - now.position, target,
                          scale);
    const double force1 = stiffness * (proximal.first - cavity1);
    const double force2 = stiffness * (proximal.second - cavity2);
    // Trace of the derivative of the proximal point by the cavity field.
    const double a = 1 + loss.d11 / stiffness, b = loss.d12 / stiffness,
                 c = 1 + loss.d22 / stiffness;
    const double determinant = a * c - b * b;
    response += weight * (2 - (a + c) / determinant);
    const double j11 = 1 - c / determinant, j22 = 1 - a / determinant, j12 = b / determinant;
    response_square += weight * (j11 * j11 + j22 * j22 + 2 * j12 * j12);
    force_square += weight * (force1 * force1 + force2 * force2);
    force_meaning += weight * (force1 * z1 + force2 * z2);
    force_position += weight * (force1 - force2);
    fit += weight * loss.value;
  }
  replicon_ = alpha * response_square;
  loss_ = alpha * fit + problem_.ridge / 2 * now.square;
  const double hat = alpha * response / susceptibility_;
  const double square_hat = alpha * variance * force_square;
  const double meaning_hat = alpha * force_meaning + now.meaning * hat;
  const double position_hat = alpha * force_position;
  const double stiff = problem_.ridge + hat;
  const Overlaps next{
      (square_hat + meaning_hat * meaning_hat + position_hat * position_hat) / (stiff * stiff),
      meaning_hat / stiff, position_hat / stiff};
  double change = 0;
  const auto step = [&](double& value, double to) {
    change = std::max(change, std::abs(to - value) / (1e-2 + std::abs(value)));
    value += kStep * (to - value);
  };
  step(overlaps_.square, next.square);
  step(overlaps_.meaning, next.meaning);
  step(overlaps_.position, next.position);
  step(susceptibility_, 1 / stiff);
  if (!(stiff > 0) || !std::isfinite(overlaps_.square)) iterations_ = kIterations;  // diverged
  converged_ = change < kTolerance && iterations_ < kIterations;
  return converged_ || iterations_ >= kIterations;
}

}  // namespace eigenscope
