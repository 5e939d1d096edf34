#include "cli/runs/checkpoint_grid.h"

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "checkpoint/open_checkpoint.h"
#include "cli/checkpoint_options.h"
#include "cli/inputs.h"
#include "cli/json_result.h"
#include "cli/runs/shard.h"
#include "experiment/cell.h"
#include "experiment/grid.h"
#include "io/replace_file.h"
#include "operations/operations.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

constexpr std::array kMeasuring{&heads_operation, &predict_operation};

const Operation& measuring_operation(const Json& name) {
  std::string names;
  for (const Operation* operation : kMeasuring) {
    if (name == operation->name) return *operation;
    names += (names.empty() ? "" : ", ") + std::string(operation->name);
  }
  throw InvalidArgument("operation", "be one of " + names, "found " + write_json(name));
}

/// A path as the name of a file.
std::string cell_id(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  std::replace(path.begin(), path.end(), '/', '+');
  return path;
}

/// The value as text, as after "--option=". Throws InvalidArgument (`name`) for objects, null and empty lists.
std::string typed_value(const std::string& name, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return write_json(value);
  if (!value.is_array() || value.empty()) {
    throw InvalidArgument(name, "be a number, a text, a list of them or true",
                          "found " + write_json(value));
  }
  std::string list;
  for (const Json& item : value) list += (list.empty() ? "" : ",") + typed_value(name, item);
  return list;
}

/// The operation's command, as it reads a checkpoint and options.
class Measurement {
 public:
  Measurement(const CheckpointGrid& grid, const CheckpointGrid::Cell& cell) {
    CLI::App app;
    checkpoint_.add_to(app, *grid.operation);
    fields_.add_to(app, *grid.operation);
    std::vector<std::string> last_first{cell.checkpoint, "--"};
    for (const auto& [name, value] : grid.options.items()) {
      const bool flag = value.is_boolean() && value.get<bool>();
      last_first.push_back(option_name(name) + (flag ? "" : "=" + typed_value(name, value)));
    }
    try {
      app.parse(last_first);
    } catch (const CLI::ParseError& error) {
      throw InvalidArgument("options", "be options of the command", error.what());
    }
    TypedFields::Reader reader(fields_);
    checkpoint_.give(reader);
    job_ = grid.operation->job(reader);
  }

  Json result() {
    run_job(*job_);
    return json_of(*job_);
  }

 private:
  CheckpointOptions checkpoint_;
  TypedFields fields_;
  std::unique_ptr<Job> job_;
};

std::string cell_path(const std::string& folder, const CheckpointGrid::Cell& cell) {
  return folder + "/" + cell.id + ".json";
}

/// The fields of a result file that identify its cell, before `result`.
Json description(const CheckpointGrid& grid, const CheckpointGrid::Cell& cell) {
  return {{"experiment", grid.experiment},
          {"id", cell.id},
          {"checkpoint", cell.checkpoint},
          {"operation", grid.operation->name},
          {"options", grid.options}};
}

std::optional<Json> result_of_cell(const CheckpointGrid& grid, const CheckpointGrid::Cell& cell,
                                   const std::string& folder) {
  const std::string path = cell_path(folder, cell);
  const std::optional<Json> json =
      read_cell(path, [](const Json& file) { return file.contains("result"); });
  if (!json) return std::nullopt;
  const Json described = description(grid, cell);
  for (const auto& [key, value] : described.items()) {
    if (json->value(key, Json()) == value) continue;
    throw FormatError(path,
                      "it is of another grid: its `" + key +
                          "` differs; give another --out, or remove the file to run it again");
  }
  return json;
}

}  // namespace

bool has_checkpoints(const std::string& json) {
  const Json grid = read_json(json);
  return grid.is_object() && grid.contains("checkpoints");
}

