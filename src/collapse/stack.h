// A stack of attention blocks, and one sampled stack layer by layer.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "attention/attention.h"
#include "collapse/weights.h"
#include "nn/norm.h"
#include "support/parameter.h"
#include "tokens/kernel.h"

namespace eigenscope {

/// Weight of the skip connection.
inline constexpr Parameter kResidualWeight{"residual_weight", reals(0, 10), 1,
                                           "weight of the skip connection; 0 removes it"};

enum class NormPlace { none, pre, post };

inline constexpr std::array kNormPlaceNames{
    Choice{"none", "none"}, Choice{"pre", "before attention"}, Choice{"post", "after attention"}};
inline constexpr std::array kNormNames{Choice{"layer-norm", "LayerNorm"},
                                       Choice{"rms-norm", "RMSNorm"}};

struct StackSettings {
  WeightSettings weights;
  Eigen::Index depth = 12;
  double residual_weight = 1;  ///< weight of the skip connection, 0 for none
  NormPlace place = NormPlace::pre;
  NormKind norm = NormKind::layer_norm;
  SoftmaxKind softmax = SoftmaxKind::exact;
  Mask mask{MaskKind::causal};
  double temperature = 8;
  TokenProcess tokens;
};

/// Throws InvalidArgument naming depth, residual_weight, temperature, window, blocks, prefix, selected, or what
/// check_weights refuses.
void check_stack(const StackSettings& settings);

/// Tokens that enter the stack in sample number `sample`, d x T.
Eigen::MatrixXd stack_tokens(const StackSettings& settings, std::uint64_t sample);

/// The states and attention of one layer.
struct LayerTrace {
  Eigen::MatrixXd normalized;              ///< d x T: input of attention
  std::vector<Eigen::MatrixXd> attention;  ///< T x T a head, column = query
  Eigen::MatrixXd tokens;                  ///< d x T: the layer's output
};

/// Runs one block: X <- residual_weight X + sum over heads of their values' averages, then the MLP in the same way;
/// normalization before (pre) or after (post) each. `spectrum` scales the draw's C and Z.
LayerTrace run_layer(const StackSettings& settings, const LayerDraw& draw,
                     const EnsembleWeights& spectrum, const Eigen::MatrixXd& tokens);

/// The tokens of sample 0 of a stack at one mean and variance of the eigenspectrum: those of Collapse.
class StackRun {
 public:
  /// `layers` are run, 0 for the input alone. Throws InvalidArgument as check_stack and Ensemble::weights do, and
  /// ("layer") above the depth.
  StackRun(const StackSettings& settings, const SpectrumPoint& point, Eigen::Index layers);

  /// Runs up to `layers` more layers; true when all are done.
  bool advance(Eigen::Index layers = 1);
  Eigen::Index steps_done() const { return done_; }
  Eigen::Index steps_wanted() const { return wanted_; }
  /// The output of the last layer that was run, d x T.
  const Eigen::MatrixXd& tokens() const { return trace_.tokens; }
  /// The attention of that layer, T x T a head, column = query; no head before the first layer.
  const std::vector<Eigen::MatrixXd>& attention() const { return trace_.attention; }

 private:
  StackSettings settings_;
  Eigen::Index wanted_, done_ = 0;
  StackDraw draw_;
  EnsembleWeights spectrum_;
  LayerTrace trace_;
};

}  // namespace eigenscope
