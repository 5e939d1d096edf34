#include "training/log_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "support/error.h"

namespace eigenscope {
namespace {

template <std::size_t N>
std::size_t index_of(const std::array<LoggedMeasure, N>& measures, std::string_view name) {
  const auto place = std::find_if(measures.begin(), measures.end(),
                                  [&](const auto& measure) { return measure.name == name; });
  if (place == measures.end())
    throw InvalidArgument("measure", "be one of the log", "found '" + std::string(name) + "'");
  return static_cast<std::size_t>(place - measures.begin());
}

template <class Rows>
double mean_of(const Rows& rows, std::size_t measure) {
  double sum = 0, count = 0;
  for (const auto& row : rows) {
    if (std::isnan(row[measure])) continue;
    sum += row[measure];
    count += 1;
  }
  return sum / count;
}

}  // namespace

double LogRow::measure(std::string_view name) const { return run[index_of(kRunMeasures, name)]; }
double& LogRow::measure(std::string_view name) { return run[index_of(kRunMeasures, name)]; }
double LogRow::head_mean(std::string_view name) const {
  return mean_of(heads, index_of(kRunHeadMeasures, name));
}
std::pair<double, double> LogRow::head_extremes(std::string_view name) const {
  const std::size_t measure = index_of(kRunHeadMeasures, name);
  std::pair extremes(std::numeric_limits<double>::quiet_NaN(),
                     std::numeric_limits<double>::quiet_NaN());
  for (const auto& head : heads) {  // fmin and fmax pass over NaN
    extremes = {std::fmin(extremes.first, head[measure]),
                std::fmax(extremes.second, head[measure])};
  }
  return extremes;
}
double LogRow::layer_mean(std::string_view name) const {
  return mean_of(layers, index_of(kRunLayerMeasures, name));
}

}  // namespace eigenscope
