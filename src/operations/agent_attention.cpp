// Attention of agents: accuracy of policies that learn an expert's actions, over the number and scale of irrelevant
// features.
#include "labs/agent_attention.h"

#include "operations/estimates.h"
#include "operations/operations.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

struct AgentAttentionInput : AgentAttentionSettings {};

void describe(InputFields& f, AgentAttentionInput& s) {
  f.numbers("distractors", kDistractors, s.distractors,
            "numbers of irrelevant features, ascending");
  f.number(kDemonstrations, s.demonstrations);
  f.number(kDistractorScale, s.distractor_scale);
  f.number(kSparsity, s.sparsity);
  f.choice("learning", s.learning, kAgentLearningNames,
           "imitation of the expert's action, or REINFORCE with the reward 1 for this action and 0 "
           "for others");
  f.choice(
      "slots", s.slots, kAgentSlotNames,
      "places of the features in an observation: fixed, or shuffled in each, where only tokens "
      "carry the identity of their feature");
  f.number(kFeatureWidth, s.feature_width);
  f.number_from(600, shared::kSteps, s.steps);
  f.number(kTrainings, s.trainings);
  f.number(shared::kSeed, s.seed);
}

/// Shares at one number of distractors.
struct EigenvectorShare {
  Eigen::Index distractors;
  Estimate share;
  double random;
};

struct AgentAttentionResult {
  std::vector<AgentAttentionRow> rows;
  std::vector<EigenvectorShare> eigenvectors;
  Estimate most_frequent;
};

void describe_agent_row(ResultFields& out, const AgentAttentionRow& row) {
  out.choice("policy", static_cast<std::size_t>(row.policy), kPolicyNames,
             "input of the policy's hidden layer");
  out.integer("distractors", row.distractors, "irrelevant features");
  out.number("scale", row.scale,
             "standard deviation of the distractors on fresh observations over that in training");
  out.integer("trainings", row.trainings, "training runs so far");
  describe(out, "accuracy", row.accuracy, "share of the expert's actions on fresh observations");
  describe(out, "gain", row.gain,
           "accuracy minus that of the perceptron with the same demonstrations");
  describe(
      out, "relevant_share", row.relevant_share,
      "share of the four relevant features in the attention weights, the gate or the squared "
      "weights of the hidden layer; with shuffled slots that of the first four slots, except in "
      "attention weights");
}

void describe_eigenvector_share(ResultFields& out, const EigenvectorShare& row) {
  out.integer("distractors", row.distractors, "irrelevant features");
  describe(out, "share", row.share,
           "share of the relevant features in the squared entries of the four leading eigenvectors "
           "of the symmetric part of W_QK over the features");
  out.number("random", row.random, "the same of random directions, 4/(4 + D)");
}

void describe(ResultFields& out, const AgentAttentionResult& result) {
  out.list("rows", result.rows, "one row for each policy, number of distractors and scale",
           describe_agent_row);
  out.list("eigenvectors", result.eigenvectors, "self-attention, for each number of distractors",
           describe_eigenvector_share);
  describe(out, "most_frequent", result.most_frequent,
           "share of the expert's most frequent action on fresh observations");
}

AgentAttentionResult agent_attention_result(const AgentAttention& lab) {
  AgentAttentionResult result{lab.rows(), {}, lab.most_frequent()};
  const std::vector<Estimate> shares = lab.eigenvector_shares();
  for (std::size_t at = 0; at < shares.size(); ++at) {
    const double distractors = lab.settings().distractors[at];
    const double random = kRelevantFeatures / (kRelevantFeatures + distractors);
    result.eigenvectors.push_back({static_cast<Eigen::Index>(distractors), shares[at], random});
  }
  return result;
}

}  // namespace

const Operation agent_attention_operation =
    operation<AgentAttentionInput, JobOf<&agent_attention_result>>(
        "agent-attention",
        "Accuracy of policies that learn an expert's actions, with and without attention, over the "
        "number and scale of irrelevant features",
        "eigenscope agent-attention --distractors 0,16,64 --trainings 5 --csv", "rows");

}  // namespace eigenscope
