#include <filesystem>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/options.h"
#include "cli/runs/checkpoint_grid.h"
#include "cli/runs/runs_folder.h"
#include "experiment/cell.h"
#include "experiment/collect.h"
#include "io/replace_file.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

// JSON with one line for each cell, so that added cells are added lines in a diff.
std::string json_text(Json results) {
  std::string lines;
  for (const Json& cell : results.at("cells")) {
    lines += (lines.empty() ? "\n  " : ",\n  ") + write_json(cell);
  }
  results.erase("cells");
  std::string text = write_json(results, 1);
  text.resize(text.size() - 2);  // without the last brace
  return text + ",\n \"cells\": [" + lines + "\n ]\n}\n";
}

struct CollectCommand {
  explicit CollectCommand(CLI::App& app) {
    refuse_empty(
        app.add_option("GRID", grid, "grid file of `train`, `heads` or `predict`")->required());
    refuse_empty(
        app.add_option("--cells", cells,
                       "folder of the grid's results, the --out of `train`, `heads` or `predict`")
            ->required());
    refuse_empty(
        app.add_option("--out", out,
                       "file for the results; default: standard output. An existing file is "
                       "replaced only by results of the same experiment with all of its runs"));
  }

  void run() const {
    if (!std::filesystem::is_directory(cells)) throw FormatError(cells, "there is no such folder");
    const std::string source = read_text(grid);
    const Json results =
        has_checkpoints(source)
            ? collect_checkpoints(parsed(grid, source, parse_checkpoint_grid), cells)
            : collected_runs(parsed(grid, source, parse_grid));
    const std::string text = json_text(results);
    if (out.empty()) {
      std::cout << text;
    } else {
      check_replaces(out, results);
      replace_file(out, text);
    }
    const std::size_t missing = results.at("missing").size();
    if (missing > 0) {
      note(std::to_string(missing) + " of " + std::to_string(missing + results.at("cells").size()) +
           " results are missing, such as " + write_json(results.at("missing").front()));
    }
  }

  Json collected_runs(const Grid& parsed) const {
    const CellFolder folder(cells);
    std::string text;  // fingerprint in the first result that has one
    return collect_results(parsed, [&](const GridCell& cell) {
      std::optional<Json> result = folder.result(parsed, cell, text);
      if (result && text.empty()) text = CellFolder::text_of(*result);
      return result;
    });
  }

  std::string grid, cells, out;
};

}  // namespace

void add_collect(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "collect", "Merge the results of a grid of training runs or checkpoints into one file");
  command->footer(
      "Example:\n"
      "  eigenscope train --grid docs/experiments/learning-rate.grid.json --shard 1/2 --out cells\n"
      "  eigenscope collect docs/experiments/learning-rate.grid.json --cells cells");
  const auto options = std::make_shared<CollectCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
