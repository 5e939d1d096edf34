// A stack of attention blocks, and what becomes of tokens in it.
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
inline constexpr Parameter kSkip{.name = "skip",
                                 .symbol = "alpha",
                                 .minimum = 0,
                                 .maximum = 10,
                                 .default_value = 1,
                                 .meaning = "weight of the skip connection; 0 removes it"};

enum class NormPlace { none, pre, post };

inline constexpr std::array kNormPlaceNames{Name{"none", "none"}, Name{"pre", "before attention"},
                                            Name{"post", "after attention"}};
inline constexpr std::array kNormNames{Name{"layer-norm", "LayerNorm"},
                                       Name{"rms-norm", "RMSNorm"}};

struct StackSettings {
  WeightSettings weights;
  Eigen::Index depth = 12;
  double skip = 1;  ///< weight of the skip connection, 0 for none
  NormPlace place = NormPlace::pre;
  NormKind norm = NormKind::layer_norm;
  SoftmaxKind softmax = SoftmaxKind::exact;
  Mask mask{MaskKind::causal};
  double temperature = 8;
  TokenProcess tokens;
};

/// Throws InvalidArgument naming depth, skip, temperature, window, blocks, prefix, selected, or what
/// check_weights refuses.
void check_stack(const StackSettings& settings);

/// Tokens that enter the stack in sample number `sample`, d x T.
Eigen::MatrixXd stack_tokens(const StackSettings& settings, std::uint64_t sample);

/// What one layer did.
struct LayerTrace {
  Eigen::MatrixXd normalized;              ///< d x T: what attention read
  std::vector<Eigen::MatrixXd> attention;  ///< T x T a head, column = query
  Eigen::MatrixXd tokens;                  ///< d x T: the layer's output
};

/// One block: X <- skip X + sum over heads of their values' averages, then the MLP in the same way;
/// normalization before (pre) or after (post) each. `spectrum` scales the draw's C and Z.
LayerTrace run_layer(const StackSettings& settings, const LayerDraw& draw,
                     const EnsembleWeights& spectrum, const Eigen::MatrixXd& tokens);

}  // namespace eigenscope
