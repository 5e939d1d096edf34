#include "labs/agent_attention.h"

#include <algorithm>
#include <cmath>

#include "catch.h"
#include "central_differences.h"
#include "labs/feature_policy.h"
#include "support/error.h"

using namespace eigenscope;
using Eigen::Index;
using testing::gradient_error;

namespace {

AgentAttentionSettings agent_settings() {
  AgentAttentionSettings settings;
  settings.distractors = {0, 6};
  settings.demonstrations = 100;
  settings.trainings = 2;
  settings.steps = 20;
  settings.feature_width = 4;
  settings.seed = 3;
  return settings;
}

AgentAttention finished(const AgentAttentionSettings& settings, double work) {
  AgentAttention lab(settings);
  while (!lab.advance(work)) continue;
  CHECK(lab.progress() == 1);
  return lab;
}

const AgentAttentionRow& row_of(const std::vector<AgentAttentionRow>& rows, PolicyKind policy,
                                Index distractors, double scale) {
  for (const AgentAttentionRow& row : rows) {
    if (row.policy == policy && row.distractors == distractors && row.scale == scale) return row;
  }
  throw std::logic_error("no such row");
}

std::vector<PolicyKind> all_policies() {
  std::vector<PolicyKind> all;
  for (std::size_t i = 0; i < kPolicyNames.size(); ++i) all.push_back(static_cast<PolicyKind>(i));
  return all;
}

}  // namespace

TEST_CASE("the expert moves the paddle to where the ball lands") {
  const Demonstrations drawn = draw_demonstrations(400, 3, 2, 7, 1);
  std::array<int, kActions> counts{};
  int thrown_back = 0;
  for (Index n = 0; n < 400; ++n) {
    const Eigen::VectorXd seen = drawn.observations.col(n).cast<double>() / std::sqrt(3.0);
    // Small steps of the ball's way, which the walls turn around.
    double place = seen[0], velocity = seen[1];
    constexpr int kSteps = 2000;
    for (int step = 0; step < kSteps; ++step) {
      place += velocity * (seen[2] + 1) / 2 / kSteps;
      if (std::abs(place) <= 1) continue;
      velocity = -velocity;
      place = place > 0 ? 2 - place : -2 - place;
      ++thrown_back;
    }
    const double way = place - seen[3];
    const TokenId action = drawn.actions[static_cast<std::size_t>(n)];
    ++counts[static_cast<std::size_t>(action)];
    if (std::abs(std::abs(way) - 0.2) < 1e-5) continue;
    CHECK(action == (way > 0.2 ? 2 : way < -0.2 ? 0 : 1));
  }
  CHECK(thrown_back > 10);
  for (const int count : counts) CHECK(count > 20);
  const auto distractors = drawn.observations.bottomRows(3).cast<double>();
  CHECK(std::sqrt(distractors.squaredNorm() / 1200) == Approx(2).epsilon(0.1));
  const auto relevant = drawn.observations.topRows(kRelevantFeatures).cast<double>();
  CHECK(relevant.squaredNorm() / 1600 == Approx(1).epsilon(0.1));
}

TEST_CASE("fewer demonstrations and fewer distractors are part of more") {
  const Demonstrations more = draw_demonstrations(50, 3, 1, 7, 1);
  const Demonstrations fewer = draw_demonstrations(20, 3, 1, 7, 1);
  CHECK(fewer.observations == more.observations.leftCols(20));
  const Demonstrations none = draw_demonstrations(50, 0, 1, 7, 1);
  CHECK(none.observations == more.observations.topRows(kRelevantFeatures));
  CHECK(none.actions == more.actions);
  CHECK(draw_demonstrations(50, 0, 1, 7, 2).actions != none.actions);
}

