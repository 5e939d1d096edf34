#include "labs/agent_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "statistics/estimate.h"
#include "support/decompositions.h"
#include "support/error.h"
#include "support/normal_matrix.h"
#include "support/random.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Index kAgentBatch = 32, kAgentHidden = 32, kFreshStates = 500;
/// The distractors' standard deviation on fresh observations over that in training.
constexpr std::array kFreshScales{0.0, 1.0, 2.0, 3.0};

/// Draws of one training run.
enum class AgentDraw { demonstrations, fresh, weights, batches, count };

/// Draws of some settings only are from a separate stream, so that no other draw depends on them.
std::uint64_t beside(std::uint64_t stream) { return ~stream; }

/// The place in [-1, 1] where a ball lands that is thrown back at -1 and 1, from one in [-2, 2].
double within_walls(double place) {
  if (place > 1) return 2 - place;
  if (place < -1) return -2 - place;
  return place;
}

double relevant_share_of_eigenvectors(const Eigen::MatrixXd& logits) {
  const Eigen::MatrixXd symmetric = (logits + logits.transpose()) / 2;
  const SymmetricEigen eigen = symmetric_eigen(symmetric);
  Eigen::VectorXd sizes = eigen.values.cwiseAbs();
  double share = 0;
  for (Index i = 0; i < kRelevantFeatures; ++i) {
    Index largest = 0;
    sizes.maxCoeff(&largest);
    sizes[largest] = -1;
    share += eigen.vectors.col(largest).head(kRelevantFeatures).squaredNorm();
  }
  return share / kRelevantFeatures;
}

}  // namespace

Demonstrations draw_demonstrations(Index count, Index distractors, double scale, std::uint64_t seed,
                                   std::uint64_t stream) {
  constexpr double kReach = 0.2;
  Demonstrations drawn;
  drawn.observations.resize(kRelevantFeatures + distractors, count);
  drawn.observations.bottomRows(distractors) =
      static_cast<float>(scale) * normal_matrix(distractors, count, seed, stream);
  for (Index n = 0; n < count; ++n) {
    std::array<double, kRelevantFeatures> feature{};
    for (std::size_t i = 0; i < feature.size(); ++i) {
      const auto draw = static_cast<std::uint64_t>(n) * feature.size() + i;
      feature[i] = 2 * random_unit(seed, stream, draw) - 1;
      drawn.observations(static_cast<Index>(i), n) =
          static_cast<float>(std::sqrt(3.0) * feature[i]);
    }
    const auto [ball, velocity, time, paddle] = feature;
    const double way = within_walls(ball + velocity * (time + 1) / 2) - paddle;
    drawn.actions.push_back(way > kReach ? 2 : way < -kReach ? 0 : 1);
  }
  return drawn;
}

void shuffle_slots(Matrix<float>& observations, std::uint64_t seed, std::uint64_t stream) {
  const Index features = observations.rows();
  for (Index n = 0; n < observations.cols(); ++n) {
    shuffle_range(observations.col(n), seed, stream, static_cast<std::uint64_t>(n * features));
  }
}

AgentAttention::AgentAttention(const AgentAttentionSettings& settings)
    : settings_(settings),
      runs_(kPolicyNames.size(), settings.distractors.size(), settings.trainings, settings.steps) {
  checked(kDemonstrations, static_cast<double>(settings.demonstrations));
  checked(kDistractorScale, settings.distractor_scale);
  checked(kSparsity, settings.sparsity);
  checked(kFeatureWidth, static_cast<double>(settings.feature_width));
  checked(shared::kSteps, static_cast<double>(settings.steps));
  checked(kTrainings, static_cast<double>(settings.trainings));
  check_ascending(kDistractors, settings.distractors);
}

Demonstrations AgentAttention::observed(Index count, double scale, std::uint64_t stream) const {
  Demonstrations drawn = draw_demonstrations(count, distractors(), scale, settings_.seed, stream);
  if (settings_.slots == AgentSlots::shuffled && !has_tokens(kind())) {
    shuffle_slots(drawn.observations, settings_.seed, beside(stream));
  }
  return drawn;
}

AgentAttention::Run AgentAttention::begin() {
  const auto stream = [&](AgentDraw draw) { return stream_of(runs_.seed(), draw); };
  demonstrations_ = observed(settings_.demonstrations, settings_.distractor_scale,
                             stream(AgentDraw::demonstrations));
  const PolicyShape shape{kRelevantFeatures + distractors(), kActions, settings_.feature_width,
                          kAgentHidden};
  FeaturePolicy<float> policy(kind(), shape, settings_.seed, stream(AgentDraw::weights));
  const Index parameters = policy.parameters().size();
  return {std::move(policy), small_optimizer(settings_.steps, parameters)};
}

