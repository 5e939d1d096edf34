// Inputs and results of the theory and its simulations: an ensemble of W_QK, a token process,
// queries, a mask; moments of W_QK, signal propagation, rows of attention.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/mask.h"
#include "contract/input.h"
#include "contract/result.h"
#include "propagation/logit_law.h"
#include "propagation/propagation.h"
#include "simulation/row_statistics.h"
#include "spectrum/ensemble.h"
#include "spectrum/traces.h"
#include "tokens/kernel.h"

namespace eigenscope {

/// ensemble, eigenvalues, width, head_width, seed.
struct EnsembleInput {
  EnsembleKind kind = EnsembleKind::normal;
  std::vector<double> eigenvalues;
  Eigen::Index width = 0, head_width = 0;
  std::uint64_t seed = 0;

  /// Throws InvalidArgument for eigenvalues of another ensemble than the list.
  EnsembleSettings settings() const;
};
void describe(InputFields& f, EnsembleInput& in);

/// An ensemble at one mean and variance; a list of eigenvalues determines both.
struct SpectrumInput {
  EnsembleInput ensemble;
  std::optional<double> mean, variance;

  SpectrumPoint point() const;
};
void describe(InputFields& f, SpectrumInput& in);

/// tokens, correlation, length.
struct TokensInput {
  TokenKind tokens = TokenKind::random_walk;
  double correlation = 0;
  Eigen::Index length = 0;

  TokenProcess process() const;
};
void describe(InputFields& f, TokensInput& in);
/// tokens, correlation, length with the default `length`.
void describe(InputFields& f, TokensInput& in, double length);

/// Fields query and all_queries, which select the rows of attention.
struct QueryInput {
  std::optional<Eigen::Index> query;
  bool all_queries = false;

  QueryRange range(const TokenProcess& process) const;
};
void describe(InputFields& f, QueryInput& in);

/// mask, window, blocks, prefix, selected.
void describe(InputFields& f, Mask& mask);

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
