#include "support/decompositions.h"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "support/argsort.h"
#include "support/lanes.h"
#include "support/vector_width.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

[[noreturn]] void refuse() {
  throw std::runtime_error("matrix: the eigenvalue iteration did not converge");
}

/// A symmetric tridiagonal matrix; entry k of `squares` is that of the entry between rows k and k + 1, squared.
struct Tridiagonal {
  VectorXd diagonal, squares;
};

constexpr Index kLanes = 8;
typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double))));

/// A similar matrix by Householder reflections (Golub and Van Loan, Matrix Computations, algorithm 8.3.1), which
/// overwrites `a`: n columns with zeros below, up to a multiple of kLanes. Reflection I - factor v v^T makes of A the
/// matrix A - v w^T - w v^T, and a column gets that of the step before when the next step reads the column.
EIGENSCOPE_INLINE void reduce_to_tridiagonal(MatrixXd& a, Tridiagonal& tridiagonal) {
  const Index n = a.cols(), rows = a.rows();
  MatrixXd vectors = MatrixXd::Zero(rows, 4);
  double *v = vectors.col(0).data(), *next = vectors.col(1).data();
  double *const w = vectors.col(2).data(), *const seen = vectors.col(3).data();
  for (Index k = 0; k < n; ++k) {
    double* const column = a.col(k).data();
    for (Index i = k; i < n; ++i) column[i] -= v[i] * w[k] + w[i] * v[k];
    tridiagonal.diagonal[k] = column[k];
    if (k + 1 == n) break;
    const double* const below = column + k + 1;
    const double rest =
        lane_sum<double>(n - k - 2, [&](Index i) { return below[i + 1] * below[i + 1]; });
    tridiagonal.squares[k] = below[0] * below[0] + rest;
    // Without a rest there is nothing to reflect.
    const double norm = std::copysign(std::sqrt(tridiagonal.squares[k]), below[0]);
    const double factor = rest == 0 ? 0 : (below[0] + norm) / norm;
    const double pivot = rest == 0 ? 0 : 1 / (below[0] + norm);
    // Whole vectors, of which the rows up to k do not count.
    const Index first = (k + 1) / kLanes * kLanes;
    std::fill(next + first, next + k + 1, 0.0);
    next[k + 1] = 1;
    for (Index i = k + 2; i < n; ++i) next[i] = column[i] * pivot;
    double overlap = 0;
    for (Index j = k + 1; j < n; ++j) {
      double* const target = a.col(j).data();
      const double v_j = v[j], w_j = w[j];
      Lanes sums = {};
      for (Index i = first; i < rows; i += kLanes) {
        // Explicit vectors: compilers cannot exclude that `target` overlaps the others, and take one entry at a time.
        Lanes value, old_v, old_w, new_v;
        std::memcpy(&value, target + i, sizeof value);
        std::memcpy(&old_v, v + i, sizeof old_v);
        std::memcpy(&old_w, w + i, sizeof old_w);
        std::memcpy(&new_v, next + i, sizeof new_v);
        value -= old_v * w_j + old_w * v_j;
        std::memcpy(target + i, &value, sizeof value);
        sums += value * new_v;
      }
      double lanes[kLanes];
      std::memcpy(lanes, &sums, sizeof lanes);
      seen[j] = factor * lane_sum<double>(kLanes, [&](Index i) { return lanes[i]; });
      overlap += seen[j] * next[j];
    }
    const double share = factor / 2 * overlap;
    for (Index i = k + 1; i < n; ++i) w[i] = seen[i] - share * next[i];
    w[k] = 0;
    std::swap(v, next);
  }
}

/// The eigenvalues of `matrix`, into its diagonal, by QL steps without square roots (Parlett, The Symmetric Eigenvalue
/// Problem, section 8.15); false when the iteration does not converge.
bool iterate(Tridiagonal& matrix) {
  constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
  VectorXd &d = matrix.diagonal, &squares = matrix.squares;
  const Index n = d.size();
  const auto end_of_block = [&](Index first, Index last) {
    while (first < last && squares[first] > kEpsilon * kEpsilon * std::abs(d[first] * d[first + 1]))
      ++first;
    return first;
  };
  Index left = 30 * n;
  for (Index begin = 0; begin < n;) {
    const Index end = end_of_block(begin, n - 1);
    // Small entries come last: the steps find them first, at the other end.
    if (std::abs(d[end]) < std::abs(d[begin])) {
      std::reverse(d.begin() + begin, d.begin() + end + 1);
      std::reverse(squares.begin() + begin, squares.begin() + end);
    }
    for (Index first = begin; first <= end;) {
      const Index last = end_of_block(first, end);
      if (first == last) {
        ++first;
        continue;
      }
      if (left-- == 0) return false;
      // The eigenvalue of the first two rows next to the first entry.
      const double root = std::sqrt(squares[first]);
      const double half = (d[first + 1] - d[first]) / (2 * root);
      const double shift = d[first] - root / (half + std::copysign(std::hypot(half, 1.0), half));
      double c = 1, s = 0, gamma = d[last] - shift, p = gamma * gamma;
      for (Index i = last - 1; i >= first; --i) {
        const double square = squares[i], sum = p + square, before = c, old = gamma, entry = d[i];
        if (i + 1 < last) squares[i + 1] = s * sum;
        c = p / sum;
        s = square / sum;
        gamma = c * (entry - shift) - s * old;
        d[i + 1] = old + (entry - gamma);
        p = c != 0 ? gamma * gamma / c : before * square;
      }
      squares[first] = s * p;
      d[first] = shift + gamma;
    }
    begin = end + 1;
  }
  return true;
}

}  // namespace

SymmetricEigen symmetric_eigen(const MatrixXd& matrix) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> solver(matrix);
  if (solver.info() != Eigen::Success) refuse();
  return {solver.eigenvalues(), solver.eigenvectors()};
}

VectorXd symmetric_eigenvalues(const MatrixXd& matrix) {
  const Index n = matrix.rows();
  if (!matrix.allFinite()) refuse();
  const double largest = n == 0 ? 0 : matrix.cwiseAbs().maxCoeff();
  if (largest == 0) return VectorXd::Zero(n);
  // A power of two next to the largest entry: no square leaves the range of doubles.
  const double scale = std::ldexp(1.0, std::ilogb(largest));
  MatrixXd work = MatrixXd::Zero((n + kLanes - 1) / kLanes * kLanes, n);
  work.topRows(n) = matrix.selfadjointView<Eigen::Lower>();
  work /= scale;
  Tridiagonal tridiagonal{VectorXd(n), VectorXd(std::max<Index>(n - 1, 0))};
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA { reduce_to_tridiagonal(work, tridiagonal); });
  if (!iterate(tridiagonal)) refuse();
  sort_up({tridiagonal.diagonal.data(), static_cast<std::size_t>(n)});
  return scale * tridiagonal.diagonal;
}

Eigen::MatrixXd orthonormal_columns(const Eigen::MatrixXd& matrix) {
  const Eigen::HouseholderQR<Eigen::MatrixXd> qr(matrix);
  Eigen::MatrixXd q = qr.householderQ() * Eigen::MatrixXd::Identity(matrix.rows(), matrix.cols());
  for (Eigen::Index j = 0; j < q.cols(); ++j) {
    if (qr.matrixQR()(j, j) < 0) q.col(j) *= -1;
  }
  return q;
}

}  // namespace eigenscope
