// A head's weights as the levels that know only these see them.
#pragma once

#include "inference/layer.h"
#include "prediction/levels.h"

namespace eigenscope {

/// The weights of a head, the gain of a norm before them folded in. A norm of queries or keys, which no linear map
/// expresses, is taken for the division by the root mean square that its inputs have for isotropic tokens, with
/// its gain folded in.
HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head);

}  // namespace eigenscope
