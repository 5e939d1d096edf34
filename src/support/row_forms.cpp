#include "support/row_forms.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "support/gemm_kernel.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::VectorXd;
template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

constexpr Index kStrip = 64;  // rows, whose panels stay in the first-level cache

/// The forms of the rows of one panel.
template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void add_forms(Index inner, const Scalar* panel, const Scalar* upper,
                                 double* forms) {
  using Tile = gemm::Tile<Scalar, Bytes>;
  for (Index first = 0; first < inner; first += Tile::kColumns) {
    const Index columns = std::min(Tile::kColumns, inner - first);
    gemm::Kernel<Scalar, Bytes> tile;
    tile.accumulate(first + columns, panel, upper + first * inner);
    for (Index j = 0; j < columns; ++j) {
      Scalar seen[Tile::kRows];
      std::memcpy(seen, tile.sums[j], sizeof seen);
      const Scalar* const column = panel + (first + j) * Tile::kRows;
      for (Index i = 0; i < Tile::kRows; ++i) {
        forms[i] += static_cast<double>(column[i]) * static_cast<double>(seen[i]);
      }
    }
  }
}

template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void forms_of(const Matrix<Scalar>& rows, const Scalar* upper, VectorXd& forms) {
  constexpr Index kRows = gemm::Tile<Scalar, Bytes>::kRows;
  const Index inner = rows.cols();
  std::vector<Scalar> packed;
  for (Index strip = 0; strip < rows.rows(); strip += kStrip) {
    const Index end = std::min(kStrip, rows.rows() - strip);
    gemm::pack<kRows>(end, inner, factor(rows.data() + strip, rows.rows()), packed);
    for (Index row = 0; row < end; row += kRows) {
      double sums[kRows] = {};
      add_forms<Bytes>(inner, packed.data() + row * inner, upper, sums);
      std::copy_n(sums, std::min(kRows, end - row), forms.data() + strip + row);
    }
  }
}

template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE VectorXd forms_with(const Matrix<Scalar>& rows, const Matrix<Scalar>& upper) {
  const Matrix<Scalar> triangle = upper.template triangularView<Eigen::Upper>();
  std::vector<Scalar> packed;
  gemm::pack<gemm::Tile<Scalar, Bytes>::kColumns>(
      triangle.cols(), triangle.rows(), factor(triangle.data(), triangle.rows()).transposed(),
      packed);
  VectorXd forms(rows.rows());
  forms_of<Bytes>(rows, packed.data(), forms);
  return forms;
}

template <class Scalar>
VectorXd forms(const Matrix<Scalar>& rows, const Matrix<Scalar>& upper) {
  VectorXd values;
  with_widest_vectors([&](auto bytes)
                          EIGENSCOPE_INLINE_LAMBDA { values = forms_with<bytes>(rows, upper); });
  return values;
}

}  // namespace

VectorXd row_forms(const Eigen::MatrixXd& rows, const Eigen::MatrixXd& upper) {
  return forms(rows, upper);
}

VectorXd row_forms(const Eigen::MatrixXf& rows, const Eigen::MatrixXf& upper) {
  return forms(rows, upper);
}

}  // namespace eigenscope
