#include "spectrum/traces.h"

#include <array>
#include <cmath>
#include <utility>

#include "support/error.h"
#include "support/finite.h"
#include "support/gemm.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

// tr(A B) without forming A B.
double trace_of_product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.cwiseProduct(b.transpose()).sum();
}

// Completes a symmetric matrix.
void mirror_upper(Eigen::MatrixXd& square) {
  square.triangularView<Eigen::StrictlyLower>() = square.transpose();
}

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;

void check_not_empty(const char* name, Eigen::Index size) {
  if (size == 0) throw InvalidArgument(name, "have entries");
}

void check_finite(const char* name, const Eigen::MatrixXd& matrix) {
  if (!all_finite(matrix)) throw InvalidArgument(name, "have finite entries");
}

template <class Scalar>
void check_shapes(const Matrix<Scalar>& query, const Matrix<Scalar>& key) {
  check_not_empty("query", query.size());
  if (query.rows() != key.rows() || query.cols() != key.cols()) {
    throw InvalidArgument("key", "have the shape of query");
  }
}

void check_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key) {
  check_shapes(query, key);
  check_finite("query", query);
  check_finite("key", key);
}

// `seen` are the factors after the covariance.
template <class Scalar>
FactorProducts products_of(const Matrix<Scalar>& query, const Matrix<Scalar>& key,
                           const Matrix<Scalar>& seen_query, const Matrix<Scalar>& seen_key) {
  const Eigen::Index d = query.rows(), n = query.cols();
  const auto square = [n] { return Eigen::MatrixXd(n, n); };
  FactorProducts factor_products{d, square(), square(), square()};
  const auto product = [d, n](const Matrix<Scalar>& a, const Matrix<Scalar>& b, Eigen::MatrixXd& c,
                              Entries wanted) {
    return Product<Scalar, double>{
        n, n, factor(a.data(), d).transposed(), factor(b.data(), d), c.data(), n, false, wanted};
  };
  const std::array products{product(query, seen_query, factor_products.query, Entries::upper),
                            product(key, seen_query, factor_products.core, Entries::all),
                            product(key, seen_key, factor_products.key, Entries::upper)};
  multiply<Scalar, double>(d, products);
  mirror_upper(factor_products.query);
  mirror_upper(factor_products.key);
  return factor_products;
}

}  // namespace

void check_traces(const Traces& traces) {
  checked(shared::kXi, traces.xi);
  checked(shared::kEtaF, traces.eta_f);
  checked(shared::kEtaS, traces.eta_s);
  // Rounding may leave a symmetric W with |eta_s| a little above eta_f.
  if (std::abs(traces.eta_s) > traces.eta_f * (1 + 1e-9)) {
    throw InvalidArgument("eta_s", "be from -eta_f to eta_f",
                          "eta_f " + shown(traces.eta_f) + ", eta_s " + shown(traces.eta_s));
  }
}

FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key) {
  check_factors(query, key);
  return products_of(query, key, query, key);
}

bool fits_floats(const Eigen::MatrixXd& gram, const Eigen::MatrixXf& weight) {
  // Below, what squares lose under the smallest float could be seen. An entry that is not finite shows
  // in the sum of its squares too.
  constexpr double kLeast = 1e-24;
  const double trace = gram.trace();
  return (trace >= kLeast && std::isfinite(trace)) || (trace == 0 && weight.isZero(0));
}

FactorProducts products_of_factors(const Eigen::MatrixXf& query, const Eigen::MatrixXf& key) {
  check_shapes(query, key);
  FactorProducts products = products_of(query, key, query, key);
  if (!fits_floats(products.query, query) || !fits_floats(products.key, key)) {
    return products_of_factors(Eigen::MatrixXd(query.cast<double>()), key.cast<double>());
  }
  products.precision = Precision::single;
  return products;
}

FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                                   const Eigen::MatrixXd& covariance) {
  check_factors(query, key);
  check_finite("covariance", covariance);
  if (covariance.rows() != query.rows() || covariance.cols() != query.rows()) {
    throw InvalidArgument("covariance", "fit the width of the head");
  }
  // Sigma is symmetric: transposed_times multiplies by Sigma itself.
  return products_of(query, key, transposed_times(covariance, query),
                     transposed_times(covariance, key));
}

Traces FactorProducts::traces() const {
  return {core.trace(), trace_of_product(core, core), trace_of_product(query, key)};
}

SpectralMoments moments_of_products(const FactorProducts& products) {
  const Eigen::MatrixXd square = times(products.core, products.core);
  const Eigen::MatrixXd gram = times(products.query, products.key);
  return {products.width, products.traces(), trace_of_product(square, square),
          trace_of_product(gram, gram)};
}

SpectralMoments moments_of_matrix(const Eigen::MatrixXd& matrix) {
  check_not_empty("matrix", matrix.size());
  check_finite("matrix", matrix);
  if (matrix.rows() != matrix.cols()) throw InvalidArgument("matrix", "be square");
  const Eigen::MatrixXd square = times(matrix, matrix);
  SpectralMoments moments;
  moments.width = matrix.rows();
  moments.traces = {matrix.trace(), square.trace(), matrix.squaredNorm()};
  moments.quartic_s = trace_of_product(square, square);
  Eigen::MatrixXd gram = transposed_times(matrix, matrix, Entries::upper);
  mirror_upper(gram);
  moments.quartic_f = gram.squaredNorm();
  return moments;
}

double rank_floor(const SpectralMoments& moments, Eigen::Index rank) {
  const double share = static_cast<double>(moments.width) / static_cast<double>(rank);
  return moments.mean() * moments.mean() * (share - 1);
}

double variance_modulus(const Eigen::VectorXcd& nonzero, Eigen::Index width) {
  const auto d = static_cast<double>(width);
  const double mean = nonzero.real().sum() / d;  // the imaginary parts cancel in pairs
  return nonzero.squaredNorm() / d - mean * mean;
}

}  // namespace eigenscope
