#include "spectrum/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "support/error.h"
#include "support/lanes.h"
#include "support/vector_width.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXcd;
using Eigen::VectorXd;

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
/// Double-shift steps for each eigenvalue, on average; two to three are usual.
constexpr Index kMostSteps = 30;
/// After so many steps without an eigenvalue the shifts are replaced: for some matrices, such as cyclic permutations,
/// the usual ones lead nowhere.
constexpr Index kStubborn = 10;

/// A square matrix in memory: entry (i, j) is data[i + j leading].
struct Square {
  double* data;
  Index size, leading;

  EIGENSCOPE_INLINE double* column(Index j) const { return data + j * leading; }
  EIGENSCOPE_INLINE double& operator()(Index i, Index j) const { return data[i + j * leading]; }
};

/// A similar matrix with zeros below the first subdiagonal, by Householder reflections (Golub and Van Loan, Matrix
/// Computations, algorithm 7.4.2).
EIGENSCOPE_INLINE void reduce_to_hessenberg(Square a, double* v, double* seen) {
  const Index n = a.size;
  for (Index k = 0; k + 2 < n; ++k) {
    double* const below = a.column(k) + k + 1;
    const Index m = n - k - 1;
    const double rest =
        lane_sum<double>(m - 1, [&](Index i) { return below[i + 1] * below[i + 1]; });
    if (rest == 0) continue;
    const double norm = std::copysign(std::sqrt(below[0] * below[0] + rest), below[0]);
    const double factor = (below[0] + norm) / norm, pivot = 1 / (below[0] + norm);
    v[0] = 1;
    for (Index i = 1; i < m; ++i) v[i] = below[i] * pivot;
    below[0] = -norm;
    std::fill(below + 1, below + m, 0.0);
    // The reflection I - factor v v^T from the left, then from the right.
    for (Index j = k + 1; j < n; ++j) {
      double* const column = a.column(j) + k + 1;
      const double along = factor * lane_sum<double>(m, [&](Index i) { return v[i] * column[i]; });
      for (Index i = 0; i < m; ++i) column[i] -= along * v[i];
    }
    std::fill(seen, seen + n, 0.0);
    for (Index j = 0; j < m; ++j) {
      const double* const column = a.column(k + 1 + j);
      for (Index i = 0; i < n; ++i) seen[i] += column[i] * v[j];
    }
    for (Index j = 0; j < m; ++j) {
      double* const column = a.column(k + 1 + j);
      const double along = factor * v[j];
      for (Index i = 0; i < n; ++i) column[i] -= along * seen[i];
    }
  }
}

/// A reflection I - u w^T of two or three coordinates, with w = (1, w1, w2), that turns (x, y, z) into (length, 0, 0).
struct Reflection {
  double length, u0, u1, u2, w1, w2;

  EIGENSCOPE_INLINE Reflection(double x, double y, double z) {
    const double norm = std::copysign(std::sqrt(x * x + y * y + z * z), x);
    length = -norm;
    u0 = (x + norm) / norm;
    u1 = y / norm;
    u2 = z / norm;
    w1 = y / (x + norm);
    w2 = z / (x + norm);
  }
};

/// A matrix ((first, b), (c, second)) of which b c is `mixed`: its eigenvalues are the two shifts of a step.
struct Shifts {
  double first, second, mixed;
};

/// The last two rows and columns of the block that ends with row `last`.
EIGENSCOPE_INLINE Shifts usual_shifts(Square h, Index last) {
  return {h(last - 1, last - 1), h(last, last), h(last, last - 1) * h(last - 1, last)};
}

/// Those of EISPACK's hqr where the usual ones do not converge.
EIGENSCOPE_INLINE Shifts other_shifts(Square h, Index last) {
  const double size = std::abs(h(last, last - 1)) + std::abs(h(last - 1, last - 2));
  const double centre = h(last, last) + 0.75 * size;
  return {centre, centre, -0.4375 * size * size};
}

