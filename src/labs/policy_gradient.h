// REINFORCE for one step (Williams, 1992): actions drawn from a policy, and by how much rewards exceed a baseline.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "nn/embedding.h"
#include "nn/tensor.h"

namespace eigenscope {

/// One action for each column of logits (actions x B), with the probabilities of its softmax. Column b has the draw
/// `first` + b of the stream.
template <class Scalar>
std::vector<TokenId> sampled_actions(const Matrix<Scalar>& logits, std::uint64_t seed,
                                     std::uint64_t stream, std::uint64_t first);

/// Each reward minus the mean of the others, of which there is one at least. The baseline does not depend on the
/// observation's own action, so that the mean of advantage times gradient of log p(action) is, in expectation, the
/// gradient of the mean reward.
template <class Scalar>
std::vector<Scalar> advantages_of(std::span<const Scalar> rewards);

}  // namespace eigenscope