TEST_CASE("the gradient of every policy agrees with central differences") {
  const Demonstrations drawn = draw_demonstrations(6, 3, 1, 2, 0);
  const Matrix<double> observations = drawn.observations.cast<double>();
  const PolicyShape shape{kRelevantFeatures + 3, kActions, 3, 5};
  for (const PolicyKind kind : all_policies()) {
    CAPTURE(static_cast<int>(kind));
    FeaturePolicy<double> policy(kind, shape, 11, 0);
    const std::vector<std::vector<double>> weights{{}, {0.5, -0.25, 1, 0, -1, 2}};
    for (const std::vector<double>& advantages : weights) {
      const auto loss = [&] {
        policy.forward(observations);
        return policy.backward(observations, drawn.actions, 0.01, advantages);
      };
      loss();
      CHECK(gradient_error(loss, policy.parameters(), policy.gradient()) < 1e-7);
    }
  }
}

TEST_CASE("the mean of REINFORCE's gradient over all actions is the gradient of the mean reward") {
  const Demonstrations drawn = draw_demonstrations(2, 3, 1, 2, 0);
  const Matrix<double> observations = drawn.observations.cast<double>();
  const PolicyShape shape{kRelevantFeatures + 3, kActions, 3, 5};
  for (const PolicyKind kind : {PolicyKind::attention, PolicyKind::plain}) {
    FeaturePolicy<double> policy(kind, shape, 11, 0);
    const auto shares = [&] {
      policy.forward(observations);
      const Matrix<double> likelihoods = policy.logits().array().exp();
      return Matrix<double>(likelihoods.array().rowwise() / likelihoods.colwise().sum().array());
    };
    const auto cost = [&] {
      const Matrix<double> all = shares();
      return -(all(drawn.actions[0], 0) + all(drawn.actions[1], 1)) / 2;
    };
    const Matrix<double> probabilities = shares();
    Vector<double> mean = Vector<double>::Zero(policy.parameters().size());
    for (TokenId first = 0; first < kActions; ++first) {
      for (TokenId second = 0; second < kActions; ++second) {
        const std::vector<TokenId> actions{first, second};
        const std::vector<double> rewards{first == drawn.actions[0] ? 1.0 : 0.0,
                                          second == drawn.actions[1] ? 1.0 : 0.0};
        policy.forward(observations);
        policy.backward(observations, actions, 0, advantages_of<double>(rewards));
        mean += probabilities(first, 0) * probabilities(second, 1) * policy.gradient();
      }
    }
    CHECK(gradient_error(cost, policy.parameters(), mean) < 1e-7);
  }
}

TEST_CASE("actions are drawn with the probabilities of the policy") {
  constexpr Index kDraws = 20000;
  const Vector<double> shares = Eigen::Vector3d(0.2, 0.5, 0.3);
  const Matrix<double> logits = (shares.array().log() + 4).matrix().replicate(1, kDraws);
  const std::vector<TokenId> actions = sampled_actions(logits, 3, 1, 0);
  for (Index action = 0; action < kActions; ++action) {
    const auto count = static_cast<double>(std::count(actions.begin(), actions.end(), action));
    CHECK(count / kDraws == Approx(shares[action]).margin(0.015));
  }
  const Matrix<double> later = logits.rightCols(kDraws - 7);
  CHECK(std::equal(actions.begin() + 7, actions.end(), sampled_actions(later, 3, 1, 7).begin()));
}

TEST_CASE("the order of tokens is immaterial, that of a perceptron's features is not") {
  const PolicyShape shape{7, kActions, 3, 5};
  const Matrix<double> observations =
      draw_demonstrations(4, 3, 1, 2, 0).observations.cast<double>();
  const Matrix<double> reversed = observations.colwise().reverse();
  for (const PolicyKind kind : all_policies()) {
    FeaturePolicy<double> policy(kind, shape, 5, 0);
    policy.forward(observations);
    const Matrix<double> logits = policy.logits();
    if (has_tokens(kind)) {
      // u, and behind it p of attention or the bias of uniform weights
      for (const Index first :
           kind == PolicyKind::attention ? std::vector<Index>{0, 21} : std::vector<Index>{0}) {
        Eigen::Map<Matrix<double>> vectors(policy.parameters().data() + first, 3, 7);
        vectors = vectors.rowwise().reverse().eval();
      }
    }
    policy.forward(reversed);
    CHECK(policy.logits().isApprox(logits) == has_tokens(kind));
  }
}

