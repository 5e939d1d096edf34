// The control beside LocAteR: the same pull and the same norm, but no mean eigenvalue.
#pragma once

#include <cstdint>
#include <vector>

#include "training/model.h"

namespace eigenscope {

/// tr(W R) of a head, W = W_Q W_K^T and R the head's random orthogonal matrix: a cyclic permutation of all
/// coordinates in random order, each with a random sign, so that the mean eigenvalue of R is 0 and its
/// eigenvalues lie evenly on the unit circle. As R is orthogonal, W R has the Frobenius norm of W.
template <class Scalar>
double random_trace(const Model<Scalar>& model, std::uint64_t seed, Eigen::Index layer,
                    Eigen::Index head);

/// The penalty sum over the heads on which the settings let it act of
/// c_mean (tr(W R)/d - m*)^2 + c_scale ||W||_F^2/d, with its gradient added to the model's:
/// LocAteR-Frobenius, which pulls W towards a multiple of R^T instead of the identity. 0 for other kinds
/// than locater_random.
template <class Scalar>
double add_random_locater(const RegularizerSettings& settings, const std::vector<double>& targets,
                          std::uint64_t seed, Model<Scalar>& model);

}  // namespace eigenscope
