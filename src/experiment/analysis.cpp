#include "experiment/analysis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include "attention/criticality.h"
#include "attention/random_energy.h"
#include "statistics/rank_correlation.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Json = OrderedJson;
using Cells = std::span<const Json>;

const Json& needed(const Json& of, const char* key) {
  if (!of.contains(key)) throw InvalidArgument("analysis", std::string("it needs '") + key + "'");
  return of.at(key);
}

template <class T>
T value_as(const Json& value, const std::string& name, const char* what) {
  try {
    return value.get<T>();
  } catch (const Json::exception&) {
    throw InvalidArgument("analysis",
                          "'" + name + "' must be " + what + ", but is " + write_json(value));
  }
}
std::string text_of(const Json& of, const char* key) {
  return value_as<std::string>(needed(of, key), key, "a text");
}
double number_of(const Json& of, const char* key) {
  return value_as<double>(needed(of, key), key, "a number");
}
using Texts = std::vector<std::string>;
Texts texts_of(const Json& of, const char* key) {
  return value_as<Texts>(needed(of, key), key, "a list of texts");
}
/// Empty where the key is absent.
Texts optional_texts(const Json& of, const char* key) {
  return of.contains(key) ? texts_of(of, key) : Texts();
}

bool failed(const Json& cell) { return !cell.at("failure").get<std::string>().empty(); }

std::optional<double> number(const Json& object, const std::string& name) {
  if (!object.contains(name))
    throw InvalidArgument("analysis", "there is no measure '" + name + "'");
  if (!object.at(name).is_number()) return std::nullopt;
  return object.at(name).get<double>();
}

std::string label(const Json& cell, const std::string& axis) {
  if (!cell.at("axes").contains(axis))
    throw InvalidArgument("analysis", "there is no axis '" + axis + "'");
  return cell.at("axes").at(axis).get<std::string>();
}

double number_label(const Json& cell, const std::string& axis) {
  const std::string text = label(cell, axis);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end != text.c_str() + text.size() || !std::isfinite(value)) {
    throw InvalidArgument("analysis", "the labels of the axis '" + axis +
                                          "' must be numbers, but one is '" + text + "'");
  }
  return value;
}

// Cells by the labels of some axes, in the order in which the labels come.
struct Group {
  Json labels;
  std::vector<const Json*> cells;
};
std::vector<Group> grouped(Cells cells, const std::vector<std::string>& axes) {
  std::vector<Group> groups;
  for (const Json& cell : cells) {
    Json labels = Json::object();
    for (const std::string& axis : axes) labels[axis] = label(cell, axis);
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.labels == labels; });
    if (found == groups.end()) {
      groups.push_back({labels, {&cell}});
    } else {
      found->cells.push_back(&cell);
    }
  }
  return groups;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());  // NaN for none
}

// What the cell keeps of every row of the log.
const Json& curve_of(const Json& cell, const std::string& name) {
  const Json& curve = cell.at("curve");
  if (!curve.contains(name)) throw InvalidArgument("analysis", "the curve has no '" + name + "'");
  return curve.at(name);
}

// The first step of the log at which the measure is below; nothing when it never is.
std::optional<double> step_below(const Json& cell, const std::string& measure, double below) {
  const Json &values = curve_of(cell, measure), &steps = curve_of(cell, "step");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Json& value = values[i];
    if (value.is_number() && value.get<double>() < below) return steps[i].get<double>();
  }
  return std::nullopt;
}

// Runs of one label of the group at one value of the axis.
struct Point {
  double at = 0, mean = 0;
  std::size_t runs = 0;
  int failures = 0;
};

Json reached(const std::vector<const Json*>& cells, const std::string& measure,
             const Json& levels) {
  Json list = Json::array();
  for (const Json& level : levels) {
    std::vector<double> steps;
    for (const Json* cell : cells) {
      const auto step =
          step_below(*cell, measure, value_as<double>(level, "reach", "a list of numbers"));
      if (step && !failed(*cell)) steps.push_back(*step);
    }
    list.push_back({{"level", level},
                    {"reached", steps.size()},
                    {"runs", cells.size()},
                    {"mean_step", finite(mean_of(steps))}});
  }
  return list;
}

