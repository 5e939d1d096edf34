// Softmax attention as inference of a latent variable, against the exact
// posterior (Zhang et al., 2022, arXiv:2212.14852).
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "statistics/estimate.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

/// Norms of the keys, on which a dot product depends and a distance does not.
enum class KeyNorms { equal, unequal, corrected };
inline constexpr std::array kKeyNormsNames{
    Choice{"equal", "equal"}, Choice{"unequal", "unequal"},
    Choice{"corrected", "unequal, logits minus half the squared norm"}};

inline constexpr Parameter kAnisotropy{"anisotropy", reals(1, 1e4), 16,
                                       "largest over smallest variance of the noise of a token"};
inline constexpr Parameter kSignal{"signal", reals(0.1, 20), 4,
                                   "norm of a prototype in standard deviations of the noise"};
inline constexpr Parameter kExponent{"exponent", reals(-4, 4), 1,
                                     "exponent of W = Sigma^-tau, Sigma the covariance of the "
                                     "noise; mean eigenvalue as of Sigma^-1"};
inline constexpr Parameter kAngles{"angles", integers(1, 8), 1,
                                   "angles of a key, which lies on a torus"};
inline constexpr Parameter kHarmonics{
    "harmonics", integers(0, 8), 4,
    "harmonics of the values in each angle: 0 for a constant, 1 for linear in the key"};
inline constexpr Parameter kRelevant{
    "relevant", integers(1, 8), 8, "number of angles on which the values depend; at most `angles`"};
inline constexpr Parameter kSpectrumVariance{
    "spectrum_variance", reals(0, 7), 0,
    "variance of the eigenspectrum of W at mean 1, put on the first angle; at most the number of "
    "angles minus 1"};
inline constexpr Parameter kRepeats{"repeats", integers(2, 10000), 16,
                                    "independent draws of prototypes or keys"};

/// A token is a prototype with normal noise, the latent variable the prototype's number.
struct ClassSettings {
  double anisotropy = 16, signal = 4;
  KeyNorms norms = KeyNorms::equal;
  std::vector<double> exponents{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2};
  Eigen::Index repeats = 16;
  std::uint64_t seed = 1;
};

/// Attention over the prototypes with W = Sigma^-tau; losses are cross-entropies with the latent variable, in
/// nats.
struct ClassRow {
  double exponent = 0;
  double variance = 0;     ///< variance of the eigenvalues of W, whose mean is 1
  Estimate loss;           ///< at temperature lambda of the posterior
  Estimate tuned_loss;     ///< at the best temperature
  Estimate entropy;        ///< row entropy over log K at the temperature of the posterior
  Estimate shuffled_loss;  ///< with the same eigenvalues in other directions
  Estimate shuffled_tuned_loss;
};

class LatentClasses {
 public:
  /// Throws InvalidArgument for settings out of range.
  explicit LatentClasses(const ClassSettings& settings);

  /// Does one draw of prototypes and tokens; true when all are done.
  bool advance();
  double progress() const;
  std::vector<ClassRow> rows() const;
  /// Loss of the exact posterior.
  Estimate posterior_loss() const { return posterior_.estimate(); }
  Eigen::Index done() const { return done_; }

 private:
  ClassSettings settings_;
  Eigen::VectorXd precision_;                  // eigenvalues of Sigma^-1, of mean 1
  std::vector<std::array<MeanSums, 5>> sums_;  // for each exponent the estimates of ClassRow
  MeanSums posterior_;
  Eigen::Index done_ = 0;
};

/// Keys lie on a torus of some angles, values are a random function of the key with noise; the latent variable
/// is the function. Errors are expected squared errors of the value at a query, over the function and the noise.
struct ValueSettings {
  Eigen::Index angles = 1, harmonics = 4, relevant = 8;
  double spectrum_variance = 0;
  KeyNorms norms = KeyNorms::equal;
  std::vector<double> lengths{16, 64, 256, 1024};
  Eigen::Index repeats = 16;
  std::uint64_t seed = 1;
};

/// Softmax attention at one length and temperature.
struct ValuePoint {
  Eigen::Index length = 0;
  double temperature = 0;
  Estimate error;
  double bias = 0, variance = 0;  ///< parts of the error from the function and from the noise
};

/// Softmax attention, the posterior mean and linear attention at one length.
struct ValueLength {
  Eigen::Index length = 0;
  double best_temperature = 0, best_error = 0;
  Estimate posterior_error;  ///< error of the exact posterior mean
  Estimate linear_error;     ///< error of linear attention, weights 2 D q.k / T
  Estimate ratio;  ///< best_error over posterior_error, with the jackknife's error over the draws
};

class LatentValues {
 public:
  /// Throws InvalidArgument for settings out of range.
  explicit LatentValues(const ValueSettings& settings);

  /// Does one draw of keys at every length; true when all are done.
  bool advance();
  double progress() const;
  std::vector<ValuePoint> points() const;
  std::vector<ValueLength> lengths() const;
  /// Slopes of the best temperature, its error and the posterior's error over the length, all as logarithms,
  /// with jackknife errors over the draws; NaN for fewer than two lengths, or where the best temperature is
  /// the first or last one tried.
  struct Slopes {
    Estimate temperature, error, posterior;
    Estimate ratio;  ///< slope of the error over that of the posterior
  };
  Slopes slopes() const;
  Eigen::Index done() const { return done_; }

 private:
  struct Draw {
    std::vector<double> bias, variance;  // by temperature
    double posterior, linear;
  };
  struct Best {
    double temperature, error;
    bool inside;
  };

  Draw draw(std::size_t length) const;
  /// Each of the numbers that value(draw to leave out; -1 for none) gives, with its jackknife error.
  template <std::size_t N, class Value>
  std::array<Estimate, N> jackknifed(const Value& value) const;
  Best best(std::size_t length, Eigen::Index without) const;
  double posterior_error(std::size_t length, Eigen::Index without) const;
  /// Mean of value(draw) over the draws but one; -1 for all.
  template <class Value>
  double mean_without(std::size_t length, Eigen::Index without, const Value& value) const;

  ValueSettings settings_;
  std::vector<double> temperatures_;
  std::vector<std::vector<Draw>> draws_;  // by length
  Eigen::Index done_ = 0;
};

}  // namespace eigenscope
