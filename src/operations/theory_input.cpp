#include "operations/theory_input.h"

#include "support/error.h"
#include "support/shared_parameters.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

constexpr Parameter kQuery{"query", integers(2, 2048), 48,
                           "position q of the query, with visible keys 1 to q; at most the length"};

}  // namespace

EnsembleSettings EnsembleInput::settings() const {
  if (kind != EnsembleKind::list && !eigenvalues.empty()) {
    throw InvalidArgument("eigenvalues", "be omitted without --ensemble list");
  }
  return {kind, width, head_width, seed, eigenvalues};
}

void describe(InputFields& f, EnsembleInput& in) {
  f.choice("ensemble", in.kind, kEnsembleNames, "ensemble of W_QK");
  f.numbers("eigenvalues", shared::kEigenvalue, in.eigenvalues,
            "eigenvalues of the ensemble 'list'; a given mean or variance rescales them");
  f.number(shared::kWidth, in.width);
  f.number(shared::kHeadWidth, in.head_width);
  f.number(shared::kSeed, in.seed);
  f.excludes("eigenvalues", "width");
}

SpectrumPoint SpectrumInput::point() const {
  const std::vector<double>& list = ensemble.eigenvalues;
  SpectrumPoint drawn{shared::kMean.default_value, shared::kVariance.default_value};
  if (!list.empty()) {
    const double centre = vector_of(list).mean();
    drawn = {centre, (vector_of(list).array() - centre).square().mean()};
  }
  return {mean.value_or(drawn.mean), variance.value_or(drawn.variance)};
}

void describe(InputFields& f, SpectrumInput& in) {
  describe(f, in.ensemble);
  f.number(shared::kMean, in.mean);
  f.number(shared::kVariance, in.variance);
}

TokenProcess TokensInput::process() const {
  return token_process(token_kernels()[static_cast<std::size_t>(tokens)], length, correlation);
}

void describe(InputFields& f, TokensInput& in) { describe(f, in, shared::kLength.default_value); }

void describe(InputFields& f, TokensInput& in, double length) {
  f.choice("tokens", in.tokens, token_kernels(), "token process");
  f.number(shared::kCorrelation, in.correlation);
  f.number_from(length, shared::kLength, in.length);
}

QueryRange QueryInput::range(const TokenProcess& process) const {
  if (all_queries) return causal_queries(process);
  return query ? QueryRange{*query, *query} : QueryRange{};
}

void describe(InputFields& f, QueryInput& in) {
  f.number_or("the last position", kQuery, in.query);
  f.flag("all_queries", in.all_queries, "average over the queries 2 to T, as in causal training");
  f.excludes("all_queries", "query");
}

void describe(InputFields& f, Mask& mask) {
  mask.kind = MaskKind::causal;
  f.choice("mask", mask.kind, kMaskNames, "mask: visible keys of a query");
  f.number(shared::kWindow, mask.window);
  f.number(shared::kBlocks, mask.blocks);
  f.number(shared::kPrefix, mask.prefix);
  f.number(shared::kSelected, mask.selected);
}

}  // namespace eigenscope
