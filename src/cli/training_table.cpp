#include "cli/training_table.h"

#include <array>
#include <limits>
#include <map>
#include <string>
#include <string_view>

#include "cli/training_log.h"
#include "statistics/paired_test.h"

namespace eigenscope::cli {
namespace {

struct TableMeasure {
  std::string_view name;
  double (*of)(const LogRow&);
};
constexpr std::array kTableMeasures{
    TableMeasure{"bits_per_byte", [](const LogRow& r) { return r.measure("bits_per_byte"); }},
    TableMeasure{"perplexity", [](const LogRow& r) { return r.measure("perplexity"); }},
    TableMeasure{"entropy", [](const LogRow& r) { return r.head_mean("entropy"); }},
    TableMeasure{"mean", [](const LogRow& r) { return r.head_mean("mean"); }},
    TableMeasure{"variance", [](const LogRow& r) { return r.head_mean("variance"); }},
    TableMeasure{"variance_modulus",
                 [](const LogRow& r) { return r.head_mean("variance_modulus"); }},
    TableMeasure{"variance_frobenius",
                 [](const LogRow& r) { return r.head_mean("variance_frobenius"); }},
    TableMeasure{"localization", [](const LogRow& r) { return r.head_mean("localization"); }},
    TableMeasure{"residual", [](const LogRow& r) { return r.layer_mean("residual"); }},
};

std::string name_of(const FinishedRun& run) {
  return std::string(regularizer_name(run.settings.regularizer.kind));
}

// The measure of the whole runs of a kind, by seed.
std::map<std::uint64_t, double> values_of(const std::vector<FinishedRun>& runs,
                                          const std::string& kind, const TableMeasure& measure) {
  std::map<std::uint64_t, double> values;
  for (const FinishedRun& run : runs) {
    if (run.failure.empty() && name_of(run) == kind) {
      values[run.settings.seed] = measure.of(run.rows.back());
    }
  }
  return values;
}

Json table_row(const std::vector<FinishedRun>& runs, const std::string& kind,
               const TableMeasure& measure) {
  const auto own = values_of(runs, kind, measure), none = values_of(runs, "none", measure);
  std::vector<double> all, paired, baseline;
  for (const auto& [seed, value] : own) {
    all.push_back(value);
    if (kind == "none" || !none.contains(seed)) continue;
    paired.push_back(value);
    baseline.push_back(none.at(seed));
  }
  const MeanDeviation found = mean_deviation(all);
  Json row{{"regularizer", kind},
           {"measure", measure.name},
           {"runs", all.size()},
           {"mean", found.mean},
           {"deviation", found.deviation}};
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const PairedTest test =
      paired.empty() ? PairedTest{kNaN, kNaN, kNaN} : paired_t_test(paired, baseline);
  row["difference"] = test.difference;
  row["t"] = test.t;
  row["p"] = test.p;
  return row;
}

}  // namespace

Json table_of(const std::vector<FinishedRun>& runs) {
  std::vector<std::string> kinds;
  for (const FinishedRun& run : runs) {
    if (kinds.empty() || kinds.back() != name_of(run)) kinds.push_back(name_of(run));
  }
  Json table = Json::array();
  for (const std::string& kind : kinds) {
    for (const TableMeasure& measure : kTableMeasures)
      table.push_back(table_row(runs, kind, measure));
  }
  return table;
}

Json runs_to_json(const std::vector<FinishedRun>& runs, bool rows) {
  Json list = Json::array();
  for (const FinishedRun& run : runs) {
    Json json{{"regularizer", name_of(run)},
              {"seed", run.settings.seed},
              {"failure", run.failure},
              {"tokens_per_second", run.tokens_per_second}};
    if (rows) {
      json["rows"] = Json::array();
      for (const LogRow& row : run.rows) json["rows"].push_back(to_json(row));
    } else if (!run.rows.empty()) {
      json["step"] = run.rows.back().step;
      for (const TableMeasure& measure : kTableMeasures) {
        json[std::string(measure.name)] = measure.of(run.rows.back());
      }
      for (const char* const name :
           {"bits_per_byte_error", "unigram_loss", "bigram_loss", "trigram_loss"}) {
        json[name] = run.rows.back().measure(name);
      }
    }
    for (const auto& [name, row] : run.interventions) {
      json["with_" + name] = {{"bits_per_byte", row.measure("bits_per_byte")},
                              {"entropy", row.head_mean("entropy")},
                              {"residual", row.layer_mean("residual")}};
    }
    list.push_back(json);
  }
  return list;
}

}  // namespace eigenscope::cli