CheckpointGrid parse_checkpoint_grid(const std::string& json) {
  const Json source = read_json(json, "grid");
  if (!source.is_object()) throw InvalidArgument("grid", "be a JSON object");
  check_keys("", source, "a grid of checkpoints",
             {"experiment", "operation", "checkpoints", "options"});
  CheckpointGrid grid;
  grid.experiment = required(source, "experiment", "a text", &Json::is_string);
  grid.operation = &measuring_operation(required(source, "operation", "a text", &Json::is_string));
  grid.source = source;
  if (source.contains("options")) grid.options = source["options"];
  if (!grid.options.is_object()) {
    throw InvalidArgument("options", "be an object of options");
  }
  const Json checkpoints = source.value("checkpoints", Json());
  if (!checkpoints.is_array() || checkpoints.empty()) {
    throw InvalidArgument("checkpoints", "be a list of paths");
  }
  std::set<std::string> ids;
  for (const Json& path : checkpoints) {
    if (!path.is_string() || path == "")
      throw InvalidArgument("checkpoints", "be a list of paths", "found " + write_json(path));
    for (const std::string& checkpoint : find_checkpoints(path)) {
      grid.cells.push_back({cell_id(checkpoint), checkpoint});
      if (!ids.insert(grid.cells.back().id).second) {
        throw InvalidArgument("checkpoints", "have each checkpoint once",
                              checkpoint + " occurs twice");
      }
    }
  }
  return grid;
}

Json collect_checkpoints(const CheckpointGrid& grid, const std::string& folder) {
  Json missing = Json::array(), cells = Json::array();
  for (const CheckpointGrid::Cell& cell : grid.cells) {
    const std::optional<Json> result = result_of_cell(grid, cell, folder);
    if (!result) {
      missing.push_back(cell.id);
    } else {
      cells.push_back(
          {{"id", cell.id}, {"checkpoint", cell.checkpoint}, {"result", result->at("result")}});
    }
  }
  return {{"experiment", grid.experiment},
          {"grid", grid.source},
          {"missing", missing},
          {"cells", cells}};
}

void CheckpointGridOptions::add_to(CLI::App& app, const Operation& operation) {
  if (std::find(kMeasuring.begin(), kMeasuring.end(), &operation) == kMeasuring.end()) return;
  app_ = &app;
  operation_ = &operation;
  CLI::Option* const model = app.get_option("MODEL");
  grid_option_ = app.add_option_function<std::string>(
      "--grid",
      [this, model](const std::string& path) {
        grid_ = path;
        model->required(false);
      },
      "grid file: JSON with checkpoints and options (docs/cluster.md); needs --out");
  refuse_empty(grid_option_);
  refuse_empty(app.add_option("--shard", shard_,
                              "share I/N of the grid's checkpoints, such as 2/8 for every eighth"))
      ->needs(grid_option_);
  refuse_empty(app.add_option("--out", out_, "folder of the grid's results"))->needs(grid_option_);
}

void CheckpointGridOptions::run() const {
  check_beside_grid(*app_, grid_option_, out_);
  const Shard shard = parse_shard(shard_);
  const CheckpointGrid grid = parsed(grid_, read_text(grid_), parse_checkpoint_grid);
  if (grid.operation != operation_) {
    throw FormatError(grid_, "operation must be that of the command, `" +
                                 std::string(operation_->name) + "`: found `" +
                                 std::string(grid.operation->name) + "`");
  }
  make_folder(out_);
  std::size_t failed = 0;
  for (std::size_t i = shard.number - 1; i < grid.cells.size(); i += shard.of) {
    const CheckpointGrid::Cell& cell = grid.cells[i];
    if (result_of_cell(grid, cell, out_)) continue;
    Json json = description(grid, cell);
    try {
      json["result"] = Measurement(grid, cell).result();
    } catch (const FormatError& problem) {
      note(cell.checkpoint + ": " + problem.what());
      ++failed;
      continue;
    } catch (const InvalidArgument& problem) {
      // The grid's options are wrong, which most often affects every checkpoint: stop.
      throw FormatError(grid_, cell.checkpoint + ": " + problem.what());
    }
    replace_file(cell_path(out_, cell), write_json(json, 1) + "\n");
  }
  if (failed > 0) {
    throw FormatError(
        grid_, std::to_string(failed) +
                   " of the checkpoints of this share have no result; their messages are above");
  }
}

}  // namespace eigenscope::cli