Json sensitivity(const Grid& grid, const Json& of, Cells cells) {
  const std::string axis = text_of(of, "axis"), group = text_of(of, "group");
  const double tolerance = number_of(of, "tolerance");
  const std::string& measure = grid.measures.at(0);
  Json rows = Json::array();
  for (const Group& own : grouped(cells, {group})) {
    std::map<double, std::vector<const Json*>> by_value;
    for (const Json* cell : own.cells) by_value[number_label(*cell, axis)].push_back(cell);
    Json points = Json::array();
    double best = std::numeric_limits<double>::infinity();
    std::vector<Point> all;
    for (const auto& [at, runs] : by_value) {
      Point point{at, 0, 0, 0};
      std::vector<double> values;
      for (const Json* run : runs) {
        const auto value = number(run->at("final"), measure);
        failed(*run) || !value ? void(++point.failures) : values.push_back(*value);
      }
      point.mean = mean_of(values);
      point.runs = runs.size();
      if (!values.empty()) best = std::min(best, point.mean);
      all.push_back(point);
      points.push_back({{axis, at},
                        {"runs", runs.size()},
                        {"failures", point.failures},
                        {"mean", finite(point.mean)},
                        {"reached", reached(runs, measure, of.value("reach", Json::array()))}});
    }
    std::vector<double> excess;
    Json stable = nullptr;
    for (const Point& point : all) {
      if (std::isfinite(point.mean)) excess.push_back(point.mean - best);
      if (point.failures == 0 && point.mean - best <= tolerance) stable = point.at;
    }
    rows.push_back({{group, own.labels.at(group)},
                    {"best", finite(best)},
                    {"values", all.size()},
                    {"mean_excess", finite(mean_of(excess))},
                    {"largest_stable", stable},
                    {"points", points}});
  }
  return rows;
}

Json share(const Grid& grid, const Json& of, Cells cells) {
  const double below = number_of(of, "below");
  Json rows = Json::array();
  for (const Group& own : grouped(cells, grid.axes)) {
    int count = 0;
    for (const Json* cell : own.cells) {
      const auto value = number(cell->at("final"), grid.measures.at(0));
      count += !failed(*cell) && value && *value < below;
    }
    const auto runs = static_cast<int>(own.cells.size());
    const ShareInterval interval = wilson_interval(count, runs);
    rows.push_back({{"axes", own.labels},
                    {"runs", runs},
                    {"below", count},
                    {"share", static_cast<double>(count) / runs},
                    {"low", interval.low},
                    {"high", interval.high}});
  }
  return rows;
}

// Means over the seeds of a cell, of those that did not fail.
struct CellMeans {
  std::vector<double> outcome, predictor;
};
using ValueOf = std::function<std::optional<double>(const Json& cell)>;
CellMeans cell_means(const Grid& grid, Cells cells, const ValueOf& predictor, const Json& labels) {
  CellMeans means;
  for (const Group& own : grouped(cells, grid.axes)) {
    bool inside = true;
    for (const auto& [axis, wanted] : labels.items())
      inside = inside && own.labels.at(axis) == wanted;
    if (!inside) continue;
    std::vector<double> outcomes, values;
    for (const Json* cell : own.cells) {
      if (failed(*cell)) continue;
      const auto outcome = number(cell->at("final"), grid.measures.at(0));
      const auto value = predictor(*cell);
      if (!outcome || !value) continue;
      outcomes.push_back(*outcome);
      values.push_back(*value);
    }
    if (outcomes.empty()) continue;
    means.outcome.push_back(mean_of(outcomes));
    means.predictor.push_back(mean_of(values));
  }
  return means;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto size = static_cast<Eigen::Index>(a.size());
  return rank_correlation(Eigen::Map<const Eigen::VectorXd>(a.data(), size),
                          Eigen::Map<const Eigen::VectorXd>(b.data(), size));
}

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// Adds to a row how well the predictor tells the outcome.
void add_prediction(const CellMeans& means, Json& row) {
  const double median = median_of(means.outcome);
  std::vector<double> low, high;
  for (std::size_t i = 0; i < means.outcome.size(); ++i) {
    (means.outcome[i] < median ? low : high).push_back(means.predictor[i]);
  }
  row["cells"] = means.outcome.size();
  row["rank_correlation"] = finite(correlation(means.predictor, means.outcome));
  row["area_under_curve"] = finite(area_under_curve(low, high));
}

