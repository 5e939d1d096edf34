// Results with an uncertainty: estimates with standard errors, rank correlations with permutation tests.
#pragma once

#include <vector>

#include "contract/result.h"
#include "statistics/estimate.h"
#include "statistics/holm.h"
#include "statistics/permuted_correlation.h"

namespace eigenscope {

/// Describes `name` and `name`_error.
void describe(ResultFields& out, const char* name, const Estimate& estimate, Help meaning);
/// The rank correlation of a property, such as the entropy of a head, with another quantity.
template <class Property>
struct PropertyCorrelation {
  Property property;
  PermutedCorrelation correlation;
  double p_holm;  ///< p by Holm's method over all properties
};
/// The correlations of all properties in their order, with p by Holm's method.
template <class Property, class Correlations>
std::vector<PropertyCorrelation<Property>> by_property(const Correlations& all) {
  std::vector<double> p;
  for (const PermutedCorrelation& correlation : all) p.push_back(correlation.p);
  const std::vector<double> corrected = holm(p);
  std::vector<PropertyCorrelation<Property>> list;
  for (const PermutedCorrelation& correlation : all) {
    list.push_back({static_cast<Property>(list.size()), correlation, corrected[list.size()]});
  }
  return list;
}
/// Describes null_low, null_high and p, each name after `prefix`.
void describe_null(ResultFields& out, const PermutedCorrelation& correlation,
                   const char* prefix = "");
/// Describes null_low, null_high, p and p_holm of a property.
template <class Property>
void describe_null(ResultFields& out, const PropertyCorrelation<Property>& row) {
  describe_null(out, row.correlation);
  out.nullable("p_holm", row.p_holm, "p by Holm's method over all properties");
}

}  // namespace eigenscope
