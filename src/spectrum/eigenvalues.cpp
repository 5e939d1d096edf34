#include "spectrum/eigenvalues.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

#include "support/error.h"
#include "support/lanes.h"
#include "support/vector_width.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXcd;

/// Double-shift steps for each eigenvalue, on average; two to three are usual.
constexpr Index kMostSteps = 30;
/// After so many steps without an eigenvalue the shifts are replaced: for some matrices, such as cyclic permutations,
/// the usual ones lead nowhere.
constexpr Index kStubborn = 10;

/// A square matrix in memory: entry (i, j) is data[i + j leading]. Below its last row a column has room for a vector.
template <class Scalar>
struct Square {
  Scalar* data;
  Index size, leading;

  EIGENSCOPE_INLINE Scalar* column(Index j) const { return data + j * leading; }
  EIGENSCOPE_INLINE Scalar& operator()(Index i, Index j) const { return data[i + j * leading]; }
};

/// A similar matrix with zeros below the first subdiagonal, by Householder reflections (Golub and Van Loan, Matrix
/// Computations, algorithm 7.4.2).
template <class Scalar>
EIGENSCOPE_INLINE void reduce_to_hessenberg(Square<Scalar> a, Scalar* v, Scalar* seen) {
  const Index n = a.size;
  for (Index k = 0; k + 2 < n; ++k) {
    Scalar* const below = a.column(k) + k + 1;
    const Index m = n - k - 1;
    const Scalar rest =
        lane_sum<Scalar>(m - 1, [&](Index i) { return below[i + 1] * below[i + 1]; });
    if (rest == 0) continue;
    const Scalar norm = std::copysign(std::sqrt(below[0] * below[0] + rest), below[0]);
    const Scalar factor = (below[0] + norm) / norm, pivot = 1 / (below[0] + norm);
    v[0] = 1;
    for (Index i = 1; i < m; ++i) v[i] = below[i] * pivot;
    below[0] = -norm;
    std::fill(below + 1, below + m, Scalar(0));
    // The reflection I - factor v v^T from the left, then from the right.
    for (Index j = k + 1; j < n; ++j) {
      Scalar* const column = a.column(j) + k + 1;
      const Scalar along = factor * lane_sum<Scalar>(m, [&](Index i) { return v[i] * column[i]; });
      for (Index i = 0; i < m; ++i) column[i] -= along * v[i];
    }
    std::fill(seen, seen + n, Scalar(0));
    for (Index j = 0; j < m; ++j) {
      const Scalar* const column = a.column(k + 1 + j);
      for (Index i = 0; i < n; ++i) seen[i] += column[i] * v[j];
    }
    for (Index j = 0; j < m; ++j) {
      Scalar* const column = a.column(k + 1 + j);
      const Scalar along = factor * v[j];
      for (Index i = 0; i < n; ++i) column[i] -= along * seen[i];
    }
  }
}

/// A reflection I - u w^T of two or three coordinates, with w = (1, w1, w2), that turns (x, y, z) into (length, 0, 0).
template <class Scalar>
struct Reflection {
  Scalar length, u0, u1, u2, w1, w2;

  EIGENSCOPE_INLINE Reflection(Scalar x, Scalar y, Scalar z) {
    const Scalar norm = std::copysign(std::sqrt(x * x + y * y + z * z), x);
    length = -norm;
    u0 = (x + norm) / norm;
    u1 = y / norm;
    u2 = z / norm;
    w1 = y / (x + norm);
    w2 = z / (x + norm);
  }
};

/// A matrix ((first, b), (c, second)) of which b c is `mixed`: its eigenvalues are the two shifts of a step.
template <class Scalar>
struct Shifts {
  Scalar first, second, mixed;
};

/// The last two rows and columns of the block that ends with row `last`.
template <class Scalar>
EIGENSCOPE_INLINE Shifts<Scalar> usual_shifts(Square<Scalar> h, Index last) {
  return {h(last - 1, last - 1), h(last, last), h(last, last - 1) * h(last - 1, last)};
}

