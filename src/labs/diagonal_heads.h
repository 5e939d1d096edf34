// The weight of heads on the diagonal of attention, from the trace of W_QK with the covariance of the tokens.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "statistics/estimate.h"
#include "statistics/permuted_correlation.h"
#include "support/choice.h"
#include "training/model.h"

namespace eigenscope {

/// A head of a model with relative positions. Means over the rows of one half of the passages, without the first row
/// of each; the trace is of the other half.
struct DiagonalHead {
  std::uint64_t seed = 0;  ///< seed of the training run
  Eigen::Index layer = 0, head = 0;
  double trace = 0;  ///< tr(W_QK Sigma)/sqrt(d_h), Sigma the covariance of tokens within a passage
  /// Logit of a token with itself minus the mean with the others, without position bias.
  double excess = 0;
  double mass = 0;       ///< weight on the diagonal
  double bias_mass = 0;  ///< weight on the diagonal if all logits were their position bias
  double predicted = 0;  ///< bias_mass with the trace added to the logits on the diagonal
};

/// Pairs of quantities that are compared over heads.
enum class DiagonalProperty {
  excess,     ///< trace and excess
  trace,      ///< trace and mass
  bias,       ///< control: bias_mass and mass
  predicted,  ///< predicted and mass
};
inline constexpr std::array kDiagonalPropertyNames{
    Choice{"excess", "trace, excess logit"}, Choice{"trace", "trace, weight"},
    Choice{"bias", "weight by position bias, weight"},
    Choice{"predicted", "weight by position bias and trace, weight"}};

/// Rank correlations over the heads of a model, mean over models; each model's heads are permuted.
std::array<PermutedCorrelation, kDiagonalPropertyNames.size()> diagonal_correlations(
    const std::vector<std::vector<DiagonalHead>>& models, std::uint64_t seed);

/// Relative errors over the heads of a model, mean over models: mean |trace - excess| over mean |excess|, and mean
/// |predicted - mass| and mean |bias_mass - mass| over mean mass.
struct DiagonalErrors {
  Estimate trace, predicted, bias;
};
DiagonalErrors diagonal_errors(const std::vector<std::vector<DiagonalHead>>& models);

/// Sums over the passages that a model reads, from which heads() computes the measures of its heads.
class DiagonalSums {
 public:
  DiagonalSums() = default;
  explicit DiagonalSums(const ModelSettings& settings);

  /// Adds the last batch of the model.
  void add(const Model<float>& model);
  /// The measures of the heads of the same model.
  std::vector<DiagonalHead> heads(const Model<float>& model, std::uint64_t seed) const;

 private:
  using Index = Eigen::Index;

  void add_rows(const Model<float>& model, Index layer, Index sequence);

  std::vector<Eigen::MatrixXd> covariances_;  // by layer
  Eigen::VectorXd excess_, mass_;             // by head, layer by layer
  double traced_ = 0, measured_ = 0;          // passages
};

}  // namespace eigenscope
