// Results of the theory and its simulations: moments of W_QK, signal propagation, rows of attention.
#pragma once

#include "contract/result.h"
#include "propagation/propagation.h"
#include "simulation/row_statistics.h"
#include "spectrum/traces.h"

namespace eigenscope {

/// The moments, without variance_modulus, which needs the eigenvalues.
void describe(ResultFields& out, const SpectralMoments& moments);
/// Describes regime and signal of a profile of rho, each name after `prefix`.
void describe_profile(ResultFields& out, Regime regime, Signal signal, const char* prefix = "");
/// Describes localization, rho_mean, regime and signal of the theory, each name after `prefix`.
void describe_theory(ResultFields& out, const Propagation& theory, const char* prefix = "");
/// Describes the measures of sampled rows, with standard errors.
void describe_sampled(ResultFields& out, const RowEstimate& rows);
/// Describes entropy, participation and sensitivity_localization with their errors, each name after `prefix`.
void describe_softmax(ResultFields& out, const RowEstimate& estimate, const char* prefix = "");

}  // namespace eigenscope
