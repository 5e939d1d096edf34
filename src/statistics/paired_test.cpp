#include "statistics/paired_test.h"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>

namespace eigenscope {

MeanDeviation mean_deviation(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  MeanDeviation result;
  for (const double value : values) result.mean += value / n;
  double square = 0;
  for (const double value : values) square += (value - result.mean) * (value - result.mean);
  result.deviation =
      values.size() < 2 ? std::numeric_limits<double>::quiet_NaN() : std::sqrt(square / (n - 1));
  return result;
}

PairedTest paired_t_test(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  const MeanDeviation summary = mean_deviation(differences);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  if (!(summary.deviation > 0)) return {summary.mean, kNaN, kNaN};
  const double t = summary.mean / (summary.deviation / std::sqrt(static_cast<double>(a.size())));
  return {summary.mean, t, student_two_sided(t, static_cast<int>(a.size()) - 1)};
}

double student_two_sided(double t, int freedom) {
  using namespace boost::math;
  // Without long double, which differs between platforms.
  using InDouble = policies::policy<policies::promote_double<false>>;
  const students_t_distribution<double, InDouble> law(freedom);
  return 2 * cdf(complement(law, std::abs(t)));
}

}  // namespace eigenscope