Json predictors(const Grid& grid, const Json& of, Cells cells) {
  Json rows = Json::array();
  const Texts by = texts_of(of, "by");
  for (const Group& part : grouped(cells, by)) {
    for (const std::string& name : texts_of(of, "predictors")) {
      const auto value = [&](const Json& cell) { return number(cell.at("initial"), name); };
      const CellMeans means = cell_means(grid, cells, value, part.labels);
      if (means.outcome.empty()) continue;
      Json row = {{"axes", part.labels}, {"predictor", name}};
      add_prediction(means, row);
      rows.push_back(row);
    }
  }
  return rows;
}

const TrainSettings& settings_of(const Grid& grid, const Json& cell) {
  const auto found = std::find_if(grid.cells.begin(), grid.cells.end(),
                                  [&](const GridCell& own) { return own.id == cell.at("id"); });
  if (found == grid.cells.end())
    throw InvalidArgument("analysis", "the grid has no cell '" + cell.at("id").get<std::string>() +
                                          "'; collect the cells of this grid");
  return found->settings;
}

// 1 minus the mean cosine of the tokens of untrained models: a residual r of T tokens of one norm has
// r^2 = (1 - p)(1 - 1/T).
double unlike_of(const Grid& grid, const std::vector<const Json*>& cells) {
  std::vector<double> values;
  for (const Json* cell : cells) {
    const auto residual = number(cell->at("initial"), "residual");
    const auto length = static_cast<double>(settings_of(grid, *cell).model.length);
    if (residual) values.push_back(*residual * *residual / (1 - 1 / length));
  }
  return std::min(1.0, mean_of(values));
}

Json freezing(const Grid& grid, const Json& of, Cells cells) {
  Json rows = Json::array();
  const Texts by = texts_of(of, "by");
  for (const Group& part : grouped(cells, by)) {
    const double unlike = unlike_of(grid, part.cells);
    std::map<double, double> scales;
    // Predicted variance of the logits over 2 log T.
    const auto share = [&](const Json& cell) -> std::optional<double> {
      const TrainSettings& settings = settings_of(grid, cell);
      const ModelSettings& model = settings.model;
      const RegularizerSettings& first = settings.regularizer;
      const double scale =
          freezing_scale({first.alpha, model.width, model.head_width()}, unlike, model.length);
      scales[first.alpha] = scale;
      return std::pow(first.init_scale / scale, 4);
    };
    const CellMeans means = cell_means(grid, cells, share, part.labels);
    if (means.outcome.empty()) continue;
    std::vector<double> beyond, others;
    for (std::size_t i = 0; i < means.outcome.size(); ++i) {
      (means.predictor[i] > 1 ? beyond : others).push_back(means.outcome[i]);
    }
    Json line = Json::array();
    for (const auto& [alpha, scale] : scales) {
      line.push_back({{"alpha", alpha}, {"init_scale", finite(scale)}});
    }
    Json row = {{"axes", part.labels},
                {"unlike", unlike},
                {"scales", line},
                {"beyond", beyond.size()},
                {"mean_beyond", finite(mean_of(beyond))},
                {"mean_before", finite(mean_of(others))}};
    add_prediction(means, row);
    rows.push_back(row);
  }
  return rows;
}

// Of the runs of one group: how a driver's first logged value goes with the length of the plateau.
Json plateau_row(const Grid& grid, const std::vector<const Json*>& cells, const std::string& driver,
                 double below) {
  std::vector<double> values, steps;
  std::size_t never = 0;
  for (const Json* cell : cells) {
    if (failed(*cell)) continue;
    const Json& values_of_run = curve_of(*cell, driver);
    if (values_of_run.size() < 2 || !values_of_run[1].is_number()) continue;
    const auto step = step_below(*cell, grid.measures.at(0), below);
    never += !step;
    values.push_back(values_of_run[1].get<double>());
    steps.push_back(step.value_or(std::numeric_limits<double>::max()));
  }
  return {
      {"driver", driver},
      {"runs", values.size()},
      {"never", never},
      {"rank_correlation", values.size() < 2 ? Json(nullptr) : finite(correlation(values, steps))}};
}

