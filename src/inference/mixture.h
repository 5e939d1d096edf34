// Mixtures of experts: a router chooses for each token which MLPs run on it.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family.h"
#include "inference/layer.h"

namespace eigenscope {

/// How a router's scores become the weights of the experts, by config.json.
struct RouterRules {
  RouterScores scores = RouterScores::softmax;
  int chosen = 1;           ///< experts of a token
  bool normalized = false;  ///< the weights of the chosen ones add up to `factor`
  float factor = 1;
  /// Only experts of the `best_groups` groups with the largest scores, of `groups` that follow one another and are of
  /// one size, are chosen: by the largest score of a group, or where these are `corrected` by the sum of its two largest.
  int groups = 1, best_groups = 1;
  bool corrected = false;     ///< the router has a correction of the scores that choose
  bool scales_input = false;  ///< of an expert, in the place of its output
};

/// `corrected`: whether the file has the correction that the row names. Throws FormatError naming the key when a number
/// is missing or out of range, or where config.json has another function of the scores.
RouterRules router_rules(const RouterNames& names, const ConfigKeys& keys, bool corrected);

struct Router {
  RouterRules rules;
  Norm
      input_norm;  ///< before the scores, of the tokens that enter the MLP's norm; none: they are of the states
  Linear scores;               ///< experts x d
  Eigen::VectorXf correction;  ///< added to the scores that choose alone; empty for none
  Eigen::VectorXf scale;       ///< of the weight of each expert; empty for none
  bool shared = false;         ///< one more expert runs on every token
  Linear shared_gate;          ///< 1 x d: that one's weight is sigmoid(gate x), or 1 without a gate
};

/// The weight of each expert, that which runs on every token last, for each of the states that the scores are of (d x
/// T): experts x T, 0 for those that do not run.
Eigen::MatrixXf route(const Router& router, const Eigen::MatrixXf& states);

/// The columns of a row of route() that are not 0.
std::vector<Eigen::Index> tokens_of_expert(const Eigen::MatrixXf& weights, Eigen::Index expert);

}  // namespace eigenscope
