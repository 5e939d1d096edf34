// Rank collapse and entropy collapse over the depth of a stack, by Monte Carlo.
#pragma once

#include <Eigen/Core>
#include <array>
#include <string_view>
#include <vector>

#include "collapse/stack.h"
#include "simulation/row_statistics.h"

namespace eigenscope {

/// What is measured after each layer, in the order of `kLayerMeasures`.
enum class LayerMeasure {
  residual,         ///< ||X - mean 1^T||_F / ||X||_F of the layer's output: 0 is rank collapse
  stable_rank,      ///< ||X||_F^2 / ||X||_2^2
  effective_rank,   ///< exp of the entropy of the normalized singular values
  cosine,           ///< mean cosine of pairs of tokens
  entropy,          ///< row entropy over the log of the visible keys: mean over rows and heads
  entropy_minimum,  ///< the same: minimum over rows and heads; 0 is entropy collapse
  entropy_bound,    ///< lower bound of `entropy` that the spectrum and the tokens' norms imply
  participation,    ///< 1/(n sum p^2) over the n visible keys: mean over rows and heads
  localization,  ///< localization index of p(1-p) over the visible keys: mean over rows and heads
};
inline constexpr std::array<std::string_view, 9> kLayerMeasures{
    "residual",        "stable_rank",   "effective_rank", "cosine",      "entropy",
    "entropy_minimum", "entropy_bound", "participation",  "localization"};

/// A job that advances layer by layer and sample by sample; tokens and weights of each sample are
/// drawn afresh.
class Collapse {
 public:
  /// Throws InvalidArgument as check_stack does, and for `samples`.
  Collapse(const StackSettings& settings, Eigen::Index samples);

  /// Runs up to `layers` more layers; true when all layers of all samples are done.
  bool advance(Eigen::Index layers);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const { return samples_ * settings_.depth; }
  /// About how many multiply-adds one layer costs.
  double work_per_step() const;

  const StackSettings& settings() const { return settings_; }
  /// Mean and standard error over the samples of which layer `layer` is finite; layer 0 is the input,
  /// which has no attention. NaN where there are none, the error also with one sample. A stack
  /// without normalization can overflow in its depth: its later layers are then NaN.
  Estimate estimate(Eigen::Index layer, LayerMeasure measure) const;
  /// Samples behind that estimate.
  Eigen::Index count(Eigen::Index layer, LayerMeasure measure) const;
  /// First layer whose tokens (or logits, which grow as their square) overflowed; 0 when none did.
  Eigen::Index overflow_layer() const { return overflow_layer_; }
  /// Cosines of all pairs of tokens of sample 0 after `layer`, T x T; empty before it is reached.
  const Eigen::MatrixXd& cosines(Eigen::Index layer) const {
    return cosines_[static_cast<std::size_t>(layer)];
  }

 private:
  struct Sums {
    double count = 0, sum = 0, square = 0;
  };

  void start_sample();
  void step();
  void add(Eigen::Index layer, LayerMeasure measure, double value);
  void add_geometry(Eigen::Index layer);
  void add_attention(Eigen::Index layer, const LayerWeights& weights, const LayerTrace& trace);

  StackSettings settings_;
  Eigen::Index samples_, done_ = 0, overflow_layer_ = 0;
  Eigen::MatrixXd tokens_;
  std::vector<std::array<Sums, kLayerMeasures.size()>> sums_;  // a layer
  std::vector<Eigen::MatrixXd> cosines_;                       // a layer
};

}  // namespace eigenscope
