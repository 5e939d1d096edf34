// Position or meaning: the minima of tied rank-one attention on finite data, over the number of samples
// (Cui et al., 2024, arXiv:2402.03902).
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "labs/lbfgs.h"
#include "labs/position_theory.h"
#include "statistics/estimate.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kSamplesOverWidth{"samples_over_width", reals(0.1, 10), 1,
                                             "training samples over the token width, n/d"};
inline constexpr Parameter kTokenWidth{"token_width", integers(10, 1000), 200,
                                       "width d of a token"};
inline constexpr Parameter kTeacherPosition{
    "teacher_position", reals(0, 1), 0.3,
    "weight of the positional attention in the teacher; the rest attends by meaning"};
inline constexpr Parameter kTokenStd{"token_std", reals(0.01, 5), 0.5,
                                     "standard deviation of the entries of a token"};
inline constexpr Parameter kRidge{"ridge", reals(1e-6, 10), 0.01,
                                  "ridge penalty c: the loss includes c |w|^2 / 2"};
inline constexpr Parameter kDatasets{"datasets", integers(2, 1000), 8,
                                     "training sets, each with a teacher of its own"};

inline constexpr Parameter kStartNorm{
    "start_norm", reals(0.01, 3), 0.3,
    "norm of the start of a minimization over the square root of the width"};

struct PositionSettings {
  Eigen::Index width = 200;
  double teacher_position = 0.3, token_std = 0.5, ridge = 0.01;
  std::vector<double> samples_over_width{0.5, 0.75, 1, 1.25, 1.5, 1.75, 2};  ///< ascending
  Eigen::Index datasets = 8;
  double start_norm = 0.3;
  Descent minimizer = Descent::lbfgs;
  std::uint64_t seed = 1;
};

/// A training set: pairs of tokens and the teacher's attention. A smaller set is the beginning of a larger one.
class TokenPairs {
 public:
  /// Set number `dataset`: the teacher's direction q is stream 2^32 dataset of the seed, pair k the one after.
  TokenPairs(const PositionSettings& settings, Eigen::Index pairs, std::uint64_t dataset);

  /// Squared error of the outputs over twice the width, summed over the first `pairs`, plus the ridge.
  double loss(Eigen::Index pairs, const Eigen::VectorXd& w, Eigen::VectorXd& gradient) const;
  /// A vector of the norm sqrt(d).
  const Eigen::VectorXd& meaning() const { return meaning_; }
  Overlaps overlaps(const Eigen::VectorXd& w) const;

 private:
  /// The tokens' projections on w over sqrt(d), with their positions.
  SelfWeights fields(Eigen::Index pair, const Eigen::VectorXd& w, double position) const;

  double ridge_;
  Eigen::VectorXd meaning_;
  Eigen::MatrixXd tokens_;  // width x 2 pairs: both tokens of a pair beside each other
  std::vector<SelfWeights> targets_;
  std::vector<double> scales_;  // |x_1 - x_2|^2 / d
};

/// Start of a minimization.
enum class MinimumStart { position, meaning, random };
inline constexpr int kMinimumStarts = 3;

/// Means over the training sets of the minima that one start leads to.
struct MinimumMeans {
  Estimate loss;               ///< training loss over the width
  Estimate position, meaning;  ///< |w . p|/sqrt(d) and |w . q|/d
  Estimate test_error;
  Share semantic_share;  ///< share of sets whose minimum overlaps more with q than with p
};

/// Results at one number of samples.
struct PositionRow {
  double samples_over_width = 0;
  Eigen::Index datasets = 0;  ///< finished so far
  MinimumMeans minima[kMinimumStarts];
  Estimate difference;         ///< loss of the positional minus that of the semantic start, paired
  Estimate random_difference;  ///< loss of the random minus that of the semantic start, paired
  double theory_difference;    ///< NaN where a minimum is not known
  std::optional<Overlaps> theory_position, theory_meaning;
  double theory_position_test, theory_meaning_test;
};

/// Minimizes from the three starts on every training set, and solves the saddle-point equations. A job that
/// advances in steps: the first set, the theory, the other sets.
class PositionMeaning {
 public:
  /// Throws InvalidArgument for settings out of range, or samples_over_width that do not ascend.
  explicit PositionMeaning(const PositionSettings& settings);

  /// Does about `work` multiply-adds more; true when all is done.
  bool advance(double work);
  /// Share of the work that is done, in [0, 1].
  double progress() const;

  std::vector<PositionRow> rows() const;
  /// The point at which the loss difference first changes from negative to positive, by linear interpolation between
  /// the rows: the mean over the training sets with a crossing, and its standard error.
  Estimate crossing() const;
  /// Training sets with a crossing.
  Eigen::Index crossed() const;
  /// crossing() of the theory; NaN for none.
  double theory_crossing() const;
  /// Error of the best attention that is equal for all samples.
  double best_constant() const { return best_constant_; }

 private:
  struct Minimum {
    double loss;
    Overlaps overlaps;
    double test_error;
  };
  /// Minimum of the theory; NaN where it is not known.
  struct Known {
    std::optional<Overlaps> overlaps;
    double loss = std::numeric_limits<double>::quiet_NaN(), test_error = loss;
  };

  TiedProblem problem(std::size_t point) const;
  Eigen::Index pairs(std::size_t point) const;
  void begin_minimum();
  double step_minimum();
  double step_theory();
  std::vector<double> crossings() const;

  PositionSettings settings_;
  SampleLaw law_;
  double best_constant_;
  std::vector<std::vector<Minimum>> minima_;  // by point: set after set, start after start
  std::vector<Known> theory_;                 // by point: positional, semantic
  std::size_t solved_ = 0;                    // solved entries of theory_
  std::size_t done_ = 0;                      // minima, in the order set, point, start
  std::optional<SaddlePoint> saddle_;
  std::unique_ptr<TokenPairs> data_;
  std::optional<Lbfgs> minimizer_;
};

}  // namespace eigenscope
