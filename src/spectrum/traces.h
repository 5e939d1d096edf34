// The traces of W_QK through which all predictions of the theory depend on a head.
#pragma once

#include <Eigen/Core>
#include <complex>

#include "spectrum/eigenvalues.h"

namespace eigenscope {

/// The traces of W that determine the law of the logits (Bao, Hataya, Karakida, ICML 2024, section 3; the
/// Frobenius trace is the extension to non-symmetric W).
struct Traces {
  double xi = 0;     ///< tr(W Sigma)
  double eta_s = 0;  ///< tr((W Sigma)^2)
  double eta_f = 0;  ///< tr(W Sigma W^T Sigma), >= |eta_s|, equal for symmetric W
};

/// Throws InvalidArgument naming xi, eta_s or eta_f when one is out of range or |eta_s| > eta_f.
void check_traces(const Traces& traces);

/// Traces up to the fourth order of one d x d query-key matrix, Sigma = I.
struct SpectralMoments {
  Eigen::Index width = 0;  ///< d
  Traces traces;
  double quartic_s = 0;  ///< tr(W^4)
  double quartic_f = 0;  ///< tr((W W^T)^2)

  /// m = tr(W)/d.
  double mean() const { return traces.xi / static_cast<double>(width); }
  /// v = tr(W^2)/d - m^2; negative when the eigenvalues are mostly imaginary.
  double variance() const { return traces.eta_s / static_cast<double>(width) - mean() * mean(); }
  /// ||W||_F^2/d - m^2, never negative; equals variance() for symmetric W.
  double variance_frobenius() const {
    return traces.eta_f / static_cast<double>(width) - mean() * mean();
  }
  /// tr(W^4)/tr(W^2)^2: the normal approximation wants it small. NaN for W = 0, and of no use
  /// where tr(W^2) nearly cancels; fourth_moment_frobenius() does not have that fault.
  double fourth_moment() const { return quartic_s / (traces.eta_s * traces.eta_s); }
  /// tr((W W^T)^2)/||W||_F^4, in [1/rank, 1].
  double fourth_moment_frobenius() const { return quartic_f / (traces.eta_f * traces.eta_f); }
};

/// The least Frobenius and modulus variance of a W of rank `rank` (1 to d) with the same mean m:
/// m^2 (d/rank - 1), reached when its non-zero eigenvalues are equal, since the others are 0. The
/// trace variance has this floor where the eigenvalues are real.
double rank_floor(const SpectralMoments& moments, Eigen::Index rank);

/// The d_h x d_h products that give traces and spectra of W = query key^T without forming it, in O(d d_h^2).
struct FactorProducts {
  Eigen::Index width = 0;  ///< d
  /// M = key^T query: its eigenvalues are those of W that need not be zero (the other d - d_h are 0),
  /// so tr(W) = tr(M) and tr(W^2) = tr(M^2).
  Eigen::MatrixXd core;
  /// query^T query and key^T key, symmetric: the trace of their product is ||W||_F^2, and its eigenvalues are the
  /// squares of the singular values of W that need not be zero.
  Eigen::MatrixXd query, key;
  Precision precision = Precision::full;  ///< precision of the sums of all three

  /// Traces of W, in O(d_h^2).
  Traces traces() const;
};

/// `query` and `key` are d x d_h. Throws InvalidArgument ("query", "key") when the shapes differ, are
/// empty, or an entry is not finite.
FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key);

/// Products of factors of less precision than a float's, in half the time: sums over 512 of the d
/// rows are floats, which are added up in double. An entry is off by at most 512 2^-24 = 3e-5 of the
/// norms of its two columns, by about 1e-6 as rounding goes. Where squares leave the range of floats
/// it is done in double.
FactorProducts products_of_factors(const Eigen::MatrixXf& query, const Eigen::MatrixXf& key);

/// True if the sums of squares of the columns of `weight` in single precision, on the diagonal of `gram`, are
/// unaffected by the range of floats.
bool fits_floats(const Eigen::MatrixXd& gram, const Eigen::MatrixXf& weight);

/// Products of W Sigma for a covariance Sigma of the tokens (d x d, symmetric, not negative):
/// key^T Sigma query, query^T Sigma query and key^T Sigma key, so that the traces are xi, eta_S and eta_F in
/// that frame. In O(d^2 d_h). Throws also "covariance" for another shape.
FactorProducts products_of_factors(const Eigen::MatrixXd& query, const Eigen::MatrixXd& key,
                                   const Eigen::MatrixXd& covariance);

/// Moments of W from its products, in O(d_h^3).
SpectralMoments moments_of_products(const FactorProducts& products);

/// Moments of a d x d matrix, in O(d^3). Throws InvalidArgument ("matrix") as above.
SpectralMoments moments_of_matrix(const Eigen::MatrixXd& matrix);

/// E|mu - m|^2 over all d eigenvalues, of which `nonzero` may leave out zeros.
double variance_modulus(const Eigen::VectorXcd& nonzero, Eigen::Index width);

}  // namespace eigenscope