/// Exceptional shifts of EISPACK's hqr, for blocks on which the usual shifts do not converge.
template <class Scalar>
EIGENSCOPE_INLINE Shifts<Scalar> other_shifts(Square<Scalar> h, Index last) {
  const Scalar size = std::abs(h(last, last - 1)) + std::abs(h(last - 1, last - 2));
  const Scalar centre = h(last, last) + Scalar(0.75) * size;
  return {centre, centre, Scalar(-0.4375) * size * size};
}

/// Reflections of a step whose left sides reach the columns far from them together, as one orthogonal matrix of kBand
/// rows: of floats, of which a vector has enough that this takes less time than one reflection after another.
constexpr Index kTurns = 14, kBand = kTurns + 2;
template <class Scalar>
constexpr bool kTogether = sizeof(Scalar) == 4;

template <class Scalar, std::size_t Bytes>
struct Vectors {
  typedef Scalar Vector __attribute__((vector_size(Bytes)));
  static constexpr Index kLanes = Bytes / sizeof(Scalar), kInBand = kBand / kLanes;
  // References, not values: compilers warn of the calling convention of vectors.
  static EIGENSCOPE_INLINE void take(const Scalar* from, Vector& vector) {
    std::memcpy(&vector, from, sizeof vector);
  }
  static EIGENSCOPE_INLINE void put(const Vector& vector, Scalar* to) {
    std::memcpy(to, &vector, sizeof vector);
  }
};

/// Applies a reflection to three rows of the product of those before it.
template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void accumulate(const Reflection<Scalar>& turn, Scalar (*rows)[kBand]) {
  using V = Vectors<Scalar, Bytes>;
  for (Index v = 0; v < kBand; v += V::kLanes) {
    typename V::Vector x, y, z;
    V::take(rows[0] + v, x);
    V::take(rows[1] + v, y);
    V::take(rows[2] + v, z);
    const auto along = x + turn.w1 * y + turn.w2 * z;
    V::put(x - along * turn.u0, rows[0] + v);
    V::put(y - along * turn.u1, rows[1] + v);
    V::put(z - along * turn.u2, rows[2] + v);
  }
}

/// The product of kTurns reflections of rows from `row` on, `turned` by columns, times columns `begin` to `end`.
template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void apply_from_left(Square<Scalar> h, Index row, const Scalar (*turned)[kBand],
                                       Index begin, Index end) {
  using V = Vectors<Scalar, Bytes>;
  constexpr Index kColumns = std::max<Index>(1, 8 / V::kInBand);  // whose sums stay in registers
  const auto apply = [&](Index first, auto count) EIGENSCOPE_INLINE_LAMBDA {
    typename V::Vector sums[count][V::kInBand] = {};
    for (Index k = 0; k < kBand; ++k) {
      for (Index v = 0; v < V::kInBand; ++v) {
        typename V::Vector column;
        V::take(turned[k] + v * V::kLanes, column);
        for (Index j = 0; j < count; ++j) sums[j][v] += column * h(row + k, first + j);
      }
    }
    for (Index j = 0; j < count; ++j) {
      for (Index v = 0; v < V::kInBand; ++v) V::put(sums[j][v], &h(row + v * V::kLanes, first + j));
    }
  };
  for (; begin + kColumns <= end; begin += kColumns) {
    apply(begin, std::integral_constant<Index, kColumns>());
  }
  for (; begin < end; ++begin) apply(begin, std::integral_constant<Index, 1>());
}

