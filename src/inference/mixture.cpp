#include "inference/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "io/json_events.h"
#include "nn/activation.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr std::uint64_t kMostExperts = 1 << 16;
constexpr double kLargestFactor = 1e6;
constexpr float kLeast = -std::numeric_limits<float>::infinity();

/// Puts the scores of all but the best groups below every other one.
void keep_best_groups(const RouterRules& rules, VectorXf& scores) {
  const Index size = scores.size() / rules.groups;
  VectorXf best(rules.groups);
  for (Index group = 0; group < rules.groups; ++group) {
    float first = kLeast, second = kLeast;
    for (Index i = group * size; i < (group + 1) * size; ++i) {
      second = std::max(second, std::min(first, scores[i]));
      first = std::max(first, scores[i]);
    }
    best[group] = first + (rules.corrected && size > 1 ? second : 0);
  }
  for (int left = rules.groups; left > rules.best_groups; --left) {
    Index worst = 0;
    best.minCoeff(&worst);
    best[worst] = -kLeast;
    scores.segment(worst * size, size).setConstant(kLeast);
  }
}

/// Replaces the scores of a token's experts by their weights.
void weigh(const Router& router, Eigen::Ref<VectorXf> scores) {
  const RouterRules& rules = router.rules;
  const float largest = scores.maxCoeff();
  for (float& score : scores) {
    score = rules.scores == RouterScores::sigmoid ? sigmoid(score) : std::exp(score - largest);
  }
  if (rules.scores == RouterScores::softmax) scores /= scores.sum();
  VectorXf choosing = scores;
  if (router.correction.size() > 0) choosing += router.correction;
  keep_best_groups(rules, choosing);
  float sum = 0;
  for (int k = 0; k < rules.chosen; ++k) {
    Index best = 0;
    choosing.maxCoeff(&best);
    choosing[best] = kLeast;
    sum += scores[best];
    scores[best] = -scores[best];  // which marks it, as none is negative
  }
  const float factor = rules.factor / (rules.normalized ? sum : 1);
  for (float& score : scores) score = std::max(0.0F, -score) * factor;
  for (Index i = 0; i < router.scale.size(); ++i) scores[i] *= router.scale[i];
}

}  // namespace

RouterRules router_rules(const RouterNames& names, const ConfigKeys& keys, bool corrected) {
  const bool is_softmax =
      names.scores == RouterScores::softmax || (names.optional_correction && !corrected);
  const std::string scores = is_softmax ? "softmax" : "sigmoid";
  // The name of DeepSeek V3's way to choose, by corrected sigmoids, is also that of the scores (dots.llm1).
  const auto told = keys.text("scoring_func");
  if (told && *told != scores && (is_softmax || *told != "noaux_tc")) {
    throw FormatError("scoring_func", "it must be " + scores + " for this router: found '" +
                                          shown_name(*told) + "' in " + keys.name());
  }
  const auto count = [&](std::string_view key) {
    return static_cast<int>(keys.integer(key, kMostExperts).value_or(1));
  };
  // Defaults differ between model types of one row.
  for (const std::string_view key :
       {names.chosen_key, names.factor_key, corrected ? names.groups_key : "",
        corrected ? names.best_groups_key : ""}) {
    if (key.empty() || keys.has(key)) continue;
    throw FormatError(keys.name(), "it has no '" + std::string(key) + "'");
  }
  // A router that has neither would give other weights.
  for (const auto& [key, family_key] : {std::pair("routed_scaling_factor", names.factor_key),
                                        std::pair("n_group", names.groups_key)}) {
    if (!family_key.empty() || keys.number(key, 0, kLargestFactor).value_or(1) == 1) continue;
    throw FormatError(key, "it must be 1 or left out in " + keys.name() +
                               " for this router, which does not implement another value");
  }
  // The sum of a token's weights is not below it in ERNIE 4.5.
  if (keys.number("moe_norm_min", 0, 1).value_or(0) > 1e-6) {
    throw FormatError("moe_norm_min", "it must be at most 1e-6 in " + keys.name());
  }
  RouterRules rules;
  rules.scores = is_softmax ? RouterScores::softmax : RouterScores::sigmoid;
  rules.chosen = count(names.chosen_key);
  rules.corrected = corrected;
  rules.scales_input = names.scales_input;
  rules.normalized = keys.flag(names.normalized_key)
                         .value_or(names.normalized && (corrected || !names.optional_correction));
  if (rules.normalized && names.optional_correction && !corrected) {
    // The original code then leaves out the factor, that of Hugging Face the sum.
    throw FormatError(std::string(names.normalized_key),
                      "it must be false in " + keys.name() + " for a router without correction");
  }
  rules.factor = static_cast<float>(keys.number(names.factor_key, 0, kLargestFactor).value_or(1));
  const auto method = keys.text("topk_method");
  if (method == "greedy" && corrected) {
    throw FormatError("topk_method", "it must not be greedy in " + keys.name() +
                                         " for a router with a correction, which has groups");
  }
  const bool plain = !method && names.optional_correction && !corrected;  // DeepSeek V2's default
  if (plain || method == "greedy") return rules;
  rules.groups = count(names.groups_key);
  rules.best_groups = count(names.best_groups_key);
  return rules;
}

MatrixXf route(const Router& router, const MatrixXf& states) {
  MatrixXf weights = router.scores(states);
  for (Index t = 0; t < states.cols(); ++t) weigh(router, weights.col(t));
  if (!router.shared) return weights;
  weights.conservativeResize(weights.rows() + 1, Eigen::NoChange);
  weights.bottomRows(1).setOnes();
  if (router.shared_gate.weight.size() > 0) {
    weights.bottomRows(1) =
        router.shared_gate(states).unaryExpr([](float score) { return sigmoid(score); });
  }
  return weights;
}

std::vector<Index> tokens_of_expert(const MatrixXf& weights, Index expert) {
  std::vector<Index> tokens;
  for (Index t = 0; t < weights.cols(); ++t) {
    if (weights(expert, t) != 0) tokens.push_back(t);
  }
  return tokens;
}

}  // namespace eigenscope
