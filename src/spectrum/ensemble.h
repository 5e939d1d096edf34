// Random query-key matrices whose eigenspectrum has exactly the mean and variance asked for.
#pragma once

#include <Eigen/Core>
#include <array>
#include <complex>
#include <cstdint>
#include <vector>

#include "spectrum/traces.h"
#include "support/choice.h"

namespace eigenscope {

enum class EnsembleKind {
  normal,     ///< symmetric, eigenvalues drawn from a normal law
  two_point,  ///< symmetric, half of the eigenvalues at each of two points: m +- sqrt(v) at even width
  uniform,    ///< symmetric, eigenvalues drawn uniformly
  power_law,  ///< symmetric, k-th eigenvalue in proportion to 1/k before centring: a long tail
  shifted_gaussian,  ///< non-symmetric, m I plus independent normal entries
  factored,          ///< non-symmetric of rank d_h, W_Q W_K^T: a shifted Gaussian on d_h dimensions
  list,              ///< symmetric, eigenvalues in proportion to a given list
};

inline constexpr std::array kEnsembleNames{
    Choice{"normal", "symmetric, normal spectrum"},
    Choice{"two-point", "symmetric, two-point"},
    Choice{"uniform", "symmetric, uniform"},
    Choice{"power-law", "symmetric, power law"},
    Choice{"shifted-gaussian", "shifted Gaussian, not symmetric"},
    Choice{"factored", "factored, rank d_h, not symmetric"},
    Choice{"list", "a list of eigenvalues"},
};

/// A point of the plane of eigenspectra.
struct SpectrumPoint {
  double mean = 0;
  double variance = 0;
};

struct EnsembleSettings {
  EnsembleKind kind = EnsembleKind::normal;
  Eigen::Index width = 64;       ///< d; ignored by `list`, whose length it is
  Eigen::Index head_width = 32;  ///< d_h <= d; only `factored` uses it
  std::uint64_t seed = 1;
  std::vector<double> eigenvalues;  ///< only `list` uses it
};

/// Weights of the two fixed parts of a member of the ensemble: W = centre C + spread Z.
struct EnsembleWeights {
  double centre = 0;
  double spread = 0;
};

/// One draw of an ensemble, seen as the line of matrices W(m, v) = m I + sqrt(v) Z in which Z has
/// mean 0 and variance 1 exactly: so one draw serves every mean and variance, and the theory can
/// use the exact traces of the very matrix that is simulated. For `factored` I is the projector
/// onto a random d_h-dimensional subspace, Z lives on it, and the weights are such that mean and
/// variance over all d eigenvalues are m and v.
///
/// For non-symmetric kinds the variance that is prescribed is the Frobenius one,
/// ||W||_F^2/d - m^2. Symmetric kinds are held in their eigenbasis: with isotropic tokens the law
/// of the logits does not depend on it.
class Ensemble {
 public:
  /// Throws InvalidArgument: width, head_width, seed out of range; head_width above width;
  /// a dense matrix of more than 1024 rows; a list with fewer than two entries, one out of range, or
  /// none that differ.
  explicit Ensemble(const EnsembleSettings& settings);

  Eigen::Index width() const { return width_; }
  bool symmetric() const { return spread_matrix_.size() == 0; }

  /// Throws InvalidArgument ("variance", "mean") when out of range, or when the ensemble cannot have
  /// them: zeros outside a head's subspace alone give a variance of mean^2 (d/d_h - 1).
  EnsembleWeights weights(double mean, double variance) const;
  /// Smallest variance that the ensemble can have at this mean.
  double minimum_variance(double mean) const;
  /// True if the variance is at least minimum_variance(mean), up to rounding.
  bool allows(double mean, double variance) const;

  /// Traces of W(mean, variance), in O(1). Errors as for weights().
  SpectralMoments moments(double mean, double variance) const;
  /// The eigenvalues of W(mean, variance) that need not be zero, in no particular order. The first
  /// call on a non-symmetric ensemble costs O(d^3), later ones O(d). Errors as for weights().
  Eigen::VectorXcd eigenvalues(double mean, double variance);
  /// W(mean, variance), d x d. Errors as for weights().
  Eigen::MatrixXd matrix(double mean, double variance) const;
  /// C, d x d, or an empty matrix where it is the identity.
  Eigen::MatrixXd centre() const { return basis_ * basis_.transpose(); }
  /// Z, d x d.
  Eigen::MatrixXd spread() const { return combined(0, 1); }

  /// centre = C x and spread = Z x for a vector x of d numbers: all that a simulation needs.
  void apply(const Eigen::VectorXf& x, Eigen::VectorXf& centre, Eigen::VectorXf& spread) const;

 private:
  void draw_symmetric(const EnsembleSettings& settings);
  void draw_non_symmetric(const EnsembleSettings& settings);
  void collect_invariants();
  Eigen::Index core_width() const;
  Eigen::MatrixXd combined(double centre, double spread) const;

  Eigen::Index width_ = 0;
  Eigen::VectorXd spread_diagonal_;  // symmetric kinds: Z = diag(.)
  Eigen::MatrixXd spread_matrix_;    // others: Z, on the subspace when there is one
  Eigen::MatrixXd basis_;            // d x d_h, orthonormal columns; empty when C = I
  Eigen::VectorXcd spread_eigenvalues_;
  // The factors of apply(). The basis is held both ways so that every product runs down
  // columns: sums are then in the same order, and equal to the last bit, with and without SIMD.
  Eigen::VectorXf diagonal_single_;
  Eigen::MatrixXf spread_single_, basis_single_, transposed_basis_single_;

  // Invariants of Z from which the moments of every W(m, v) follow.
  double square_ = 0, cube_ = 0, fourth_ = 0;  // tr Z^2, tr Z^3, tr Z^4
  double symmetric_part_ = 0;                  // ||Z + Z^T||_F^2
  double gram_cross_ = 0;                      // tr((Z + Z^T) Z Z^T)
  double gram_square_ = 0;                     // tr((Z Z^T)^2)
};

}  // namespace eigenscope
