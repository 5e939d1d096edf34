// The random weights of a stack of attention blocks.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <vector>

#include "spectrum/ensemble.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kShear{
    "shear", reals(-1000, 1000), 8,
    "W_V = I + w S of the shear values, S the shift by one coordinate"};

/// W_V, d x d.
enum class ValueKind {
  identity,
  negative,    ///< minus the identity
  orthogonal,  ///< drawn uniformly (Haar)
  gaussian,    ///< independent N(0, 1/d)
  shear,       ///< I + w S, S the shift by one coordinate (Wu et al., 2024, have it with d = 2)
};
inline constexpr std::array kValueNames{
    Choice{"identity", "identity"}, Choice{"negative", "minus identity"},
    Choice{"orthogonal", "orthogonal"}, Choice{"gaussian", "Gaussian"}, Choice{"shear", "shear"}};

/// Distribution of the weights of every layer.
struct WeightSettings {
  EnsembleSettings ensemble;  ///< ensemble of W_QK; its width is d, its seed that of all draws
  Eigen::Index heads = 1;     ///< divides d; each has its W_QK and moves d/heads coordinates
  ValueKind values = ValueKind::orthogonal;
  double shear = 8;      ///< w, only for `shear`
  double mlp_ratio = 0;  ///< hidden width of the ReLU layer over d, 0 for none
  bool shared = false;   ///< the same weights in every layer, else fresh ones
};

/// The width d of an ensemble, which for a list of eigenvalues is its length.
Eigen::Index width_of(const EnsembleSettings& ensemble);

/// Throws InvalidArgument: "heads" (out of range, or no divisor of the width), "shear", "mlp_ratio", and what
/// the ensemble refuses.
void check_weights(const WeightSettings& settings);

/// Weights of a layer up to mean and variance of the eigenspectrum: W_QK = c C + s Z (Ensemble), so
/// that one draw serves every mean and variance.
struct LayerDraw {
  std::vector<Eigen::MatrixXd> centre;  ///< C, d x d a head; empty matrices mean the identity
  std::vector<Eigen::MatrixXd> spread;  ///< Z, d x d a head
  Eigen::MatrixXd value;                ///< W_V, d x d: head h moves its rows h d/H .. (h+1) d/H
  Eigen::MatrixXd up, down;             ///< hidden x d and d x hidden; empty without MLP

  /// W_QK of a head, d x d.
  Eigen::MatrixXd query_key(std::size_t head, const EnsembleWeights& weights) const;
};

/// The draw of layer `layer` (from 0) in sample number `sample`. A symmetric Z is turned by a random
/// rotation: the tokens in a stack are not isotropic, so that the orientation matters.
LayerDraw draw_layer(const WeightSettings& settings, Eigen::Index layer, std::uint64_t sample);

/// The draws of all layers of one sample, kept where they are small enough and drawn again where not.
class StackDraw {
 public:
  StackDraw(const WeightSettings& settings, std::uint64_t sample)
      : settings_(settings), sample_(sample) {}
  /// Valid until the next call.
  const LayerDraw& layer(Eigen::Index layer);

 private:
  WeightSettings settings_;
  std::uint64_t sample_;
  std::vector<LayerDraw> kept_;
  LayerDraw last_;
  Eigen::Index last_layer_ = -1;
};

}  // namespace eigenscope