/// One implicit double-shift step on rows and columns `first` to `last`, at least three. Only these are kept up to
/// date: eigenvalues need no more, which saves half of the work of a Schur form.
template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void step(Square<Scalar> h, Index first, Index last, Shifts<Scalar> shifts) {
  using V = Vectors<Scalar, Bytes>;
  // The first column of the product of the two shifted matrices, over its subdiagonal entry.
  const Scalar corner = h(first, first), below = h(first + 1, first);
  Scalar x = ((corner - shifts.first) * (corner - shifts.second) - shifts.mixed) / below +
             h(first, first + 1);
  Scalar y = corner - shifts.first + h(first + 1, first + 1) - shifts.second;
  Scalar z = h(first + 2, first + 1);
  // Whole vectors: what is above the first row is not needed any more, and what is below the last one is zero or is
  // not either.
  const Index top = first - first % V::kLanes;
  for (Index begin = first; begin < last; begin += kTurns) {
    const Index end = std::min(begin + kTurns, last);
    // Columns from `far` on are no part of the reflections from the right here.
    const Index far = kTogether<Scalar> ? std::min(begin + kBand, last + 1) : last + 1;
    Scalar rows[kBand][kBand];
    if (far <= last) {
      std::fill_n(rows[0], kBand * kBand, Scalar(0));
      for (Index i = 0; i < kBand; ++i) rows[i][i] = 1;
    }
    for (Index k = begin; k < end; ++k) {
      const bool three = k + 2 <= last;
      if (k > first) {
        x = h(k, k - 1);
        y = h(k + 1, k - 1);
        z = three ? h(k + 2, k - 1) : 0;
      }
      if (x == 0 && y == 0 && z == 0) continue;
      // Divided by their size: no square leaves the range of the numbers.
      const Scalar size = std::max({std::abs(x), std::abs(y), std::abs(z)});
      const Reflection<Scalar> turn(x / size, y / size, z / size);
      if (k > first) {
        h(k, k - 1) = turn.length * size;
        h(k + 1, k - 1) = 0;
        if (three) h(k + 2, k - 1) = 0;
      }
      const auto [length, u0, u1, u2, w1, w2] = turn;
      const Index bottom =
          std::min(k + 3, last) + 1;  // rows that the reflection from the right reaches
      Scalar *const left = h.column(k), *const middle = h.column(k + 1);
      if (three) {
        for (Index j = k; j < far; ++j) {
          Scalar* const c = h.column(j) + k;
          const Scalar along = c[0] + w1 * c[1] + w2 * c[2];
          c[0] -= along * u0;
          c[1] -= along * u1;
          c[2] -= along * u2;
        }
        if (far <= last) accumulate<Bytes>(turn, rows + (k - begin));
        Scalar* const right = h.column(k + 2);
        for (Index i = top; i < bottom; i += V::kLanes) {
          typename V::Vector l, m, r;
          V::take(left + i, l);
          V::take(middle + i, m);
          V::take(right + i, r);
          const auto along = u0 * l + u1 * m + u2 * r;
          V::put(l - along, left + i);
          V::put(m - along * w1, middle + i);
          V::put(r - along * w2, right + i);
        }
      } else {
        for (Index j = k; j < far; ++j) {
          Scalar* const c = h.column(j) + k;
          const Scalar along = c[0] + w1 * c[1];
          c[0] -= along * u0;
          c[1] -= along * u1;
        }
        for (Index i = top; i < bottom; i += V::kLanes) {
          typename V::Vector l, m;
          V::take(left + i, l);
          V::take(middle + i, m);
          const auto along = u0 * l + u1 * m;
          V::put(l - along, left + i);
          V::put(m - along * w1, middle + i);
        }
      }
    }
    if (far <= last) {
      Scalar turned[kBand][kBand];
      for (Index i = 0; i < kBand; ++i) {
        for (Index k = 0; k < kBand; ++k) turned[k][i] = rows[i][k];
      }
      apply_from_left<Bytes, Scalar>(h, begin, turned, far, last + 1);
    }
  }
}

/// The first row of the block without a negligible subdiagonal entry that ends with row `last`.
template <class Scalar>
EIGENSCOPE_INLINE Index first_of_block(Square<Scalar> h, Index last) {
  Index first = last;
  for (; first > 0; --first) {
    const Scalar size = std::abs(h(first - 1, first - 1)) + std::abs(h(first, first));
    // Entries are at most about 1: below the square root of the smallest number all are negligible beside it.
    constexpr Scalar kLeast = sizeof(Scalar) == 4 ? Scalar(1e-18) : Scalar(1e-154);
    if (std::abs(h(first, first - 1)) <=
        std::numeric_limits<Scalar>::epsilon() * std::max(size, kLeast)) {
      h(first, first - 1) = 0;
      break;
    }
  }
  return first;
}