TEST_CASE("shuffled slots are a uniform permutation of each observation") {
  constexpr Index kFeatures = 5, kCount = 5000;
  Matrix<float> slots(kFeatures, kCount);
  for (Index i = 0; i < kFeatures; ++i) slots.row(i).setConstant(static_cast<float>(i));
  shuffle_slots(slots, 3, 1);
  Matrix<double> counts = Matrix<double>::Zero(kFeatures, kFeatures);
  for (Index n = 0; n < kCount; ++n) {
    for (Index i = 0; i < kFeatures; ++i) counts(i, static_cast<Index>(slots(i, n))) += 1;
  }
  CHECK((counts.colwise().sum().array() == double{kCount}).all());
  CHECK((counts / kCount).isApproxToConstant(0.2, 0.15));
}

TEST_CASE("shuffled slots change only policies without tokens") {
  AgentAttentionSettings settings = agent_settings();
  const std::vector<AgentAttentionRow> fixed = finished(settings, 1e12).rows();
  settings.slots = AgentSlots::shuffled;
  const std::vector<AgentAttentionRow> shuffled = finished(settings, 1e12).rows();
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    CHECK((fixed[i].accuracy.value == shuffled[i].accuracy.value) == has_tokens(fixed[i].policy));
  }
}

TEST_CASE("tokens learn from rewards what a perceptron does not learn from shuffled slots",
          "[long]") {
  AgentAttentionSettings settings = agent_settings();
  settings.distractors = {8};
  settings.demonstrations = 1000;
  settings.steps = 600;
  settings.feature_width = 8;
  settings.learning = AgentLearning::policy_gradient;
  settings.slots = AgentSlots::shuffled;
  const AgentAttention lab = finished(settings, 1e9);
  const auto accuracy = [rows = lab.rows()](PolicyKind policy) {
    return row_of(rows, policy, 8, 1).accuracy.value;
  };
  CHECK(accuracy(PolicyKind::attention) > lab.most_frequent().value + 0.2);
  CHECK(accuracy(PolicyKind::uniform) > lab.most_frequent().value + 0.2);
  CHECK(accuracy(PolicyKind::plain) < lab.most_frequent().value + 0.1);
}

TEST_CASE("policies have about as many parameters as self-attention") {
  for (const Index features : {4, 20, 68}) {
    const PolicyShape shape{features, kActions, 8, 32};
    const auto count = [&](PolicyKind kind) {
      return static_cast<double>(FeaturePolicy<float>(kind, shape, 1, 0).parameters().size());
    };
    const double attention = count(PolicyKind::attention);
    CHECK(attention == static_cast<double>(16 * features + 3 * 64 + 32 * 8 + 32 + 32 * 3 + 3));
    for (const PolicyKind kind : all_policies()) {
      CHECK(std::abs(count(kind) - attention) <= static_cast<double>(features + 4) / 2);
    }
  }
}

