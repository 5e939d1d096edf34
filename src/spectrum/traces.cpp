#include "spectrum/traces.h"

#include <array>
#include <cmath>
#include <utility>

#include "support/error.h"
#include "support/gemm.h"
#include "support/parameter.h"

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

void check_matrix(const char* name, const Eigen::MatrixXd& matrix) {
  if (matrix.size() == 0) throw InvalidArgument(name, "the matrix is empty");
  if (!matrix.allFinite()) throw InvalidArgument(name, "an entry is not a finite number");
}

void check_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key) {
  check_matrix("query", query);
  check_matrix("key", key);
  if (query.rows() != key.rows() || query.cols() != key.cols()) {
    throw InvalidArgument("key", "its shape differs from that of query");
  }
}

// `seen` are the factors after the covariance.
FactorProducts products_of(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                           const Eigen::MatrixXd& seen_query, const Eigen::MatrixXd& seen_key) {
  const Eigen::Index d = query.rows(), n = query.cols();
  Eigen::MatrixXd core(n, n), query_gram(n, n), key_gram(n, n);
  const auto product = [d, n](const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                              Eigen::MatrixXd& c, Entries wanted) {
    return Product<double>{
        n, n, factor(a.data(), d).transposed(), factor(b.data(), d), c.data(), n, false, wanted};
  };
  const std::array products{product(query, seen_query, query_gram, Entries::upper),
                            product(key, seen_query, core, Entries::all),
                            product(key, seen_key, key_gram, Entries::upper)};
  multiply<double, double>(d, products);
  mirror_upper(query_gram);
  mirror_upper(key_gram);
  return {d, std::move(core), times(query_gram, key_gram)};
}

}  // namespace

void check_traces(const Traces& traces) {
  checked("xi", traces.xi);
  checked("eta_f", traces.eta_f);
  checked("eta_s", traces.eta_s);
  // Rounding may leave a symmetric W with |eta_s| a little above eta_f.
  if (std::abs(traces.eta_s) > traces.eta_f * (1 + 1e-9)) {
    throw InvalidArgument("eta_s",
                          shown(traces.eta_s) +
                              " is not allowed; it must be from -eta_f to eta_f, which is " +
                              shown(traces.eta_f));
  }
}

FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key) {
  check_factors(query, key);
  return products_of(query, key, query, key);
}

FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                                   const Eigen::MatrixXd& covariance) {
  check_factors(query, key);
  check_matrix("covariance", covariance);
  if (covariance.rows() != query.rows() || covariance.cols() != query.rows()) {
    throw InvalidArgument("covariance", "its shape does not fit the width of the head");
  }
  // Symmetric, so its own transpose.
  return products_of(query, key, transposed_times(covariance, query),
                     transposed_times(covariance, key));
}

SpectralMoments moments_of_products(const FactorProducts& products) {
  const Eigen::MatrixXd square = times(products.core, products.core);
  SpectralMoments moments;
  moments.width = products.width;
  moments.traces = {products.core.trace(), square.trace(), products.gram.trace()};
  moments.quartic_s = trace_of_product(square, square);
  moments.quartic_f = trace_of_product(products.gram, products.gram);
  return moments;
}

SpectralMoments moments_of_matrix(const Eigen::MatrixXd& matrix) {
  check_matrix("matrix", matrix);
  if (matrix.rows() != matrix.cols()) throw InvalidArgument("matrix", "it is not square");
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

double variance_modulus(const Eigen::VectorXcd& nonzero, Eigen::Index width) {
  const auto d = static_cast<double>(width);
  const double mean = nonzero.real().sum() / d;  // the imaginary parts cancel in pairs
  return nonzero.squaredNorm() / d - mean * mean;
}

}  // namespace eigenscope