/// One implicit double-shift step on rows and columns `first` to `last`, at least three. Only these are kept up to
/// date: eigenvalues need no more, which saves half of the work of a Schur form.
EIGENSCOPE_INLINE void step(Square h, Index first, Index last, Shifts shifts) {
  // The first column of the product of the two shifted matrices, over its subdiagonal entry.
  const double corner = h(first, first), below = h(first + 1, first);
  double x = ((corner - shifts.first) * (corner - shifts.second) - shifts.mixed) / below +
             h(first, first + 1);
  double y = corner - shifts.first + h(first + 1, first + 1) - shifts.second;
  double z = h(first + 2, first + 1);
  for (Index k = first; k < last; ++k) {
    const bool three = k + 2 <= last;
    if (k > first) {
      x = h(k, k - 1);
      y = h(k + 1, k - 1);
      z = three ? h(k + 2, k - 1) : 0;
    }
    if (x == 0 && y == 0 && z == 0) continue;
    // Divided by their size: no square leaves the range of doubles.
    const double size = std::max({std::abs(x), std::abs(y), std::abs(z)});
    const Reflection turn(x / size, y / size, z / size);
    if (k > first) {
      h(k, k - 1) = turn.length * size;
      h(k + 1, k - 1) = 0;
      if (three) h(k + 2, k - 1) = 0;
    }
    const auto [length, u0, u1, u2, w1, w2] = turn;
    const Index end = std::min(k + 3, last) + 1;  // rows that the reflection from the right reaches
    double *const left = h.column(k), *const middle = h.column(k + 1);
    if (three) {
      for (Index j = k; j <= last; ++j) {
        double* const c = h.column(j) + k;
        const double along = c[0] + w1 * c[1] + w2 * c[2];
        c[0] -= along * u0;
        c[1] -= along * u1;
        c[2] -= along * u2;
      }
      double* const right = h.column(k + 2);
      for (Index i = first; i < end; ++i) {
        const double along = u0 * left[i] + u1 * middle[i] + u2 * right[i];
        left[i] -= along;
        middle[i] -= along * w1;
        right[i] -= along * w2;
      }
    } else {
      for (Index j = k; j <= last; ++j) {
        double* const c = h.column(j) + k;
        const double along = c[0] + w1 * c[1];
        c[0] -= along * u0;
        c[1] -= along * u1;
      }
      for (Index i = first; i < end; ++i) {
        const double along = u0 * left[i] + u1 * middle[i];
        left[i] -= along;
        middle[i] -= along * w1;
      }
    }
  }
}

/// The first row of the block without a negligible subdiagonal entry that ends with row `last`.
EIGENSCOPE_INLINE Index first_of_block(Square h, Index last) {
  Index first = last;
  for (; first > 0; --first) {
    const double size = std::abs(h(first - 1, first - 1)) + std::abs(h(first, first));
    // Entries are at most about 1: below the square root of the smallest double all are negligible beside it.
    if (std::abs(h(first, first - 1)) <= kEpsilon * std::max(size, 1e-154)) break;
  }
  return first;
}

/// The eigenvalues of rows and columns `k` and k + 1.
EIGENSCOPE_INLINE void solve_pair(Square h, Index k, VectorXcd& eigenvalues) {
  const double half = (h(k, k) - h(k + 1, k + 1)) / 2, last = h(k + 1, k + 1);
  const double mixed = h(k, k + 1) * h(k + 1, k), square = half * half + mixed;
  if (square < 0) {
    eigenvalues[k] = {last + half, std::sqrt(-square)};
    eigenvalues[k + 1] = std::conj(eigenvalues[k]);
    return;
  }
  // The larger one of half +- sqrt(square) by a sum, the other one by their product, without cancellation.
  const double larger = half + std::copysign(std::sqrt(square), half);
  eigenvalues[k] = last + larger;
  eigenvalues[k + 1] = larger == 0 ? last : last - mixed / larger;
}

/// The eigenvalues of a matrix with zeros below the first subdiagonal, which is overwritten; false when the iteration
/// does not converge (Golub and Van Loan, algorithm 7.5.2).
EIGENSCOPE_INLINE bool iterate(Square h, VectorXcd& eigenvalues) {
  Index last = h.size - 1, steps = 0;
  for (Index left = kMostSteps * h.size; last >= 0;) {
    const Index first = first_of_block(h, last);
    if (first + 1 >= last) {
      if (first == last) {
        eigenvalues[last] = h(last, last);
      } else {
        solve_pair(h, first, eigenvalues);
      }
      last = first - 1;
      steps = 0;
      continue;
    }
    if (left-- == 0) return false;
    ++steps;
    step(h, first, last, steps % kStubborn == 0 ? other_shifts(h, last) : usual_shifts(h, last));
  }
  return true;
}

/// The power of two next to the largest entry.
double scale_of(const MatrixXd& matrix) {
  const double largest = matrix.cwiseAbs().maxCoeff();
  return largest == 0 ? 1 : std::ldexp(1.0, std::ilogb(largest));
}

}  // namespace

VectorXcd eigenvalues_of_matrix(const MatrixXd& matrix) {
  if (matrix.size() == 0 || matrix.rows() != matrix.cols()) {
    throw InvalidArgument("matrix", "be square and not empty");
  }
  if (!matrix.allFinite()) throw InvalidArgument("matrix", "have finite entries");
  const double scale = scale_of(matrix);
  const Index n = matrix.rows();
  // Columns that lie a multiple of a large power of two apart fall into the same cache sets.
  const Index leading = n % 64 == 0 ? n + 8 : n;
  MatrixXd work(leading, n);
  work.topRows(n) = matrix / scale;
  VectorXd reflection(n), seen(n);
  VectorXcd eigenvalues(n);
  bool converged = false;
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    const Square square{work.data(), n, leading};
    reduce_to_hessenberg(square, reflection.data(), seen.data());
    converged = iterate(square, eigenvalues);
  });
  if (!converged) throw std::runtime_error("matrix: the eigenvalue iteration did not converge");
  return scale * eigenvalues;
}

}  // namespace eigenscope
