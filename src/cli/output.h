// JSON and CSV of the library's results. One vocabulary: the names here are the page's names too.
#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "propagation/propagation.h"
#include "simulation/row_statistics.h"
#include "spectrum/traces.h"

namespace eigenscope::cli {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are set; NaN prints as null

Json to_json(const Eigen::VectorXd& vector);
/// [[re, im], ...].
Json to_json(const Eigen::VectorXcd& vector);
/// width, xi, eta_s, eta_f, mean, variance, variance_frobenius, fourth_moment,
/// fourth_moment_frobenius.
Json to_json(const SpectralMoments& moments);
/// mean, std, rho, localization, regime.
Json to_json(const Propagation& propagation);
/// The same names with their `_error`s, and the measures of the exact softmax.
Json to_json(const RowEstimate& estimate);
/// The scalars of a RowEstimate: samples, localization, localization_error, ...
Json measures_to_json(const RowEstimate& estimate);

/// Writes an array of flat objects with equal keys as CSV, keys as the header; null as nothing.
void write_csv(std::ostream& out, const Json& rows);
/// One row a position from an object of equally long arrays; scalars are left out.
Json rows_by_position(const Json& arrays);

}  // namespace eigenscope::cli
