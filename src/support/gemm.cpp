#include "support/gemm.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/gemm_kernel.h"
#include "support/lanes.h"
#include "support/vector_width.h"

namespace eigenscope {
namespace {

using namespace gemm;

// C from the panels of one block, `a` and `b`.
template <std::size_t Bytes, class Scalar, class Sum>
EIGENSCOPE_INLINE void multiply_block(const Product<Scalar, Sum>& p, Index depth, const Scalar* a,
                                      const Scalar* b, bool add) {
  constexpr Index kRows = Tile<Scalar, Bytes>::kRows, kColumns = Tile<Scalar, Bytes>::kColumns;
  for (Index column = 0; column < p.columns; column += kColumns) {
    const Index end = p.wanted == Entries::all ? p.rows : std::min(p.rows, column + kColumns);
    for (Index row = 0; row < end; row += kRows) {
      Kernel<Scalar, Bytes> tile;
      tile.accumulate(depth, a + row * depth, b + column * depth);
      tile.store(std::min(kRows, p.rows - row), std::min(kColumns, p.columns - column),
                 p.c + row + column * p.leading, p.leading, add);
    }
  }
}

// The panels of the two factors that were last asked for, of one block of the inner index.
template <class Scalar>
class Panels {
 public:
  void start_block(Index first, Index depth) {
    first_ = first;
    depth_ = depth;
    for (Held& held : held_) held.count = 0;
  }

  // Rows of `factor` in panels of `Each`.
  template <Index Each>
  const Scalar* of(Factor<Scalar> factor, Index count) {
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Held& held = held_[k];
      if (held.each == Each && held.count == count && held.factor == factor) return latest(k);
    }
    Held& held = held_[older_];
    held.each = Each;
    held.count = count;
    held.factor = factor;
    factor.data += first_ * factor.column_step;
    pack<Each>(count, depth_, factor, held.values);
    return latest(older_);
  }

 private:
  struct Held {
    Index each = 0, count = 0;
    Factor<Scalar> factor = {};
    std::vector<Scalar> values = {};
  };

  const Scalar* latest(std::size_t k) {
    older_ = 1 - k;
    return held_[k].values.data();
  }

  std::array<Held, 2> held_;
  std::size_t older_ = 0;
  Index first_ = 0, depth_ = 0;
};

template <std::size_t Bytes, class Scalar, class Sum>
EIGENSCOPE_INLINE void multiply_with(Index inner, std::span<const Product<Scalar, Sum>> products) {
  constexpr Index kRows = Tile<Scalar, Bytes>::kRows, kColumns = Tile<Scalar, Bytes>::kColumns;
  // Memory is kept between calls: a training step makes hundreds of them.
  thread_local Panels<Scalar> panels;
  for (Index start = 0; start < inner; start += kInnerBlock) {
    const Index depth = std::min(kInnerBlock, inner - start);
    panels.start_block(start, depth);
    for (const Product<Scalar, Sum>& p : products) {
      const Scalar* const a = panels.template of<kRows>(p.a, p.rows);
      const Scalar* const b = panels.template of<kColumns>(p.b.transposed(), p.columns);
      multiply_block<Bytes>(p, depth, a, b, p.add || start > 0);
    }
  }
}

// A b into `product`, zero before; A is rows x inner, column-major with columns `leading` apart.
void add_times_vector(Index rows, Index inner, const double* a, Index leading, const double* b,
                      double* product) {
  for (Index x = 0; x < inner; ++x) {
    const double* const column = a + x * leading;
    const double factor = b[x];
    for (Index i = 0; i < rows; ++i) product[i] += column[i] * factor;
  }
}

// A^T b into `product`; A is inner x columns, column-major without gaps.
void transposed_times_vector(Index columns, Index inner, const double* a, const double* b,
                             double* product) {
  for (Index k = 0; k < columns; ++k) product[k] = inner_product(a + k * inner, b, inner);
}

}  // namespace

double inner_product(const double* a, const double* b, Index count) {
  return lane_sum<double>(count, [&](Index i) { return a[i] * b[i]; });
}

template <class Scalar, class Sum>
void multiply(Index inner, std::span<const Product<Scalar, Sum>> products) {
  if (inner == 0) {  // sums without terms, which no block below would write
    for (const Product<Scalar, Sum>& p : products) {
      if (p.add) continue;
      for (Index column = 0; column < p.columns; ++column) {
        std::fill_n(p.c + column * p.leading, p.rows, Sum(0));
      }
    }
    return;
  }
  with_widest_vectors([&](auto bytes)
                          EIGENSCOPE_INLINE_LAMBDA { multiply_with<bytes>(inner, products); });
}

template void multiply(Index, std::span<const Product<float>>);
template void multiply(Index, std::span<const Product<double>>);
template void multiply(Index, std::span<const Product<float, double>>);

Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::MatrixXd& b,
                      Entries of_b) {
  Eigen::MatrixXd product(a.rows(), b.cols());
  if (b.cols() == 1) {  // packing would take longer than the product
    product.setZero();
    add_times_vector(a.rows(), a.cols(), a.data(), a.outerStride(), b.data(), product.data());
    return product;
  }
  const auto left = factor(a.data(), a.outerStride()), right = factor(b.data(), b.rows());
  if (of_b == Entries::upper) {
    multiply_upper(a.rows(), b.cols(), b.rows(), left, right, product.data(), product.rows());
  } else {
    multiply(a.rows(), b.cols(), b.rows(), left, right, product.data(), product.rows());
  }
  return product;
}

Eigen::MatrixXd transposed_times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                 Entries wanted) {
  Eigen::MatrixXd product(a.cols(), b.cols());
  if (b.cols() == 1) {
    transposed_times_vector(a.cols(), a.rows(), a.data(), b.data(), product.data());
    return product;
  }
  const Product<double> all{a.cols(),
                            b.cols(),
                            factor(a.data(), a.rows()).transposed(),
                            factor(b.data(), b.rows()),
                            product.data(),
                            product.rows(),
                            /*add=*/false,
                            wanted};
  multiply<double, double>(a.rows(), {&all, 1});
  if (wanted == Entries::upper) product.triangularView<Eigen::StrictlyLower>().setZero();
  return product;
}

}  // namespace eigenscope
