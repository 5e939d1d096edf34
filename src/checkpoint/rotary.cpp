#include "checkpoint/rotary.h"

#include <cmath>
#include <complex>

namespace eigenscope {

using Eigen::Index;

namespace {

/// exp(i angle D), or its mean over the offsets.
std::complex<double> turn(double angle, const RotaryOffset& at) {
  if (at.average <= 0) return std::polar(1.0, angle * at.offset);
  std::complex<double> sum = 0;
  for (Index offset = 0; offset < at.average; ++offset) {
    sum += std::polar(1.0, angle * static_cast<double>(offset));
  }
  return sum / static_cast<double>(at.average);
}

}  // namespace

template <class Matrix>
void turn_queries(Matrix& query, const Rotary& rotary, const RotaryOffset& at) {
  if (rotary.pairs == RotaryPairs::kNone) return;
  if (at.is_none() && rotary.logit_factor == 1) return;
  using Scalar = typename Matrix::Scalar;
  for (Index pair = 0; pair < rotary.turned / 2; ++pair) {
    const auto [first, second] = rotary_places(rotary.pairs, pair, rotary.turned / 2);
    const auto z = std::complex<Scalar>(rotary.logit_factor * turn(angle_of(rotary, pair), at));
    const Eigen::VectorX<Scalar> x = query.col(first), y = query.col(second);
    query.col(first) = z.real() * x - z.imag() * y;
    query.col(second) = z.imag() * x + z.real() * y;
  }
}

template void turn_queries(Eigen::MatrixXd&, const Rotary&, const RotaryOffset&);
template void turn_queries(Eigen::MatrixXf&, const Rotary&, const RotaryOffset&);

}  // namespace eigenscope
