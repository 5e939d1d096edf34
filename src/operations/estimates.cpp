#include "operations/estimates.h"

#include <string>

namespace eigenscope {

void describe(ResultFields& out, const char* name, const Estimate& estimate, Help meaning) {
  out.nullable(name, estimate.value, meaning);
  out.nullable((std::string(name) + "_error").c_str(), estimate.error, "its standard error");
}

void describe_null(ResultFields& out, const PermutedCorrelation& correlation, const char* prefix) {
  const std::string start(prefix);
  out.nullable((start + "null_low").c_str(), correlation.null_low,
               "2.5th percentile of the same with permuted values");
  out.nullable((start + "null_high").c_str(), correlation.null_high,
               "97.5th percentile of the same");
  out.nullable((start + "p").c_str(), correlation.p,
               "share of 2,000 permutations at least as far from 0");
}

}  // namespace eigenscope
