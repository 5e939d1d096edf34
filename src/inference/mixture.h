// Mixtures of experts: a router chooses for each token which MLPs run on it.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "checkpoint/config_keys.h"
#include "checkpoint/family.h"
#include "inference/layer.h"

namespace eigenscope {

/// Rules by which the scores of a router become the weights of the experts, by config.json.
struct RouterRules {
  RouterScores scores = RouterScores::softmax;
  int chosen = 1;           ///< experts of a token
  bool normalized = false;  ///< the weights of the chosen ones add up to `factor`
  float factor = 1;
  /// Only experts of `best_groups` groups are chosen, out of `groups` consecutive groups of one size: those with the
  /// largest score of a group, or, where the scores are `corrected`, the largest sum of its two largest scores.
  int groups = 1, best_groups = 1;
  bool corrected = false;     ///< the router has a correction of the scores that choose
  bool scales_input = false;  ///< weights multiply the input of an expert instead of its output
};

/// `corrected`: whether the file has the correction that the row names. Throws FormatError naming the key when a number
/// is missing or out of range, or where config.json has another function of the scores.
RouterRules router_rules(const RouterNames& names, const ConfigKeys& keys, bool corrected);

/// A router with its weights in memory.
struct Router {
  RouterRules rules;
  /// Norm of the inputs of the scores, the tokens before the norm of the MLP. Without it the scores are of the states
  /// that the MLP reads.
  Norm input_norm;
  Linear scores;               ///< experts x d
  Eigen::VectorXf correction;  ///< added to the scores that choose alone; empty for none
  Eigen::VectorXf scale;       ///< factor of the weight of each expert; empty for none
  bool shared = false;         ///< one more expert runs on every token
  Linear shared_gate;  ///< 1 x d: that expert's weight is sigmoid(gate x), or 1 without a gate
};

/// Weights of the experts, experts x T: 0 for those that do not run, with the expert that runs on every token in the
/// last row. `states` (d x T) are the inputs of the scores.
Eigen::MatrixXf route(const Router& router, const Eigen::MatrixXf& states);

/// The columns of a row of route() that are not 0.
std::vector<Eigen::Index> tokens_of_expert(const Eigen::MatrixXf& weights, Eigen::Index expert);

}  // namespace eigenscope
