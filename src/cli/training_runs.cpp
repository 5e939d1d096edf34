#include "cli/training_runs.h"

#include <chrono>
#include <iostream>
#include <optional>

#include "cli/progress.h"
#include "cli/training_log.h"
#include "support/error.h"
#include "support/parameter.h"
#include "training/export_file.h"
#include "training/text_sampler.h"

namespace eigenscope::cli {
namespace {

std::string shown_validation(const std::string& path) {
  return path.empty() ? "the last tenth of the text" : path;
}

// A run goes on as it began, or not at all.
void check_validation(const std::string& wanted, const std::string& found) {
  if (wanted == found) return;
  throw InvalidArgument("validation", shown_validation(wanted) +
                                          " is not allowed; the run to go on with has " +
                                          shown_validation(found));
}
void check_same(const TrainSettings& wanted, const TrainSettings& found) {
  for (const NumberField& field : number_fields()) {
    const double a = number_of(wanted, field), b = number_of(found, field);
    if (a != b) {
      throw InvalidArgument(std::string(field.name), shown(a) +
                                                         " is not allowed; the run to go on "
                                                         "with has " +
                                                         shown(b));
    }
  }
  for (const ChoiceField& field : choice_fields()) {
    if (field.get(wanted) != field.get(found)) {
      throw InvalidArgument(
          std::string(field.name),
          "the run to go on with has " + std::string(field.names[field.get(found)].name));
    }
  }
}

void keep(Trainer& trainer, const std::optional<RunFolder>& folder, FinishedRun& run) {
  const std::vector<LogRow> rows = trainer.take_log();
  if (rows.empty()) return;
  if (folder) {
    folder->append(rows);
    // After a failure the weights are not worth to go on from; the earlier file stays.
    if (trainer.failure().empty()) folder->save(trainer);
    run.rows.clear();  // the file has them
  }
  run.rows.insert(run.rows.end(), rows.begin(), rows.end());
}

/// Trains to the end; `show(trainer)` is called after each piece.
template <class Show>
void train(Trainer& trainer, const std::optional<RunFolder>& folder, FinishedRun& run, Show show) {
  const auto slice = static_cast<Eigen::Index>(1 + 5e7 / trainer.work_per_step());
  const auto start = std::chrono::steady_clock::now();
  const Eigen::Index first_step = trainer.steps_done();
  keep(trainer, folder, run);
  for (bool done = false; !done;) {
    done = trainer.advance(slice);
    keep(trainer, folder, run);
    show(trainer);
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  run.tokens_per_second = static_cast<double>((trainer.steps_done() - first_step) *
                                              run.settings.batch * run.settings.model.length) /
                          passed.count();
  run.failure = trainer.failure();
}

/// What there is to say of the last state.
void evaluate(Trainer& trainer, const RunPlan& plan, const RunOptions& options, FinishedRun& run) {
  if (!run.failure.empty()) {
    std::cerr << "\reigenscope: " << plan.folder << ": " << run.failure << '\n';
    return;
  }
  for (const std::string& name : options.interventions) {
    run.interventions.emplace_back(
        name, trainer.evaluate(intervention_of_name(name, options.tame, trainer.model())));
  }
  if (run.rows.empty()) run.rows.push_back(trainer.evaluate());  // it was finished before
}

/// `begun(trainer)` is called with the state that the folder has; see `train` for `show`.
template <class Begun, class Show>
FinishedRun make_one(const RunPlan& plan, const RunOptions& options, Begun begun, Show show) {
  FinishedRun run{plan.settings, {}, {}, 0, ""};
  std::optional<RunFolder> folder;
  if (!options.out.empty()) {
    folder.emplace(options.out + "/" + plan.folder, options.validation, options.csv);
  }
  std::optional<Safetensors> checkpoint;
  if (folder && options.resume) checkpoint = folder->checkpoint();
  Trainer trainer =
      checkpoint ? Trainer(*checkpoint, options.text) : Trainer(plan.settings, options.text);
  if (checkpoint) {
    check_same(plan.settings, trainer.settings());
    check_validation(options.validation, validation_of(*checkpoint));
  }
  if (checkpoint) {
    const std::string note = folder->resume_log(trainer.steps_done(), trainer.settings());
    if (!note.empty()) std::cerr << "eigenscope: " << note << '\n';
  } else if (folder) {
    folder->begin_log();
  }
  begun(trainer);
  train(trainer, folder, run, show);
  evaluate(trainer, plan, options, run);
  if (folder && options.exported && run.failure.empty()) {
    folder->export_as(trainer, *options.exported);
  }
  return run;
}

double steps_of(const RunPlan& plan) { return static_cast<double>(plan.settings.optimizer.steps); }

}  // namespace

void add_plans(std::vector<RunPlan>& plans, TrainSettings settings, std::uint64_t first,
               Eigen::Index seeds, const std::string& prefix) {
  for (Eigen::Index k = 0; k < seeds; ++k) {
    settings.seed = first + static_cast<std::uint64_t>(k);
    plans.push_back({settings, prefix + std::string(regularizer_name(settings.regularizer.kind)) +
                                   "-seed" + std::to_string(settings.seed)});
  }
}

std::vector<FinishedRun> make_runs(const std::vector<RunPlan>& plans, const RunOptions& options,
                                   const char* noun) {
  double all = 0, before = 0, found = 0;
  for (const RunPlan& plan : plans) {
    Trainer(plan.settings, options.text);  // refuses before the first hour
    if (options.exported) export_family(plan.settings.model);
    all += steps_of(plan);
  }
  const Progress progress(noun);
  std::vector<FinishedRun> finished;
  for (const RunPlan& plan : plans) {
    const auto show = [&](const Trainer& trainer) {
      progress.show(before + static_cast<double>(trainer.steps_done()), all, found);
    };
    const auto begun = [&](const Trainer& trainer) {
      found += static_cast<double>(trainer.steps_done());
      show(trainer);
    };
    finished.push_back(make_one(plan, options, begun, show));
    before += steps_of(plan);
  }
  return finished;
}

}  // namespace eigenscope::cli
