// Rank collapse and entropy collapse over the depth of a stack, by Monte Carlo.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "collapse/stack.h"
#include "statistics/estimate.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kStacks{
    "stacks", integers(1, 100000), 8,
    "number of sampled stacks, each with its own tokens and weights"};
inline constexpr Parameter kFirstStack{"first_stack", integers(0, 1e9), 0,
                                       "index of the first sampled stack"};

/// The measures of each layer, in the order of `kLayerMeasures`. Entropies and what follows
/// them are of the layer's attention, over the keys that the mask lets a query see; queries that see
/// one key have none and are left out.
enum class LayerMeasure {
  residual,         ///< ||X - mean 1^T||_F / ||X||_F of the layer's output: 0 is rank collapse
  stable_rank,      ///< ||X||_F^2 / ||X||_2^2
  effective_rank,   ///< exp of the entropy of the normalized singular values
  cosine,           ///< mean cosine of pairs of tokens
  entropy,          ///< entropy over the log of the visible keys: mean over queries and heads
  entropy_minimum,  ///< minimum of that entropy over queries and heads; 0 is entropy collapse
  entropy_bound,  ///< lower bound of `entropy` that ||W||_F and the tokens imply: entropy_lower_bound
                  ///< at ||W||_F ||x_q|| ||X - mean 1^T||_2 / lambda, since softmax does not see a
                  ///< shift; only for the exact softmax over all visible keys
  entropy_final,  ///< `entropy` of the queries of the sequence's last block (mask `blocks`), or of
                  ///< as many last queries with another mask
  participation,  ///< 1/(n sum p^2) over the n visible keys: mean over queries and heads
  localization,  ///< localization index of p(1-p) over the visible keys: mean over queries and heads
};
inline constexpr std::array kLayerMeasures{
    Choice{"residual", "||X - mean 1^T||_F / ||X||_F of the layer's output; 0 is rank collapse"},
    Choice{"stable_rank", "||X||_F^2 / ||X||_2^2 of the layer's output"},
    Choice{"effective_rank", "exp of the entropy of the output's normalized singular values"},
    Choice{"cosine", "mean cosine of pairs of tokens of the output"},
    Choice{"entropy",
           "attention entropy over the log of the visible keys, mean over queries and heads"},
    Choice{"entropy_minimum",
           "minimum attention entropy over queries and heads; 0 is entropy collapse"},
    Choice{"entropy_bound",
           "lower bound of the attention entropy from the norms of W and of the tokens"},
    Choice{
        "entropy_final",
        "mean attention entropy of the queries of the last block, or of equally many last queries"},
    Choice{"participation", "1/(n sum p^2) over the n visible keys, mean over queries and heads"},
    Choice{"localization",
           "localization index of p(1-p) over the visible keys, mean over queries"}};

/// Measured layers.
enum class MeasuredLayers {
  all,   ///< the input as layer 0, then every layer
  last,  ///< the output of the stack alone
};
inline constexpr std::array kMeasuredLayersNames{Choice{"all", "input and every layer"},
                                                 Choice{"last", "last layer"}};

/// Range of the numbered stacks of a seed; several workers run a part each.
struct StackRange {
  Eigen::Index count = 8;
  Eigen::Index first = 0;
};

/// Stacks at several points of the plane of eigenspectra, as a job that advances layer by layer: sample
/// by sample, in each point by point. Tokens and weights of each sample are drawn afresh, the same for
/// all points, so that neighbours differ by their spectrum alone (and have correlated errors).
class Collapse {
 public:
  /// Throws InvalidArgument as check_stack does, and for a range ("stacks", "first"), mean or variance
  /// out of range. A variance that the ensemble cannot have at its mean makes that point refused.
  Collapse(const StackSettings& settings, std::vector<SpectrumPoint> points, StackRange stacks,
           MeasuredLayers measured = MeasuredLayers::all);

  /// Runs up to `layers` more layers; true when all layers of all points and samples are done.
  bool advance(Eigen::Index layers);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const;
  /// About how many multiply-adds one layer costs.
  double work_per_step() const;

  const StackSettings& settings() const { return settings_; }
  const std::vector<SpectrumPoint>& points() const { return points_; }
  /// Layers that are measured: depth + 1, or 1.
  Eigen::Index rows() const { return rows_; }
  /// The layer of a row.
  Eigen::Index layer_of(Eigen::Index row) const { return settings_.depth + 1 - rows_ + row; }

  /// Mean and standard error over the samples in which the layer is finite; layer 0 is the input,
  /// which has no attention. NaN where there are none, the error also with one sample. A stack
  /// without normalization can overflow in its depth: its later layers are then NaN.
  Estimate estimate(std::size_t point, Eigen::Index row, LayerMeasure measure) const;
  /// Samples whose layer is measured, and finite.
  Eigen::Index samples(std::size_t point, Eigen::Index row) const;
  /// First layer whose tokens (or logits, which grow as their square) overflowed; 0 when none did.
  Eigen::Index overflow_layer(std::size_t point) const { return states_[point].overflow; }
  /// Why a point has no values, or "".
  const std::string& refused(std::size_t point) const { return states_[point].refused; }

 private:
  struct PointState {
    std::string refused;
    EnsembleWeights spectrum;
    Eigen::Index overflow = 0;
    std::vector<std::array<MeanSums, kLayerMeasures.size()>> rows;
  };

  void measure_inputs();
  void step();
  void run_layer_of(PointState& state, Eigen::Index layer);
  void add(PointState& state, Eigen::Index layer, LayerMeasure measure, double value) const;
  void add_geometry(PointState& state, Eigen::Index layer) const;
  void add_attention(PointState& state, Eigen::Index layer, const LayerDraw& draw,
                     const LayerTrace& trace) const;

  StackSettings settings_;
  std::vector<SpectrumPoint> points_;
  StackRange stacks_;
  Eigen::Index rows_;
  std::vector<PointState> states_;
  Eigen::Index done_ = 0;
  std::optional<StackDraw> draw_;  // draw of the present sample
  std::uint64_t draw_sample_ = 0;
  Eigen::MatrixXd tokens_;  // tokens of the present stack
};

}  // namespace eigenscope
