// Results with an uncertainty: estimates with standard errors, rank correlations with permutation tests.
#pragma once

#include <vector>

#include "contract/result.h"
#include "statistics/estimate.h"
#include "statistics/holm.h"
#include "statistics/permuted_correlation.h"

namespace eigenscope {

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

}  // namespace eigenscope