Json plateau(const Grid& grid, const Json& of, Cells cells) {
  const double below = number_of(of, "below");
  const Texts by = optional_texts(of, "by");
  Json rows = Json::array();
  for (const Group& part : grouped(cells, by)) {
    for (const std::string& driver : texts_of(of, "drivers")) {
      Json row = Json::object();
      if (!by.empty()) row["axes"] = part.labels;
      row.update(plateau_row(grid, part.cells, driver, below));
      rows.push_back(row);
    }
  }
  return rows;
}

// Values of two curves of a run in the logged rows after step 0 that have both.
struct CurvePair {
  std::vector<double> first, second;
};
CurvePair curve_pair(const Json& cell, const std::array<std::string, 2>& names) {
  const Json &first = curve_of(cell, names[0]), &second = curve_of(cell, names[1]);
  CurvePair pair;
  for (std::size_t i = 1; i < first.size(); ++i) {
    if (!first[i].is_number() || !second[i].is_number()) continue;
    pair.first.push_back(first[i].get<double>());
    pair.second.push_back(second[i].get<double>());
  }
  return pair;
}

Json relation(const Json& of, Cells cells) {
  const auto names = value_as<std::array<std::string, 2>>(needed(of, "of"), "of", "two texts");
  const Texts by = optional_texts(of, "by");
  Json rows = Json::array();
  for (const Group& part : grouped(cells, by)) {
    CurvePair all;
    std::vector<double> within;
    for (const Json* cell : part.cells) {
      if (failed(*cell)) continue;
      const CurvePair own = curve_pair(*cell, names);
      const double found = own.first.size() < 2 ? std::nan("") : correlation(own.first, own.second);
      if (!std::isfinite(found)) continue;
      within.push_back(found);
      all.first.insert(all.first.end(), own.first.begin(), own.first.end());
      all.second.insert(all.second.end(), own.second.begin(), own.second.end());
    }
    Json row = Json::object();
    if (!by.empty()) row["axes"] = part.labels;
    row["runs"] = within.size();
    row["rows"] = all.first.size();
    row["rank_correlation"] =
        within.empty() ? Json(nullptr) : finite(correlation(all.first, all.second));
    row["mean_within_runs"] = finite(mean_of(within));
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

ShareInterval wilson_interval(int count, int runs) {
  constexpr double z = 1.959963984540054;
  const double n = runs, p = count / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double area_under_curve(const std::vector<double>& low, const std::vector<double>& high) {
  double smaller = 0;
  for (const double a : low) {
    for (const double b : high) smaller += a < b ? 1 : a == b ? 0.5 : 0;
  }
  return smaller / (static_cast<double>(low.size()) * static_cast<double>(high.size()));
}

OrderedJson analyse(const Grid& grid, const Json& of, Cells cells) {
  if (grid.measures.empty()) throw InvalidArgument("measures", "an analysis needs one");
  const std::string kind = text_of(of, "kind");
  Json result = of;
  if (kind == "sensitivity") {
    result["rows"] = sensitivity(grid, of, cells);
  } else if (kind == "share") {
    result["rows"] = share(grid, of, cells);
  } else if (kind == "predictors") {
    result["rows"] = predictors(grid, of, cells);
  } else if (kind == "freezing") {
    result["rows"] = freezing(grid, of, cells);
  } else if (kind == "plateau") {
    result["rows"] = plateau(grid, of, cells);
  } else if (kind == "relation") {
    result["rows"] = relation(of, cells);
  } else {
    throw InvalidArgument("analysis", "'" + kind +
                                          "' is not allowed; kind must be one of sensitivity, "
                                          "share, predictors, freezing, plateau, relation");
  }
  return result;
}

}  // namespace eigenscope
