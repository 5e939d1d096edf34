#include "cli/runs/training_runs.h"

#include <algorithm>
#include <chrono>
#include <iostream>
#include <limits>
#include <set>

#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/runs/training_log.h"
#include "experiment/cell.h"
#include "experiment/collect.h"
#include "io/byte_source.h"
#include "support/error.h"
#include "support/parameter.h"
#include "training/export_file.h"
#include "training/regularizers/regularizer.h"
#include "training/text_sampler.h"
#include "training/training_file.h"

namespace eigenscope::cli {
namespace {

std::shared_ptr<const Text> read_text_of(const Grid& grid) {
  return std::make_shared<const Text>(
      read_training_text(grid.text, grid.validation, grid.tokenizer, grid.min_count));
}

std::string shown_validation(const std::string& path) {
  return path.empty() ? "the last tenth of the text" : path;
}

// A resumed run must have the validation text and the settings with which it began.
void check_validation(const std::string& wanted, const std::string& resumed) {
  if (wanted == resumed) return;
  throw InvalidArgument("validation", "be that of the resumed run, " + shown_validation(resumed),
                        "found " + shown_validation(wanted));
}
void check_same(const TrainSettings& wanted, const TrainSettings& resumed) {
  for (const NumberField& field : number_fields()) {
    const double a = number_of(wanted, field), b = number_of(resumed, field);
    if (a != b) {
      throw InvalidArgument(std::string(field.name), "be that of the resumed run, " + shown(b),
                            "found " + shown(a));
    }
  }
  for (const ChoiceField& field : choice_fields()) {
    if (field.get(wanted) != field.get(resumed)) {
      throw InvalidArgument(
          std::string(field.name),
          "be that of the resumed run, " + std::string(field.names[field.get(resumed)].name),
          "found " + std::string(field.names[field.get(wanted)].name));
    }
  }
}

void keep(Trainer& trainer, const std::optional<RunFolder>& folder, FinishedRun& run) {
  const std::vector<LogRow> rows = trainer.take_log();
  if (rows.empty()) return;
  if (folder) {
    folder->append(rows);
    // A failed run cannot be resumed from its weights; the earlier file stays.
    if (trainer.failure().empty()) folder->save(trainer);
    run.rows.clear();  // the file has them
  }
  run.rows.insert(run.rows.end(), rows.begin(), rows.end());
}

/// Keeps the weights of every `step_weights`th step, from step 0 on; returns how many steps there are to the next.
Eigen::Index keep_weights(const Trainer& trainer, const std::optional<RunFolder>& folder,
                          Eigen::Index step_weights) {
  if (step_weights == 0) return std::numeric_limits<Eigen::Index>::max();
  const Eigen::Index past = trainer.steps_done() % step_weights;
  if (past == 0 && trainer.failure().empty()) folder->save_step(trainer);
  return step_weights - past;
}

/// Trains to the end; `show(trainer)` is called after each piece.
template <class Show>
void train(Trainer& trainer, const std::optional<RunFolder>& folder, Eigen::Index step_weights,
           FinishedRun& run, Show show) {
  const auto slice = static_cast<Eigen::Index>(1 + 5e7 / trainer.work_per_step());
  const auto start = std::chrono::steady_clock::now();
  const Eigen::Index first_step = trainer.steps_done();
  keep(trainer, folder, run);
  for (bool done = false; !done;) {
    const Eigen::Index left = keep_weights(trainer, folder, step_weights);
    done = trainer.advance(std::min(slice, left));
    keep(trainer, folder, run);
    show(trainer);
  }
  keep_weights(trainer, folder, step_weights);
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  const TrainSettings& settings = trainer.settings();
  run.tokens_per_second = static_cast<double>((trainer.steps_done() - first_step) * settings.batch *
                                              settings.model.length) /
                          passed.count();
  run.failure = trainer.failure();
}

std::string folder_of(const GridCell& cell) {
  return cell.axes.front().second + "-seed" + std::to_string(cell.seed);
}

/// Attention of the present state. Throws as attend_to.
Attended attention_of(const Trainer& trainer, const std::string& prompt) {
  TrainedModel trained =
      read_model(Safetensors(std::make_shared<MemorySource>("the run", trainer.checkpoint())));
  return attend_to(trained, prompt);
}

/// Attention weights as lists of layers, heads, queries and keys.
Json weights_json(const Attended& attended) {
  const std::size_t length = attended.tokens.size();
  const float* next = attended.weights.data();
  Json layers = Json::array();
  for (Eigen::Index layer = 0; layer < attended.layers; ++layer) {
    Json heads = Json::array();
    for (Eigen::Index head = 0; head < attended.heads; ++head) {
      Json rows = Json::array();
      for (std::size_t query = 0; query < length; ++query, next += length) {
        rows.push_back(std::vector<float>(next, next + length));
      }
      heads.push_back(std::move(rows));
    }
    layers.push_back(std::move(heads));
  }
  return layers;
}

/// Evaluates the last state with each intervention, and its attention on the prompt.
void evaluate(Trainer& trainer, const RunOptions& options, FinishedRun& run) {
  if (!run.failure.empty()) {
    std::cerr << '\r';  // over the line of progress
    note(folder_of(*run.cell) + ": " + run.failure);
    return;
  }
  for (const std::string& name : options.interventions) {
    run.interventions.emplace_back(
        name, trainer.evaluate(intervention_of_name(name, options.tame, trainer.model())));
  }
  if (!options.prompt.empty()) run.attention = attention_of(trainer, options.prompt);
  if (run.rows.empty()) run.rows.push_back(trainer.evaluate());  // it was finished before
}

/// `begun(trainer)` is called with the state that the folder has; see `train` for `show`.
template <class Begun, class Show>
FinishedRun make_one(const Grid& grid, const GridCell& cell,
                     const std::shared_ptr<const Text>& text, const RunOptions& options,
                     Begun begun, Show show) {
  FinishedRun run{.cell = &cell};
  std::optional<RunFolder> folder;
  if (!options.out.empty()) {
    folder.emplace(options.out + "/" + folder_of(cell), grid.validation, options.csv);
  }
  std::optional<Safetensors> checkpoint;
  if (folder && options.resume) checkpoint = folder->checkpoint();
  Trainer trainer = checkpoint ? Trainer(*checkpoint, text) : Trainer(cell.settings, text);
  if (checkpoint) {
    check_same(cell.settings, trainer.settings());
    check_validation(grid.validation, validation_of(*checkpoint));
    check_text_of(*checkpoint, *text);
    const std::string missing = folder->resume_log(trainer.steps_done(), trainer.settings());
    if (!missing.empty()) note(missing);
  } else if (folder) {
    folder->begin_log();
  }
  begun(trainer);
  train(trainer, folder, options.step_weights, run, show);
  evaluate(trainer, options, run);
  if (folder && options.exported && run.failure.empty()) {
    folder->export_as(trainer, *options.exported);
  }
  if (folder && options.weights && run.failure.empty()) {
    folder->save_weights(trainer, *options.weights);
  }
  return run;
}

double steps_of(const GridCell& cell) { return static_cast<double>(cell.settings.optimizer.steps); }

}  // namespace

Grid short_grid(const TrainSettings& settings, const std::vector<RegularizerKind>& regularizers,
                Eigen::Index seeds) {
  Grid grid;
  grid.measures = {"bits_per_byte",    "perplexity",         "entropy",      "mean",    "variance",
                   "variance_modulus", "variance_frobenius", "localization", "residual"};
  grid.axes = {"regularizer"};
  grid.baseline_axis = "regularizer";
  grid.baseline_label = none_regularizer.name;
  for (const RegularizerKind kind : regularizers) {
    GridCell cell{"", {{"regularizer", std::string(regularizer_row(kind).name)}}, 0, settings};
    cell.settings.regularizer.kind = kind;
    check_training(cell.settings);
    for (Eigen::Index k = 0; k < seeds; ++k) {
      cell.seed = cell.settings.seed = settings.seed + static_cast<std::uint64_t>(k);
      grid.cells.push_back(cell);
    }
  }
  return grid;
}

void keep_missing(Grid& grid, const Json& results, const std::string& file) {
  const Json* const listed =
      results.is_object() && results.contains("missing") ? &results.at("missing") : nullptr;
  if (listed == nullptr || !listed->is_array()) {
    throw FormatError(file, "it must have `missing`, a list of the ids of runs");
  }
  const std::set<Json> ids(listed->begin(), listed->end());
  const auto is_missing = [&](const GridCell& cell) { return ids.contains(Json(cell.id)); };
  const auto end = std::stable_partition(grid.cells.begin(), grid.cells.end(), is_missing);
  grid.cells.erase(end, grid.cells.end());
  if (grid.cells.size() == ids.size()) return;
  throw FormatError(file,
                    "its `missing` must list runs of the grid only: " + std::to_string(ids.size()) +
                        " are listed, of which the grid has " + std::to_string(grid.cells.size()));
}

void run_cells(const Grid& grid, const Shard& shard, const std::string& out, double save_every) {
  const std::shared_ptr<const Text> text = read_text_of(grid);
  const std::string learned = fingerprint(*text);
  const CellFolder folder(out);
  std::vector<const GridCell*> cells;
  for (std::size_t i = shard.number - 1; i < grid.cells.size(); i += shard.of) {
    cells.push_back(&grid.cells[i]);
  }
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> between_saves(save_every);
  const Progress progress("cells");
  double done = 0, finished = 0;
  for (const GridCell* const cell : cells) {
    if (folder.result(grid, *cell, learned)) {
      ++finished;
    } else {
      auto saved = Clock::now();
      folder.run(grid, *cell, text, [&](double share) {
        progress.show(done + share, static_cast<double>(cells.size()), finished);
        if (Clock::now() - saved < between_saves) return false;
        saved = Clock::now();
        return true;
      });
    }
    ++done;
  }
}

std::vector<FinishedRun> run_folders(const Grid& grid, const RunOptions& options) {
  if (options.exported) {
    for (const GridCell& cell : grid.cells) export_family(cell.settings.model);
  }
  const std::shared_ptr<const Text> text = read_text_of(grid);
  double all = 0, before = 0, resumed = 0;
  for (const GridCell& cell : grid.cells) {
    const Trainer trainer(cell.settings, text);  // refuses before the first hour
    if (!options.prompt.empty()) attention_of(trainer, options.prompt);
    all += steps_of(cell);
  }
  const Progress progress("steps");
  std::vector<FinishedRun> finished;
  for (const GridCell& cell : grid.cells) {
    const auto show = [&](const Trainer& trainer) {
      progress.show(before + static_cast<double>(trainer.steps_done()), all, resumed);
    };
    const auto begun = [&](const Trainer& trainer) {
      resumed += static_cast<double>(trainer.steps_done());
      show(trainer);
    };
    finished.push_back(make_one(grid, cell, text, options, begun, show));
    before += steps_of(cell);
  }
  return finished;
}

Json runs_json(const std::vector<FinishedRun>& runs, bool rows) {
  Json list = Json::array();
  for (const FinishedRun& run : runs) {
    Json json{{"regularizer", run.cell->axes.front().second},
              {"seed", run.cell->seed},
              {"failure", run.failure},
              {"tokens_per_second", run.tokens_per_second}};
    if (rows) {
      json["rows"] = Json::array();
      for (const LogRow& row : run.rows) json["rows"].push_back(to_json(row));
    } else if (!run.rows.empty()) {
      json.update(row_means(run.rows.back()));
    }
    for (const auto& [name, row] : run.interventions) json["with_" + name] = row_means(row);
    if (run.attention) {
      json["attention"] = {{"tokens", run.attention->tokens},
                           {"weights", weights_json(*run.attention)}};
    }
    list.push_back(json);
  }
  return list;
}

Json table_of(const Grid& grid, const std::vector<FinishedRun>& runs) {
  const Json results = collect_results(grid, [&](const GridCell& cell) -> std::optional<Json> {
    const FinishedRun& run = runs[static_cast<std::size_t>(&cell - grid.cells.data())];
    return Json{{"failure", run.failure},
                {"final", run.rows.empty() ? Json() : row_means(run.rows.back())}};
  });
  Json table = Json::array();
  for (const Json& group : results.at("summary")) {
    for (const std::string& measure : grid.measures) {
      Json row{{"regularizer", group.at("axes").at("regularizer")}, {"measure", measure}};
      for (const char* const key : {"runs", "mean", "deviation", "difference", "t", "p"}) {
        row[key] = group.at(measure).value(key, Json());
      }
      table.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace eigenscope::cli
