// A stack of attention blocks with random weights, and what becomes of tokens in it.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/attention.h"
#include "spectrum/ensemble.h"
#include "tokens/kernel.h"

namespace eigenscope {

enum class ValueKind { identity, orthogonal, gaussian };
enum class NormPlace { none, pre, post };
enum class NormKind { layer_norm, rms_norm };

/// Throw InvalidArgument ("values", "layer_norm", "norm") that list the names: identity, orthogonal,
/// gaussian; none, pre, post; layer-norm, rms-norm.
ValueKind values_of_name(std::string_view name);
NormPlace norm_place_of_name(std::string_view name);
NormKind norm_of_name(std::string_view name);

struct StackSettings {
  Eigen::Index depth = 12;
  Eigen::Index heads =
      1;  ///< must divide the width; each reads a W_QK of its own and moves d/heads values
  EnsembleSettings ensemble;  ///< of W_QK; its width is d, its seed the seed of everything
  double mean = 0.25;
  double variance = 0.1;
  bool shared = false;  ///< the same weights in every layer, else fresh ones
  ValueKind values = ValueKind::orthogonal;
  double skip = 1;  ///< weight of the skip connection, 0 for none
  NormPlace place = NormPlace::pre;
  NormKind norm = NormKind::layer_norm;
  SoftmaxKind softmax = SoftmaxKind::exact;
  Mask mask{MaskKind::causal};
  double mlp = 0;  ///< hidden width of a ReLU layer over d, 0 for none
  double temperature = 8;
  TokenProcess tokens;
};

/// The weights of one layer.
struct LayerWeights {
  std::vector<Eigen::MatrixXd> query_key;  ///< d x d a head
  Eigen::MatrixXd value;                   ///< d x d; head h moves its rows h d/H .. (h+1) d/H
  Eigen::MatrixXd up, down;                ///< hidden x d and d x hidden; empty without MLP
};

/// What one layer did.
struct LayerTrace {
  Eigen::MatrixXd normalized;              ///< d x T: what attention read
  std::vector<Eigen::MatrixXd> attention;  ///< T x T a head, row = query
  Eigen::MatrixXd tokens;                  ///< d x T: the layer's output
};

/// Throws InvalidArgument naming depth, heads, skip, mlp, window, blocks, temperature, or what the
/// ensemble and the mean and variance refuse.
void check_stack(const StackSettings& settings);

/// Tokens that enter the stack in sample number `sample`, d x T.
Eigen::MatrixXd stack_tokens(const StackSettings& settings, std::uint64_t sample);

/// The weights of layer `layer` (from 0) in sample number `sample`. Symmetric W_QK are turned by a
/// random rotation of their own: inside a stack the tokens are not isotropic, so that the
/// orientation matters.
LayerWeights draw_layer(const StackSettings& settings, Eigen::Index layer, std::uint64_t sample);

/// One block: X <- skip X + sum over heads of their values' averages, then the MLP in the same way;
/// normalization before (pre) or after (post) each. Weights of 0 size are left out.
LayerTrace run_layer(const StackSettings& settings, const LayerWeights& weights,
                     const Eigen::MatrixXd& tokens);

/// Each token with its mean removed (layer_norm) and divided by its standard deviation, or root mean
/// square (rms_norm). A token of zero length stays zero.
Eigen::MatrixXd normalized(const Eigen::MatrixXd& tokens, NormKind kind);

}  // namespace eigenscope
