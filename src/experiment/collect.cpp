#include "experiment/collect.h"

#include <map>

#include "statistics/paired_test.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Json = OrderedJson;
using Labels = std::vector<std::pair<std::string, std::string>>;
using BySeed = std::map<std::uint64_t, const Json*>;

// The cells of each combination of labels, in the order in which the grid has them.
class Groups {
 public:
  void add(const GridCell& cell, const Json& result) {
    const auto [place, is_new] = places_.emplace(cell.axes, groups_.size());
    if (is_new) groups_.push_back({cell.axes, {}});
    groups_[place->second].cells[cell.seed] = &result;
  }
  const BySeed* find(const Labels& labels) const {
    const auto place = places_.find(labels);
    return place == places_.end() ? nullptr : &groups_[place->second].cells;
  }
  struct Group {
    Labels labels;
    BySeed cells;
  };
  const std::vector<Group>& all() const { return groups_; }

 private:
  std::vector<Group> groups_;
  std::map<Labels, std::size_t> places_;  // index in groups_ of each combination
};

std::optional<double> value_of(const Json& result, const std::string& measure) {
  if (!result.at("failure").get<std::string>().empty()) return std::nullopt;
  const Json& last = result.at("final");
  const Json value = last.value(measure, Json("missing"));
  if (value.is_null()) return std::nullopt;
  if (!value.is_number()) {
    throw FormatError(result.at("id").get<std::string>(),
                      "its final " + measure + " must be a number or null");
  }
  return value.get<double>();
}

Json comparison(const BySeed& runs, const BySeed* baseline, const std::string& measure) {
  std::vector<double> all, paired, against;
  for (const auto& [seed, result] : runs) {
    const std::optional<double> value = value_of(*result, measure);
    if (!value) continue;
    all.push_back(*value);
    if (baseline == nullptr || baseline == &runs || !baseline->contains(seed)) continue;
    const std::optional<double> other = value_of(*baseline->at(seed), measure);
    if (!other) continue;
    paired.push_back(*value);
    against.push_back(*other);
  }
  const MeanDeviation moments = mean_deviation(all);
  Json json{{"runs", all.size()},
            {"mean", all.empty() ? Json(nullptr) : finite(moments.mean)},
            {"deviation", all.empty() ? Json(nullptr) : finite(moments.deviation)}};
  if (paired.empty()) return json;
  const PairedTest test = paired_t_test(paired, against);
  json["pairs"] = paired.size();
  json["difference"] = finite(test.difference);
  json["t"] = finite(test.t);
  json["p"] = finite(test.p);
  return json;
}

Labels baseline_of(const Grid& grid, Labels labels) {
  for (auto& [axis, label] : labels) {
    if (axis == grid.baseline_axis) label = grid.baseline_label;
  }
  return labels;
}

Json summary_of(const Grid& grid, const Groups& groups) {
  Json summary = Json::array();
  for (const Groups::Group& group : groups.all()) {
    Json row{{"axes", Json::object()}, {"runs", group.cells.size()}, {"failures", 0}};
    for (const auto& [axis, label] : group.labels) row["axes"][axis] = label;
    int failures = 0;
    for (const auto& [seed, result] : group.cells) {
      failures += !result->at("failure").get<std::string>().empty();
    }
    row["failures"] = failures;
    const BySeed* const baseline =
        grid.baseline_axis.empty() ? nullptr : groups.find(baseline_of(grid, group.labels));
    for (const std::string& measure : grid.measures) {
      row[measure] = comparison(group.cells, baseline, measure);
    }
    summary.push_back(row);
  }
  return summary;
}

}  // namespace

Json collect_results(const Grid& grid,
                     const std::function<std::optional<Json>(const GridCell&)>& result_of) {
  std::vector<Json> results;
  std::vector<const GridCell*> finished;
  Json missing = Json::array();
  for (const GridCell& cell : grid.cells) {
    if (std::optional<Json> result = result_of(cell)) {
      result->erase("experiment");
      results.push_back(std::move(*result));
      finished.push_back(&cell);
    } else {
      missing.push_back(cell.id);
    }
  }
  Groups groups;
  for (std::size_t i = 0; i < results.size(); ++i) groups.add(*finished[i], results[i]);
  return {{"experiment", grid.experiment},
          {"grid", grid.source},
          {"summary", summary_of(grid, groups)},
          {"missing", missing},
          {"cells", std::move(results)}};
}

}  // namespace eigenscope
