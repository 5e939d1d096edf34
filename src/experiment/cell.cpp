#include "experiment/cell.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "checkpoint/safetensors.h"
#include "io/replace_file.h"
#include "support/error.h"
#include "training/trainer.h"

namespace eigenscope {
namespace {

namespace fs = std::filesystem;
using Json = OrderedJson;

// Key of a result with the path of the cell's separate validation text.
constexpr const char* kValidation = "validation";
// Key of a result with the fingerprint of the text; earlier results have none.
constexpr const char* kText = "text_fingerprint";

// Layer measures of which a row has the mean over layers; the others share their names with measures of the run.
constexpr std::string_view kLayerMeans[] = {"residual", "effective_rank"};

// Measures of the last layer, if there is one.
constexpr const char* kLastResidual = "last_residual";

// The extremes over heads that a curve may have.
constexpr std::string_view kSmallest = ".smallest", kLargest = ".largest";

bool is_extreme(std::string_view name) {
  return std::any_of(kRunHeadMeasures.begin(), kRunHeadMeasures.end(), [&](const auto& measure) {
    return name.starts_with(measure.name) && (name.substr(measure.name.size()) == kSmallest ||
                                              name.substr(measure.name.size()) == kLargest);
  });
}

double extreme(const LogRow& row, std::string_view name) {
  const auto [smallest, largest] = row.head_extremes(name.substr(0, name.find('.')));
  return name.ends_with(kLargest) ? largest : smallest;
}

// A run with the rows that it has logged: their means, and the extremes of the curve.
struct Run {
  Trainer trainer;
  Json rows = Json::array();