TEST_CASE("self-attention whose queries are 0 is that with uniform weights") {
  const PolicyShape shape{7, kActions, 3, 5};
  const Matrix<double> observations =
      draw_demonstrations(4, 3, 1, 2, 0).observations.cast<double>();
  FeaturePolicy<double> attention(PolicyKind::attention, shape, 5, 0);
  attention.forward(observations);
  CHECK(attention.feature_shares().sum() == Approx(1));
  CHECK(attention.feature_shares().maxCoeff() > 1.05 / 7);
  // W_Q lies behind u and p, 3 x 7 each; the rows of W_Q, W_K and W_V alternate in the columns of a 9 x 3 matrix.
  Eigen::Map<Matrix<double>> maps(attention.parameters().data() + 42, 9, 3);
  CHECK(attention.feature_logits().isApprox(
      Eigen::Map<const Matrix<double>>(attention.parameters().data(), 3, 7).transpose() *
      maps.topRows(3).transpose() * maps.middleRows(3, 3) *
      Eigen::Map<const Matrix<double>>(attention.parameters().data(), 3, 7) / std::sqrt(3.0)));
  maps.topRows(3).setZero();
  attention.forward(observations);
  CHECK(attention.feature_shares().isApproxToConstant(1.0 / 7));
  // Uniform weights have 36 parameters less before the hidden layer, whose units have 7 each.
  CHECK(shape.hidden_of(PolicyKind::uniform) == 10);
  PolicyShape same = shape;
  same.hidden = 0;
  REQUIRE(same.hidden_of(PolicyKind::uniform) == 5);
  FeaturePolicy<double> uniform(PolicyKind::uniform, same, 5, 0);
  Vector<double>& to = uniform.parameters();
  const Vector<double>& from = attention.parameters();
  to.head(21) = from.head(21);
  to.segment(21, 3) = Eigen::Map<const Matrix<double>>(from.data() + 21, 3, 7).rowwise().sum();
  Eigen::Map<Matrix<double>>(to.data() + 24, 3, 3) = maps.bottomRows(3);
  to.tail(to.size() - 33) = from.tail(from.size() - 69);
  uniform.forward(observations);
  CHECK(uniform.logits().isApprox(attention.logits()));
}

TEST_CASE(
    "an L1 penalty ignores distractors better than attention, which fails when they grow louder",
    "[long]") {
  AgentAttentionSettings settings = agent_settings();
  settings.distractors = {32};
  settings.demonstrations = 1000;
  settings.steps = 600;
  settings.feature_width = 16;
  const AgentAttention lab = finished(settings, 1e9);
  const std::vector<AgentAttentionRow> rows = lab.rows();
  const auto accuracy = [&](PolicyKind policy, double scale) {
    return row_of(rows, policy, 32, scale).accuracy.value;
  };
  CHECK(accuracy(PolicyKind::sparse, 1) > accuracy(PolicyKind::attention, 1) + 0.01);
  CHECK(accuracy(PolicyKind::attention, 3) < accuracy(PolicyKind::plain, 3) - 0.05);
  CHECK(accuracy(PolicyKind::plain, 1) > lab.most_frequent().value + 0.2);
  CHECK(lab.eigenvector_shares()[0].value > 2.0 * kRelevantFeatures / 36);
  CHECK(row_of(rows, PolicyKind::sparse, 32, 1).relevant_share.value > 0.8);
  for (const AgentAttentionRow& row : rows) {
    const double plain = accuracy(PolicyKind::plain, row.scale);
    CHECK(row.gain.value == Approx(row.accuracy.value - plain).margin(1e-12));
  }
}

TEST_CASE("small steps of the agents' job change no number, and rows come one by one") {
  const AgentAttention all = finished(agent_settings(), 1e12);
  const AgentAttention stepped = finished(agent_settings(), 1);
  for (std::size_t i = 0; i < all.rows().size(); ++i) {
    CHECK(stepped.rows()[i].accuracy.value == all.rows()[i].accuracy.value);
    CHECK(stepped.rows()[i].relevant_share.error == all.rows()[i].relevant_share.error);
    CHECK(all.rows()[i].trainings == 2);
  }
  CHECK(stepped.eigenvector_shares()[1].value == all.eigenvector_shares()[1].value);
  // Without distractors all directions are relevant.
  CHECK(all.eigenvector_shares()[0].value == Approx(1));
  AgentAttention lab(agent_settings());
  while (lab.rows().front().trainings == 0) lab.advance(1);
  CHECK(std::isnan(row_of(lab.rows(), PolicyKind::plain, 0, 1).accuracy.value));
  CHECK(std::isnan(lab.rows().front().gain.value));
  CHECK(std::isnan(lab.eigenvector_shares()[1].value));
}

TEST_CASE("distractors must ascend") {
  AgentAttentionSettings settings = agent_settings();
  settings.distractors = {4, 4};
  CHECK_THROWS_AS(AgentAttention(settings), InvalidArgument);
  settings.distractors = {};
  CHECK_THROWS_AS(AgentAttention(settings), InvalidArgument);
}