/// The eigenvalues of rows and columns `k` and k + 1.
template <class Scalar>
EIGENSCOPE_INLINE void solve_pair(Square<Scalar> h, Index k, VectorXcd& eigenvalues) {
  const Scalar half = (h(k, k) - h(k + 1, k + 1)) / 2, last = h(k + 1, k + 1);
  const Scalar mixed = h(k, k + 1) * h(k + 1, k), square = half * half + mixed;
  if (square < 0) {
    eigenvalues[k] = {last + half, std::sqrt(-square)};
    eigenvalues[k + 1] = std::conj(eigenvalues[k]);
    return;
  }
  // The larger one of half +- sqrt(square) by a sum, the other one by their product, without cancellation.
  const Scalar larger = half + std::copysign(std::sqrt(square), half);
  eigenvalues[k] = last + larger;
  eigenvalues[k + 1] = larger == 0 ? last : last - mixed / larger;
}

/// The eigenvalues of a matrix with zeros below the first subdiagonal, which is overwritten; false when the iteration
/// does not converge (Golub and Van Loan, algorithm 7.5.2).
template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE bool iterate(Square<Scalar> h, VectorXcd& eigenvalues) {
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
    step<Bytes>(h, first, last,
                steps % kStubborn == 0 ? other_shifts(h, last) : usual_shifts(h, last));
  }
  return true;
}

/// The power of two next to the largest entry.
double scale_of(const MatrixXd& matrix) {
  const double largest = matrix.cwiseAbs().maxCoeff();
  return largest == 0 ? 1 : std::ldexp(1.0, std::ilogb(largest));
}

template <class Scalar>
VectorXcd eigenvalues_in(const MatrixXd& matrix) {
  if (matrix.size() == 0 || matrix.rows() != matrix.cols()) {
    throw InvalidArgument("matrix", "be square and not empty");
  }
  if (!matrix.allFinite()) throw InvalidArgument("matrix", "have finite entries");
  const double scale = scale_of(matrix);
  const Index n = matrix.rows();
  // Columns that lie a multiple of a large power of two apart fall into the same cache sets.
  const Index whole = (n + kBand - 1) / kBand * kBand,
              leading = whole % 64 == 0 ? whole + kBand : whole;
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  Matrix work = Matrix::Zero(leading, n + 2);  // and what a reflection of a step needs
  work.topLeftCorner(n, n) = (matrix / scale).template cast<Scalar>();
  VectorXcd eigenvalues(n);
  bool converged = false;
  with_widest_vectors([&](auto bytes) EIGENSCOPE_INLINE_LAMBDA {
    const Square<Scalar> square{work.data(), n, leading};
    reduce_to_hessenberg(square, work.col(n).data(), work.col(n + 1).data());
    converged = iterate<bytes>(square, eigenvalues);
  });
  if (!converged) throw std::runtime_error("matrix: the eigenvalue iteration did not converge");
  return scale * eigenvalues;
}

}  // namespace

VectorXcd eigenvalues_of_matrix(const MatrixXd& matrix, Precision precision) {
  return precision == Precision::single ? eigenvalues_in<float>(matrix)
                                        : eigenvalues_in<double>(matrix);
}

void sort_for_display(Eigen::VectorXcd& eigenvalues) {
  // Conjugate pairs come with exactly equal moduli, so that exact comparison keeps them together.
  std::sort(eigenvalues.begin(), eigenvalues.end(), [](const auto& a, const auto& b) {
    return std::norm(a) != std::norm(b) ? std::norm(a) > std::norm(b) : a.imag() > b.imag();
  });
}

}  // namespace eigenscope