  void take_log(const std::vector<std::string>& curve) {
    for (const LogRow& row : trainer.take_log()) {
      Json json = row_means(row);
      for (const std::string& name : curve) {
        if (is_extreme(name)) json[name] = finite(extreme(row, name));
      }
      rows.push_back(std::move(json));
    }
  }
};

bool have_curve(const Json& rows, const std::vector<std::string>& curve) {
  return rows.is_array() && std::all_of(rows.begin(), rows.end(), [&](const Json& row) {
           return std::all_of(curve.begin(), curve.end(),
                              [&](const std::string& name) { return row.contains(name); });
         });
}

Run begin(const Grid& grid, const GridCell& cell, const std::string& partial,
          const std::shared_ptr<const Text>& text) {
  std::error_code error;
  if (fs::exists(partial, error)) {
    try {
      const Safetensors file(std::make_shared<FileSource>(partial));
      Run run{Trainer(file, text), read_json(file.metadata().at("rows"))};
      if (have_curve(run.rows, grid.curve) && validation_of(file) == grid.validation &&
          is_text_of(file, *text) &&
          changed_settings(run.trainer.settings()) == changed_settings(cell.settings)) {
        return run;
      }
    } catch (const std::exception&) {
      // A file that a disk did not keep.
    }
    // The cell begins anew, with the same result.
  }
  return {Trainer(cell.settings, text), Json::array()};
}

Json result_of(const Grid& grid, const GridCell& cell, const Text& text, const Run& run) {
  Json axes = Json::object();
  for (const auto& [name, label] : cell.axes) axes[name] = label;
  Json curve = Json::object();
  curve["step"] = Json::array();
  for (const Json& row : run.rows) {
    curve["step"].push_back(row.at("step"));
    for (const std::string& name : grid.curve) {
      curve[name].push_back(row.at(name));
    }
  }
  Json result{{"id", cell.id},
              {"axes", axes},
              {"seed", cell.seed},
              {"settings", changed_settings(cell.settings)},
              {"failure", run.trainer.failure()},
              {"steps", run.trainer.steps_done()},
              {"initial", run.rows.empty() ? Json() : run.rows.front()},
              {"final", run.rows.empty() ? Json() : run.rows.back()},
              {"curve", curve}};
  result[kText] = fingerprint(text);
  if (!grid.validation.empty()) result[kValidation] = grid.validation;
  return result;
}

bool is_curve(const Json& curve) {
  if (!curve.is_object() || !curve.contains("step")) return false;
  const Json& steps = curve.at("step");
  const auto is_number = [](const Json& step) { return step.is_number(); };
  return steps.is_array() && std::all_of(steps.begin(), steps.end(), is_number) &&
         std::all_of(curve.begin(), curve.end(), [&](const Json& values) {
           return values.is_array() && values.size() == steps.size();
         });
}

// True if the JSON has all fields of result_of, with the same types.
bool is_result(const GridCell& cell, const Json& json) {
  Json axes = Json::object();
  for (const auto& [name, label] : cell.axes) axes[name] = label;
  const auto row = [&](const char* key) {
    const Json value = json.value(key, Json(0));
    return value.is_object() || value.is_null();
  };
  return json.is_object() && json.value("id", Json()) == cell.id &&
         json.value("axes", Json()) == axes && json.value("settings", Json()).is_object() &&
         json.value("failure", Json()).is_string() && row("initial") && row("final") &&
         is_curve(json.value("curve", Json())) && json.value(kValidation, Json("")).is_string() &&
         json.value(kText, Json("")).is_string();
}

}  // namespace

OrderedJson row_means(const LogRow& row) {
  Json json{{"step", row.step}};
  for (const auto& [name, meaning] : kRunMeasures)
    json[std::string(name)] = finite(row.measure(name));
  for (const std::string_view name : kLayerMeans)
    json[std::string(name)] = finite(row.layer_mean(name));
  for (const auto& [name, meaning] : kRunHeadMeasures)
    json[std::string(name)] = finite(row.head_mean(name));
  if (!row.layers.empty()) json[kLastResidual] = finite(row.layers.back()[0]);
  return json;
}

void check_measures(const Grid& grid) {
  const Json known = row_means({});
  const auto check = [&](const char* key, const std::vector<std::string>& names, bool extremes) {
    for (const std::string& name : names) {
      if (known.contains(name) || name == kLastResidual || (extremes && is_extreme(name))) continue;
      throw InvalidArgument(key, "be measures of the log", "found '" + name + "'");
    }
  };
  check("measures", grid.measures, /*extremes=*/false);
  check("curve", grid.curve, /*extremes=*/true);
}

CellFolder::CellFolder(std::string path) : path_(std::move(path)) { make_folder(path_); }

std::string CellFolder::file(const GridCell& cell, const char* ending) const {
  return path_ + "/" + cell.id + ending;
}

std::optional<Json> CellFolder::result(const Grid& grid, const GridCell& cell,
                                       const std::string& text) const {
  const std::string path = file(cell, ".json");
  const std::optional<Json> json =
      read_cell(path, [&](const Json& file) { return is_result(cell, file); });
  if (!json) return std::nullopt;
  if (json->at("settings") != changed_settings(cell.settings) ||
      json->value("experiment", Json()) != grid.experiment ||
      json->value(kValidation, "") != grid.validation) {
    throw FormatError(path,
                      "it is of another grid: its experiment, settings or validation text differ "
                      "from the run's; give another --out, or remove the file to run it again");
  }
  if (!text.empty() && json->value(kText, text) != text) {
    throw FormatError(
        path,
        "it was trained on another text than the grid's or its first result; train "
        "all runs on one text, in another folder, or remove the file to run it again");
  }
  return json;
}

std::string CellFolder::text_of(const Json& result) { return result.value(kText, ""); }

void CellFolder::run(const Grid& grid, const GridCell& cell, std::shared_ptr<const Text> text,
                     const std::function<bool(double)>& pause) const {
  const std::string partial = file(cell, ".partial");
  Run run = begin(grid, cell, partial, text);
  run.take_log(grid.curve);
  const auto slice = static_cast<Eigen::Index>(1 + 5e7 / run.trainer.work_per_step());
  for (bool done = false; !done;) {
    done = run.trainer.advance(slice);
    run.take_log(grid.curve);
    const double share = static_cast<double>(run.trainer.steps_done()) /
                         static_cast<double>(std::max<Eigen::Index>(1, run.trainer.steps_wanted()));
    if (pause(share) && !done) {
      replace_file(partial, run.trainer.checkpoint({{"rows", write_json(run.rows)},
                                                    {kValidationKey, grid.validation}}));
    }
  }
  Json result{{"experiment", grid.experiment}};
  result.update(result_of(grid, cell, *text, run));
  replace_file(file(cell, ".json"), write_json(result, 1) + "\n");
  remove_leftovers(cell);
}

// Removes the temporary files of this and earlier processes of a finished cell.
void CellFolder::remove_leftovers(const GridCell& cell) const {
  std::error_code error;
  fs::remove(file(cell, ".partial"), error);
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    const std::string_view replaced = replaced_name(name);
    if (replaced == cell.id + ".json" || replaced == cell.id + ".partial") {
      fs::remove(entry.path(), error);
    }
  }
}

std::optional<OrderedJson> read_cell(const std::string& path,
                                     const std::function<bool(const OrderedJson&)>& is_result) {
  // Not a FileSource, which refuses a file that another process replaces with the same bytes.
  std::ifstream in(path, std::ios::binary);
  std::error_code error;
  if (!in && !std::filesystem::exists(path, error)) return std::nullopt;
  if (!in) throw FormatError(path, "it must be a file that can be opened for reading");
  std::ostringstream text;
  text << in.rdbuf();
  OrderedJson json = read_json(text.str());
  if (!json.is_object() || !is_result(json)) {
    throw FormatError(path, "it must be the result of a run; remove it to compute the run again");
  }
  return json;
}

}  // namespace eigenscope
