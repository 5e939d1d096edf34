// Spearman's rank correlation of two lists, such as a predicted and a measured number of each head.
#include <vector>

#include "operations/operations.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"
#include "support/vector_of.h"

namespace eigenscope {
namespace {

constexpr Parameter kValue{"value", reals(-1e300, 1e300), 0, "number of a compared list"};

struct RankCorrelationInput {
  std::vector<double> a, b;
};

void describe(InputFields& f, RankCorrelationInput& in) {
  f.numbers("a", kValue, in.a, "first list of numbers");
  f.numbers("b", kValue, in.b, "second list, of the same length");
}

struct RankCorrelationResult {
  double value = 0;
};

void describe(ResultFields& out, const RankCorrelationResult& result) {
  out.nullable("rank_correlation", result.value,
               "in [-1, 1]; null for fewer than two pairs or a constant list");
}

RankCorrelationResult compute_rank_correlation(const RankCorrelationInput& in) {
  if (in.a.empty()) throw InvalidArgument("a", "have at least one number");
  if (in.a.size() != in.b.size()) throw InvalidArgument("b", "be as long as a");
  return {rank_correlation(vector_of(in.a), vector_of(in.b))};
}

}  // namespace

const Operation rank_correlation_operation =
    operation<RankCorrelationInput, OneShotJob<&compute_rank_correlation>>(
        "rank-correlation", "Spearman's rank correlation of two lists of numbers",
        "eigenscope rank-correlation --a 1,2,3,4 --b 2,1,4,8");

}  // namespace eigenscope
