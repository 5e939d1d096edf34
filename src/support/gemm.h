// Products of matrices, the bulk of a training step and of the scan of a large checkpoint. Those of Eigen sum in an
// order that depends on the width of the vectors, which is that of the compilation; these have one order, and the
// vectors of the processor.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <span>

namespace eigenscope {

/// One factor of a product: entry (i, j) is data[i row_step + j column_step], so that a transpose or a
/// block of a larger matrix needs no copy.
template <class Scalar>
struct Factor {
  const Scalar* data;
  Eigen::Index row_step, column_step;

  Factor transposed() const { return {data, column_step, row_step}; }
  bool operator==(const Factor&) const = default;
};

/// The column-major matrix at `data` with columns `leading` apart.
template <class Scalar>
Factor<Scalar> factor(const Scalar* data, Eigen::Index leading) {
  return {data, 1, leading};
}

/// Entries of a product to compute, or entries of a factor that may be non-zero: the upper triangle takes about half
/// the work.
enum class Entries { all, upper };

/// C = A B, or C += A B with `add`: A is rows x inner, B inner x columns, C column-major with columns
/// `leading` apart, apart from A and B in memory. With `wanted` upper the entries of C below its
/// diagonal are undefined.
template <class Scalar, class Sum = Scalar>
struct Product {
  Eigen::Index rows, columns;
  Factor<Scalar> a, b;
  Sum* c;
  Eigen::Index leading;
  bool add = false;
  Entries wanted = Entries::all;
};

/// Forms several products over the same inner index in one pass over their factors; a factor that the product
/// before has too is packed once. Float, double, and float with double sums: there each
/// block's sum is a float and the blocks are added up in double.
///
/// Eigen has no vector instructions of WebAssembly and is half as fast there (measured with 64 to 256
/// rows); the vector extension of the compilers serves both. It takes the widest vectors that an x86-64 has.
/// Sums run in the order of the inner index in blocks of 512, without fused multiply-adds: the same
/// bits with vectors of any width, natively and in WASM.
template <class Scalar, class Sum>
void multiply(Eigen::Index inner, std::span<const Product<Scalar, Sum>> products);

/// Forms one product.
template <class Scalar>
void multiply(Eigen::Index rows, Eigen::Index columns, Eigen::Index inner, Factor<Scalar> a,
              Factor<Scalar> b, Scalar* c, Eigen::Index leading, bool add = false) {
  const Product<Scalar> product{rows, columns, a, b, c, leading, add};
  multiply<Scalar, Scalar>(inner, {&product, 1});
}

/// C = A B for a B that is zero below its diagonal: about half the work.
template <class Scalar>
void multiply_upper(Eigen::Index rows, Eigen::Index columns, Eigen::Index inner, Factor<Scalar> a,
                    Factor<Scalar> b, Scalar* c, Eigen::Index leading) {
  constexpr Eigen::Index kColumns = 32;  // blocks of columns that go down to the diagonal
  for (Eigen::Index start = 0; start < columns; start += kColumns) {
    const Eigen::Index count = std::min(kColumns, columns - start);
    const Factor<Scalar> block{b.data + start * b.column_step, b.row_step, b.column_step};
    multiply(rows, count, std::min(start + count, inner), a, block, c + start * leading, leading);
  }
}

/// The sum of a_i b_i over `count` numbers each.
double inner_product(const double* a, const double* b, Eigen::Index count);

/// A B, by `multiply`. `of_b`: the entries of B that may be non-zero.
Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::MatrixXd& b,
                      Entries of_b = Entries::all);

/// A^T B, by `multiply`, or its upper triangle with zeros below.
Eigen::MatrixXd transposed_times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                 Entries wanted = Entries::all);

}  // namespace eigenscope
