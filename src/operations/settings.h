// Inputs that several operations have: an ensemble of W_QK, a token process, a mask.
#pragma once

#include <optional>
#include <vector>

#include "attention/mask.h"
#include "contract/input.h"
#include "contract/result.h"
#include "simulation/row_statistics.h"
#include "spectrum/ensemble.h"
#include "statistics/holm.h"
#include "statistics/permuted_correlation.h"
#include "support/vector_of.h"
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

/// An ensemble at one mean and variance, which a list of eigenvalues has of its own.
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
/// With a default length of the operation's own.
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

/// The moments, without variance_modulus, which needs the eigenvalues.
void describe(ResultFields& out, const SpectralMoments& moments);
/// regime and signal of a profile of rho, each name after `prefix`.
void describe_profile(ResultFields& out, Regime regime, Signal signal, const char* prefix = "");
/// localization, rho_mean, regime and signal of the theory, each name after `prefix`.
void describe_theory(ResultFields& out, const Propagation& theory, const char* prefix = "");
/// The same of sampled rows, with standard errors.
void describe_sampled(ResultFields& out, const RowEstimate& rows);
/// `name` and `name`_error.
void describe(ResultFields& out, const char* name, const Estimate& estimate, Help meaning);
/// The rank correlation of a property, such as the entropy of a head, with another quantity.
template <class Property>
struct PropertyCorrelation {
  Property property;
  PermutedCorrelation found;
  double p_holm;  ///< p by Holm's method over all properties
};
/// Those of all properties, in their order.
template <class Property, class Correlations>
std::vector<PropertyCorrelation<Property>> by_property(const Correlations& all) {
  std::vector<double> p;
  for (const PermutedCorrelation& found : all) p.push_back(found.p);
  const std::vector<double> corrected = holm(p);
  std::vector<PropertyCorrelation<Property>> list;
  for (const PermutedCorrelation& found : all) {
    list.push_back({static_cast<Property>(list.size()), found, corrected[list.size()]});
  }
  return list;
}
/// null_low, null_high and p, each name after `prefix`.
void describe_null(ResultFields& out, const PermutedCorrelation& found, const char* prefix = "");
/// The same of a property, with p_holm.
template <class Property>
void describe_null(ResultFields& out, const PropertyCorrelation<Property>& it) {
  describe_null(out, it.found);
  out.nullable("p_holm", it.p_holm, "p by Holm's method over all properties");
}
/// entropy, participation and sensitivity_localization with their errors, each name after `prefix`.
void describe_softmax(ResultFields& out, const RowEstimate& estimate, const char* prefix = "");

}  // namespace eigenscope