void AgentAttention::step(Run& run) {
  const std::uint64_t stream = stream_of(runs_.seed(), AgentDraw::batches);
  const auto count = static_cast<std::uint64_t>(settings_.demonstrations);
  Matrix<float> observations(kRelevantFeatures + distractors(), kAgentBatch);
  std::vector<TokenId> actions;
  for (Index b = 0; b < kAgentBatch; ++b) {
    const auto draw = static_cast<std::uint64_t>(run.step * kAgentBatch + b);
    const std::uint64_t example = random_below(count, settings_.seed, stream, draw);
    observations.col(b) = demonstrations_.observations.col(static_cast<Index>(example));
    actions.push_back(demonstrations_.actions[example]);
  }
  run.policy.forward(observations);
  std::vector<float> advantages;
  if (settings_.learning == AgentLearning::policy_gradient) {
    const std::vector<TokenId> expert = actions;
    actions = sampled_actions(run.policy.logits(), settings_.seed, beside(stream),
                              static_cast<std::uint64_t>(run.step * kAgentBatch));
    std::vector<float> rewards;
    for (std::size_t b = 0; b < actions.size(); ++b) {
      rewards.push_back(actions[b] == expert[b] ? 1.0F : 0.0F);
    }
    advantages = advantages_of<float>(rewards);
  }
  run.policy.backward(observations, actions, static_cast<float>(settings_.sparsity), advantages);
  run.optimizer.step(run.step, 1, run.policy.gradient(), run.policy.parameters());
}

AgentAttention::Measures AgentAttention::measured(FeaturePolicy<float>& policy) const {
  Measures measures{};
  std::array<double, kActions> shares{};
  for (const double scale : kFreshScales) {
    const Demonstrations fresh = observed(kFreshStates, scale * settings_.distractor_scale,
                                          stream_of(runs_.seed(), AgentDraw::fresh));
    policy.forward(fresh.observations);
    shares.fill(0);  // the expert's actions do not depend on the distractors
    Fresh& at_scale = measures.of_scale.emplace_back();
    for (Index n = 0; n < kFreshStates; ++n) {
      Index action = 0;
      policy.logits().col(n).maxCoeff(&action);
      const TokenId expert = fresh.actions[static_cast<std::size_t>(n)];
      if (action == expert) at_scale.accuracy += 1.0 / kFreshStates;
      shares[static_cast<std::size_t>(expert)] += 1.0 / kFreshStates;
    }
    at_scale.relevant_share = policy.feature_shares().head(kRelevantFeatures).sum();
  }
  measures.most_frequent = *std::max_element(shares.begin(), shares.end());
  if (kind() == PolicyKind::attention) {
    measures.eigenvector_share = relevant_share_of_eigenvectors(policy.feature_logits());
  }
  return measures;
}

double AgentAttention::step_work() const {
  const auto features = static_cast<double>(kRelevantFeatures + distractors());
  const auto width = static_cast<double>(settings_.feature_width);
  const double hidden = 3 * kAgentHidden * (features + width);
  if (kind() != PolicyKind::attention) return kAgentBatch * hidden;
  return kAgentBatch * (hidden + features * (9 * width * width + (6 * width + 20) * features));
}

bool AgentAttention::advance(double work) {
  return runs_.advance(
      work, [&] { return begin(); },
      [&](Run& run) {
        step(run);
        return step_work();
      },
      [&](Run& run, Measures& measures) {
        measures = measured(run.policy);
        return step_work() * kFreshStates * kFreshScales.size() / kAgentBatch / 3;
      });
}

double AgentAttention::progress() const { return runs_.progress(); }

AgentAttentionRow AgentAttention::row(std::size_t kind, std::size_t at, std::size_t scale) const {
  constexpr auto kPlain = static_cast<std::size_t>(PolicyKind::plain);
  AgentAttentionRow row;
  row.policy = static_cast<PolicyKind>(kind);
  row.distractors = static_cast<Index>(settings_.distractors[at]);
  row.scale = kFreshScales[scale];
  row.trainings = static_cast<Index>(runs_.finished(at, kind));
  row.accuracy = runs_.over(
      at, kind, [&](const Measures& measures) { return measures.of_scale[scale].accuracy; });
  row.gain = runs_.over(at, kind, kPlain, [&](const Measures& measures, const Measures& plain) {
    return measures.of_scale[scale].accuracy - plain.of_scale[scale].accuracy;
  });
  row.relevant_share = runs_.over(
      at, kind, [&](const Measures& measures) { return measures.of_scale[scale].relevant_share; });
  return row;
}

std::vector<AgentAttentionRow> AgentAttention::rows() const {
  std::vector<AgentAttentionRow> rows;
  for (std::size_t kind = 0; kind < kPolicyNames.size(); ++kind) {
    for (std::size_t at = 0; at < settings_.distractors.size(); ++at) {
      for (std::size_t scale = 0; scale < kFreshScales.size(); ++scale) {
        const bool most = at + 1 == settings_.distractors.size();
        if (most || kFreshScales[scale] == 1) rows.push_back(row(kind, at, scale));
      }
    }
  }
  return rows;
}

std::vector<Estimate> AgentAttention::eigenvector_shares() const {
  constexpr auto kAttention = static_cast<std::size_t>(PolicyKind::attention);
  std::vector<Estimate> shares;
  for (std::size_t at = 0; at < settings_.distractors.size(); ++at) {
    shares.push_back(runs_.over(at, kAttention, &Measures::eigenvector_share));
  }
  return shares;
}

Estimate AgentAttention::most_frequent() const {
  return runs_.over(0, 0, &Measures::most_frequent);
}

}  // namespace eigenscope
