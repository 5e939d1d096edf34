// Effect of a prior on the attention weights: accuracy over the number of training examples (Le et al.,
// 2022, arXiv:2205.12616).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "labs/paired_trainings.h"
#include "labs/scene_reader.h"
#include "statistics/estimate.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

/// Object to which the prior of a training example gives its weight.
enum class PriorKind {
  none,     ///< no penalty
  correct,  ///< the target
  half,     ///< the target in half of the examples, else as random
  random,   ///< one drawn for each example, and kept
  uniform,  ///< all alike
  wrong,    ///< the one with the lowest value of the attribute asked, which attention can learn
};
inline constexpr std::array kPriorNames{
    Choice{"none", "no prior"},       Choice{"correct", "target object"},
    Choice{"half", "target in half"}, Choice{"random", "random object"},
    Choice{"uniform", "all objects"}, Choice{"wrong", "wrong object"}};

inline constexpr Parameter kExamples{"examples", integers(10, 100000), 200, "training examples"};
inline constexpr Parameter kStartScale{
    "start_scale", reals(0, 10), 0.5,
    "standard deviation of the initial query, key and value weights"};
struct AttentionPriorSettings {
  double prior_weight = 1, start_scale = 0.5;
  Eigen::Index head_width = 32, steps = 600;
  std::vector<double> examples{100, 200, 400, 800, 1600};  ///< ascending
  Eigen::Index trainings = 5;
  std::uint64_t seed = 1;
};

/// Means for a prior and a number of examples, on fresh scenes after the last step.
struct AttentionPriorRow {
  PriorKind prior = PriorKind::none;
  Eigen::Index examples = 0;
  Eigen::Index trainings = 0;  ///< finished so far
  Estimate accuracy;
  Estimate gain;  ///< accuracy minus that without a prior, same examples and initial weights
  Estimate target_weight;   ///< mean attention weight on the target
  Estimate entropy;         ///< row entropy over log 6
  Estimate mean, variance;  ///< moments of the eigenspectrum of W_QK over the features
};

/// Results of one training run for every prior and number of examples; means over the seeds that are done.
struct AttentionPriorAgreement {
  /// Spearman's correlation of the weight on the target with the mean and the variance of the eigenspectrum,
  /// and with the accuracy.
  Estimate with_mean, with_variance, with_accuracy;
  /// Mean distance of the weight on the target from weight_of_mean.
  Estimate mean_error;
};

/// Weight on the target for W_QK = m I, whose logits are m for the target and 0 for the other objects.
struct IdentityWeight {
  double mean, target_weight;
};
double weight_of_mean(double mean);

/// Trains a reader for every prior, number of examples and seed. A job that advances in steps: all of one seed
/// after the other; a smaller number of examples is the beginning of a larger one.
class AttentionPriors {
 public:
  /// Throws InvalidArgument for settings out of range, or examples that do not ascend.
  explicit AttentionPriors(const AttentionPriorSettings& settings);

  /// Does about `work` multiply-adds more; true when all is done.
  bool advance(double work);
  /// Share of the work that is done, in [0, 1].
  double progress() const;
  std::vector<AttentionPriorRow> rows() const;
  AttentionPriorAgreement agreement() const;
  /// Numbers between the least and the largest mean of the rows so far; empty without rows.
  std::vector<IdentityWeight> identity() const;

 private:
  using Index = Eigen::Index;

  struct Measures {
    double accuracy, target_weight, entropy, mean, variance;
  };
  struct Run {
    SceneReader<float> reader;
    AdamW optimizer;
    Index step = 0;
  };

  Run begin();
  void step(Run& run);
  Measures measured(SceneReader<float>& reader) const;

  AttentionPriorSettings settings_;
  PairedTrainings<Run, Measures> runs_;  // points are numbers of examples, kinds are priors
  std::vector<Scene> examples_, fresh_;  // for the present seed
};

}  // namespace eigenscope
