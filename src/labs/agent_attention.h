// Robustness of attention to irrelevant features: accuracy of policies that learn an expert's actions, over the
// number and the scale of distractors (Bramlage and Cortese, 2020, arXiv:2007.04862).
#pragma once

#include <cstdint>
#include <vector>

#include "labs/feature_policy.h"
#include "labs/paired_trainings.h"
#include "statistics/estimate.h"
#include "support/parameter.h"

namespace eigenscope {

/// Place, velocity and remaining time of a ball, and place of the paddle that shall catch it.
inline constexpr Eigen::Index kRelevantFeatures = 4;
/// Left, stay, right.
inline constexpr Eigen::Index kActions = 3;

/// Observations, one a column, and the expert's actions.
struct Demonstrations {
  Matrix<float> observations;  ///< the relevant features, then the distractors
  std::vector<TokenId> actions;
};

/// Training signal of a policy that learns the expert's actions.
enum class AgentLearning {
  imitation,  ///< cross-entropy with the expert's action
  policy_gradient  ///< REINFORCE: the reward is 1 if an action drawn from the policy is the expert's, else 0
};
inline constexpr std::array kAgentLearningNames{Choice{"imitation", "imitation"},
                                                Choice{"policy-gradient", "policy gradient"}};

/// Places of the features in an observation.
enum class AgentSlots {
  fixed,
  shuffled  ///< another uniform permutation of the features, distractors included, in each observation
};
inline constexpr std::array kAgentSlotNames{Choice{"fixed", "fixed"},
                                            Choice{"shuffled", "shuffled"}};

/// A ball at x in [-1, 1] with velocity in [-1, 1] lands after a time in [0, 1], thrown back by walls at -1 and 1;
/// the expert moves the paddle, in [-1, 1], towards that place unless it is within 0.2. All four are uniform,
/// observed with mean 0 and variance 1; distractors are normal with the standard deviation `scale`. The draws of
/// fewer demonstrations, and the relevant features of fewer distractors, are the same.
Demonstrations draw_demonstrations(Eigen::Index count, Eigen::Index distractors, double scale,
                                   std::uint64_t seed, std::uint64_t stream);

inline constexpr Parameter kDistractors{"distractors", integers(0, 512), 0, "irrelevant features"};
inline constexpr Parameter kDemonstrations{"demonstrations", integers(10, 100000), 1000,
                                           "observations with the expert's action"};
inline constexpr Parameter kDistractorScale{
    "distractor_scale", reals(0, 100), 1,
    "standard deviation of the distractors in training; relevant features have 1"};
inline constexpr Parameter kSparsity{
    "sparsity", reals(0, 10), 0.003,
    "weight of the L1 penalty on the hidden layer's weights in the loss"};

inline constexpr Parameter kFeatureWidth{"feature_width", integers(1, 256), 16,
                                         "width d of tokens, queries, keys and values"};

struct AgentAttentionSettings {
  std::vector<double> distractors{0, 8, 16, 32};  ///< ascending
  Eigen::Index demonstrations = 1000;
  double distractor_scale = 1, sparsity = 0.003;
  AgentLearning learning = AgentLearning::imitation;
  AgentSlots slots = AgentSlots::fixed;  ///< only for policies without tokens: tokens have no order
  Eigen::Index feature_width = 16, steps = 600, trainings = 5;
  std::uint64_t seed = 1;
};

/// Permutes the entries of each observation.
void shuffle_slots(Matrix<float>& observations, std::uint64_t seed, std::uint64_t stream);

/// Means for a kind of policy and a number of distractors after the last step, on fresh observations.
struct AgentAttentionRow {
  PolicyKind policy = PolicyKind::attention;
  Eigen::Index distractors = 0;
  double scale = 1;            ///< the distractors' standard deviation over that in training
  Eigen::Index trainings = 0;  ///< finished so far
  Estimate accuracy;           ///< share of the expert's actions
  Estimate gain;               ///< accuracy minus that of the perceptron, same demonstrations
  Estimate relevant_share;     ///< sum of FeaturePolicy::feature_shares over the relevant features
};

/// Trains each kind of policy for every number of distractors and seed. A job that advances in steps: all of one
/// seed after the other.
class AgentAttention {
 public:
  /// Throws InvalidArgument for settings out of range, or distractors that do not ascend.
  explicit AgentAttention(const AgentAttentionSettings& settings);

  /// Does about `work` multiply-adds more; true when all is done.
  bool advance(double work);
  /// Share of the work that is done, in [0, 1].
  double progress() const;
  const AgentAttentionSettings& settings() const { return settings_; }
  /// The rows; a scale other than 1 only has rows with the largest number of distractors.
  std::vector<AgentAttentionRow> rows() const;
  /// Share of the squared entries of the four leading eigenvectors of the symmetric part of U^T W_QK U that lies on the
  /// four relevant features, for each number of distractors D. A random direction has the share 4/(4 + D).
  std::vector<Estimate> eigenvector_shares() const;
  /// Share of the most frequent action of the expert on fresh observations.
  Estimate most_frequent() const;

 private:
  using Index = Eigen::Index;

  /// Measures on fresh observations with one scale of the distractors.
  struct Fresh {
    double accuracy = 0, relevant_share = 0;
  };
  struct Measures {
    std::vector<Fresh> of_scale;
    double eigenvector_share, most_frequent;
  };
  struct Run {
    FeaturePolicy<float> policy;
    AdamW optimizer;
    Index step = 0;
  };

  PolicyKind kind() const { return static_cast<PolicyKind>(runs_.kind()); }
  Index distractors() const { return static_cast<Index>(settings_.distractors[runs_.point()]); }
  double step_work() const;
  /// Observations as the present kind of policy has them.
  Demonstrations observed(Index count, double scale, std::uint64_t stream) const;

  AgentAttentionRow row(std::size_t kind, std::size_t at, std::size_t scale) const;

  Run begin();
  void step(Run& run);
  Measures measured(FeaturePolicy<float>& policy) const;

  AgentAttentionSettings settings_;
  PairedTrainings<Run, Measures> runs_;  // points are numbers of distractors, kinds are policies
  Demonstrations demonstrations_;        // for the present run
};

}  // namespace eigenscope
