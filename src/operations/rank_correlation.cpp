// Spearman's rank correlation of two lists, such as a predicted and a measured number of each head.
#include <vector>

#include "operations/operations.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"

namespace eigenscope {
namespace {

struct RankCorrelationInput {
  std::vector<double> a, b;
};

void describe(InputFields& f, RankCorrelationInput& in) {
  f.numbers("a", "value", in.a, "one list");
  f.numbers("b", "value", in.b, "the other, of the same length");
}

struct RankCorrelationResult {
  double value = 0;
};

void describe(ResultFields& out, const RankCorrelationResult& result) {
  out.nullable("rank_correlation", result.value,
               "in [-1, 1]; null for fewer than two pairs, or where one list is constant");
}

RankCorrelationResult compute_rank_correlation(const RankCorrelationInput& in) {
  if (in.a.size() != in.b.size()) throw InvalidArgument("b", "it must be as long as a");
  const auto list = [](const std::vector<double>& values) {
    return Eigen::Map<const Eigen::VectorXd>(values.data(),
                                             static_cast<Eigen::Index>(values.size()));
  };
  return {rank_correlation(list(in.a), list(in.b))};
}

}  // namespace

const Operation rank_correlation_operation =
    operation<RankCorrelationInput, Instant<&compute_rank_correlation>>(
        "rank-correlation", "Spearman's rank correlation of two lists of numbers",
        "eigenscope rank-correlation --a 1,2,3,4 --b 2,1,4,8");

}  // namespace eigenscope
