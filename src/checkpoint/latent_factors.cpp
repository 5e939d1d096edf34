#include "checkpoint/latent_factors.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
template <class Scalar>
using LatentMatrix = typename LatentFactors<Scalar>::Matrix;

constexpr Index kLatentBlock = 64;

/// Takes left right from `sum`, or from its upper triangle.
void subtract(const MatrixXd& left, const MatrixXd& right, Eigen::Ref<MatrixXd> sum,
              Entries wanted = Entries::all) {
  const MatrixXd minus = -left;
  const Product<double> product{left.rows(),
                                right.cols(),
                                factor(minus.data(), left.rows()),
                                factor(right.data(), right.rows()),
                                sum.data(),
                                sum.outerStride(),
                                /*add=*/true,
                                wanted};
  multiply<double, double>(left.cols(), {&product, 1});
}

/// An upper triangular matrix and the inverses of the blocks on its diagonal, from its end on.
struct Triangle {
  MatrixXd values;
  std::vector<MatrixXd> inverses = {};
};

/// The upper triangular F with F F^T = A^T A; nothing where it would be nearly singular.
std::optional<Triangle> triangle_of(const MatrixXd& columns) {
  constexpr double kLeast = 1e-4;
  MatrixXd rest = transposed_times(columns, columns, Entries::upper);
  const double longest = std::sqrt(rest.diagonal().maxCoeff());
  // A column of zeros, as of a pruned coordinate, gets any pivot above 0; its diagonal entry of F is 0 in the end.
  const Eigen::VectorXd diagonal = rest.diagonal();
  for (Index i = 0; i < rest.rows(); ++i) {
    if (diagonal[i] == 0) rest(i, i) = longest > 0 ? longest * longest : 1;
  }
  Triangle triangle{MatrixXd::Zero(rest.rows(), rest.cols())};
  for (Index end = rest.rows(); end > 0;) {
    const Index begin = std::max<Index>(0, end - kLatentBlock), size = end - begin;
    // Cholesky's factor of the block from its end on, which is its lower triangle.
    const MatrixXd turned = rest.block(begin, begin, size, size).reverse();
    const Eigen::LLT<MatrixXd> lower(turned);
    const MatrixXd block = MatrixXd(lower.matrixL()).reverse();
    if (lower.info() != Eigen::Success || !(block.diagonal().minCoeff() > kLeast * longest))
      return {};
    const MatrixXd inverse =
        block.triangularView<Eigen::Upper>().solve(MatrixXd::Identity(size, size));
    const MatrixXd above = times(MatrixXd(rest.block(0, begin, begin, size)), inverse.transpose());
    triangle.values.block(begin, begin, size, size) = block;
    triangle.values.block(0, begin, begin, size) = above;
    triangle.inverses.push_back(inverse);
    if (begin > 0) {
      subtract(above, above.transpose(), rest.topLeftCorner(begin, begin), Entries::upper);
    }
    end = begin;
  }
  for (Index i = 0; i < diagonal.size(); ++i) {
    if (diagonal[i] == 0) triangle.values(i, i) = 0;
  }
  return triangle;
}

/// F^-1 B.
MatrixXd solved(const Triangle& triangle, MatrixXd sides) {
  auto inverse = triangle.inverses.begin();
  for (Index end = sides.rows(); end > 0; ++inverse) {
    const Index begin = std::max<Index>(0, end - kLatentBlock), size = end - begin;
    const MatrixXd solution = times(*inverse, sides.middleRows(begin, size));
    sides.middleRows(begin, size) = solution;
    if (begin > 0)
      subtract(triangle.values.block(0, begin, begin, size), solution, sides.topRows(begin));
    end = begin;
  }
  return sides;
}

