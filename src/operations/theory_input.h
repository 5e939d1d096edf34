// Inputs of the theory and its simulations: an ensemble of W_QK, a token process, queries, a mask.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "attention/mask.h"
#include "contract/input.h"
#include "propagation/logit_law.h"
#include "spectrum/ensemble.h"
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
/// With a default length that differs between operations.
void describe(InputFields& f, TokensInput& in, double length);

/// query, all_queries: whose rows of attention are meant.
struct QueryInput {
  std::optional<Eigen::Index> query;
  bool all_queries = false;

  QueryRange range(const TokenProcess& process) const;
};
void describe(InputFields& f, QueryInput& in);

/// mask, window, blocks, prefix, selected.
void describe(InputFields& f, Mask& mask);

}  // namespace eigenscope