/// F^T B, transposed: B^T F.
template <class Scalar>
LatentMatrix<Scalar> reduced(const LatentMatrix<Scalar>& weight,
                             const LatentMatrix<Scalar>& triangle) {
  constexpr Index kRows = 128;  // of F, which are zero before their first column
  const Index rank = triangle.rows(), columns = weight.cols();
  LatentMatrix<Scalar> product(columns, rank);
  for (Index row = 0; row < rank; row += kRows) {
    multiply<Scalar>(columns, rank - row, std::min(kRows, rank - row),
                     factor(weight.data() + row, rank).transposed(),
                     factor(triangle.data() + row + row * rank, rank),
                     product.data() + row * columns, columns, /*add=*/row > 0);
  }
  return product;
}

}  // namespace

template <class Scalar>
std::optional<LatentFactors<Scalar>> latent_factors(const MatrixXd& query, const MatrixXd& key) {
  const auto of_query = triangle_of(query), of_key = triangle_of(key);
  if (!of_query || !of_key) return {};
  const MatrixXd core = solved(*of_key, transposed_times(key, query));
  const MatrixXd turned = solved(*of_query, core.transpose());
  return LatentFactors<Scalar>{query.rows(), of_query->values.template cast<Scalar>(),
                               of_key->values.template cast<Scalar>(),
                               turned.transpose().template cast<Scalar>()};
}

template <class Scalar>
FactorProducts products_of_latents(const LatentFactors<Scalar>& latents,
                                   const typename LatentFactors<Scalar>::Matrix& query,
                                   const typename LatentFactors<Scalar>::Matrix& key) {
  const Index n = query.cols();
  const LatentMatrix<Scalar> queries = reduced<Scalar>(query, latents.query);
  const LatentMatrix<Scalar> keys = reduced<Scalar>(key, latents.key);
  LatentMatrix<Scalar> seen(keys.cols(), n);  // U_K^T U_Q F_Q^T B_Q
  multiply<Scalar>(seen.rows(), n, queries.cols(), factor(latents.core.data(), latents.core.rows()),
                   factor(queries.data(), n).transposed(), seen.data(), seen.rows());
  const auto square = [n] { return MatrixXd(n, n); };
  FactorProducts products{latents.width, square(), square(), square()};
  const auto product = [n](const LatentMatrix<Scalar>& left, Factor<Scalar> right, MatrixXd& sum,
                           Entries wanted) {
    const Product<Scalar, double> one{n,
                                      n,
                                      factor(left.data(), n),
                                      right,
                                      sum.data(),
                                      n,
                                      /*add=*/false,
                                      wanted};
    multiply<Scalar, double>(left.cols(), {&one, 1});
    if (wanted == Entries::upper) sum.triangularView<Eigen::StrictlyLower>() = sum.transpose();
  };
  product(queries, factor(queries.data(), n).transposed(), products.query, Entries::upper);
  product(keys, factor(keys.data(), n).transposed(), products.key, Entries::upper);
  product(keys, factor(seen.data(), seen.rows()), products.core, Entries::all);
  if constexpr (std::is_same_v<Scalar, float>) {
    if (!fits_floats(products.query, query) || !fits_floats(products.key, key)) {
      const auto wide = [](const LatentMatrix<float>& values) {
        return MatrixXd(values.cast<double>());
      };
      return products_of_latents<double>(
          {latents.width, wide(latents.query), wide(latents.key), wide(latents.core)}, wide(query),
          wide(key));
    }
    products.precision = Precision::single;
  }
  return products;
}

template std::optional<LatentFactors<float>> latent_factors(const MatrixXd&, const MatrixXd&);
template std::optional<LatentFactors<double>> latent_factors(const MatrixXd&, const MatrixXd&);
template FactorProducts products_of_latents(const LatentFactors<float>&, const LatentMatrix<float>&,
                                            const LatentMatrix<float>&);
template FactorProducts products_of_latents(const LatentFactors<double>&,
                                            const LatentMatrix<double>&,
                                            const LatentMatrix<double>&);

}  // namespace eigenscope
