// `eigenscope train`: the operation for many runs in one call.
#include <array>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "cli/commands.h"
#include "cli/inputs.h"
#include "cli/operation_command.h"
#include "cli/options.h"
#include "cli/runs/runs_folder.h"
#include "cli/runs/training_runs.h"
#include "experiment/grid.h"
#include "io/replace_file.h"
#include "operations/operations.h"
#include "operations/train_input.h"
#include "support/error.h"
#include "support/parameter.h"
#include "training/regularizers/regularizer.h"
#include "training/text_sampler.h"

namespace eigenscope::cli {
namespace {

constexpr Parameter kSaveEvery{"save_every", reals(0, 1e6), 30,
                               "grids: seconds between saved states of an unfinished run"};
constexpr Parameter kStepWeights{"step_weights", integers(0, 1e7), 0,
                                 "steps between 16-bit checkpoints of the weights, from step 0 on, "
                                 "in folders <run>/steps/stepN; 0 keeps none"};

/// Numbers of this command beside the fields of the operation.
struct RunsInput {
  Eigen::Index seeds = 0, step_weights = 0;
  double tame = 0, save_every = 0;
};
void describe(InputFields& f, RunsInput& in) {
  f.number(kSeeds, in.seeds);
  f.number(kTame, in.tame);
  f.number(kSaveEvery, in.save_every);
  f.number(kStepWeights, in.step_weights);
}

/// Reads the options for the fields of a run, which may name several regularizers, without its texts.
class RunReader final : public InputFields {
 public:
  explicit RunReader(const TypedFields& typed) : typed_(typed) {}
  void visit(const InputField& field) override {
    const std::string name = field.name;
    if (name == "text") return;
    if (name == "regularizer" && typed_.given(name)) {
      kinds.clear();
      for (const std::string& item : distinct_items(name, typed_.text(name))) {
        kinds.push_back(value_of_name<RegularizerKind>(name, item, field.names));
      }
    } else {
      reader_.visit(field);
    }
  }
  std::vector<RegularizerKind> kinds{RegularizerKind::none};

 private:
  const TypedFields& typed_;
  TypedFields::Reader reader_{typed_};
};

struct TrainCommand {
  explicit TrainCommand(CLI::App& app) : command(&app) {
    fields.add_to(app, train_operation.describe_input, {"checkpoint", "more"});
    extend(app, "--regularizer", "; several with commas");
    extend(app, "--text", std::string(" (default ") + kDefaultText + ")");
    fields.add_to(app, [](InputFields& f) {
      RunsInput input;
      describe(f, input);
    });
    refuse_empty(app.add_option("--validation", validation,
                                "validation text, with the vocabulary of --text; default: the last "
                                "tenth of --text, which is excluded from training"));
    refuse_empty(app.add_option("--out", out,
                                "folder for logs and checkpoints, with one folder per run; must "
                                "be new or empty without --resume or --grid"));
    refuse_empty(app.add_option("--config", config, "JSON file with values of these options"));
    refuse_empty(
        app.add_option("--intervention", interventions,
                       "also evaluate the trained models with hard|tame attention, or hard,tame"));
    refuse_empty(app.add_option("--prompt", prompt,
                                "also print the attention of the trained models on this sentence, "
                                "as run-attention does; needs JSON"));
    refuse_empty(app.add_option("--export", exported,
                                "also write each trained model to <run>/export with the tensor "
                                "names of GPT-2 or LLaMA, in the type f32|f16|bf16"));
    refuse_empty(app.add_option("--weights", weights,
                                "also write the weights and settings of each trained model to "
                                "<run>/weights.safetensors in the type f32|f16|bf16, without the "
                                "optimizer state that --resume needs"));
    app.add_flag("--resume", resume, "resume the runs in --out and start the missing ones");
    grid_option = refuse_empty(
        app.add_option("--grid", grid_path,
                       "grid file: JSON with many training runs (docs/cluster.md); needs --out"));
    refuse_empty(app.add_option("--shard", shard,
                                "share I/N of the grid's runs, such as 2/8 for every eighth"))
        ->needs(grid_option);
    refuse_empty(
        app.add_option("--missing", missing,
                       "results file of the grid; compute only the runs that it lists as missing"))
        ->needs(grid_option);
    app.add_flag("--csv", csv, "CSV instead of JSON, also of the logs");
  }

  void run() {
    if (grid_option->count() > 0) {
      check_beside_grid(*command, grid_option, out, {"out", "save-every"});
      Grid grid = parsed(grid_path, read_text(grid_path), parse_grid);
      if (!missing.empty()) keep_missing(grid, read_json(read_text(missing), missing), missing);
      return run_cells(grid, parse_shard(shard), out, input().save_every);
    }
    load_config();
    const Grid grid = grid_of_options();
    const RunOptions options = run_options();
    check_default_text(grid.text);
    std::optional<RunsFolder> folder;
    if (!out.empty()) folder.emplace(out, resume);
    print(grid, run_folders(grid, options));
  }

 private:
  static void extend(CLI::App& app, const char* name, const std::string& more) {
    CLI::Option* const option = app.get_option(name);
    option->description(option->get_description() + more);
  }

  // The keys of the file are option names with underscores. An option on the command line takes precedence.
  void load_config() {
    if (config.empty()) return;
    const Json json = read_json(read_text(config), config);
    if (!json.is_object()) throw FormatError(config, "it must be a JSON object");
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string() && !value.is_number()) {
        throw FormatError(key, "it must be a number or a text in " + config);
      }
      if (value == "") throw FormatError(key, "it must not be empty in " + config);
      const std::string text = value.is_string() ? value.get<std::string>() : write_json(value);
      if (key == "out" || key == "validation") {
        std::string& path = key == "out" ? out : validation;
        if (path.empty()) path = text;
      } else if (!fields.give(key, text)) {
        throw InvalidArgument("config", "have names of options of the command",
                              config + " has '" + key + "'");
      }
    }
  }

  RunsInput input() const {
    RunsInput runs;
    TypedFields::Reader reader(fields);
    describe(reader, runs);
    return runs;
  }

  Grid grid_of_options() const {
    RunReader reader(fields);
    TrainInput train;
    describe(reader, train);
    Grid grid = short_grid(train.settings, reader.kinds, input().seeds);
    grid.text = fields.given("text") ? fields.text("text") : kDefaultText;
    grid.validation = validation;
    grid.tokenizer = kTokenizerNames[train.text.tokenizer].name;
    grid.min_count = train.text.min_count;
    if (fields.given("min_count") && grid.tokenizer == "bytes") {
      throw InvalidArgument("min_count", "be omitted without --tokenizer words");
    }
    return grid;
  }

  RunOptions run_options() const {
    RunOptions options{out, csv, resume};
    options.tame = input().tame;
    options.prompt = prompt;
    if (csv && !prompt.empty()) throw InvalidArgument("prompt", "be omitted with --csv");
    if (resume) check_out("resume");
    options.exported = format_of("export", exported);
    options.weights = format_of("weights", weights);
    options.step_weights = input().step_weights;
    if (options.step_weights > 0) check_out("step_weights");
    if (!interventions.empty()) {
      options.interventions = distinct_items("intervention", interventions);
      const Model<float> smallest(ModelSettings{.depth = 0});
      for (const std::string& name : options.interventions) {
        intervention_of_name(name, options.tame, smallest);  // refuses before training
      }
    }
    return options;
  }

  // The tensor format that an option names, which needs --out; nothing without a name.
  std::optional<TensorFormat> format_of(const std::string& option, const std::string& name) const {
    static constexpr std::array kFormats{Choice{"f32", ""}, Choice{"f16", ""}, Choice{"bf16", ""}};
    if (name.empty()) return {};
    check_out(option);
    return value_of_name<TensorFormat>(option, name, kFormats);
  }

  void check_out(const std::string& option) const {
    if (out.empty()) throw InvalidArgument(option, "be given with --out, the folder of the runs");
  }

  void print(const Grid& grid, const std::vector<FinishedRun>& runs) const {
    const Json table = table_of(grid, runs);
    if (!out.empty()) {
      std::ostringstream text;
      if (csv) {
        write_csv(text, table);
      } else {
        text << write_json(table, 2) << '\n';
      }
      replace_file(out + (csv ? "/table.csv" : "/table.json"), text.str());
    }
    if (csv) {
      write_csv(std::cout, table);
    } else {
      std::cout << write_json({{"runs", runs_json(runs, out.empty())}, {"table", table}}) << '\n';
    }
    for (const FinishedRun& run : runs) {
      if (!run.failure.empty()) throw FormatError("train", "a run failed; its message is above");
    }
  }

  const CLI::App* command;
  TypedFields fields;
  CLI::Option* grid_option;
  std::string validation, out, config, interventions, prompt, exported, weights, grid_path, shard,
      missing;
  bool resume = false, csv = false;
};

}  // namespace

void add_train(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand(train_operation.name, std::string(train_operation.meaning.text()));
  command->footer(
      "Trains every regularizer with every seed and prints the runs and a table that compares "
      "them\n"
      "with paired t tests; the page's job is one run. With --out each run has a folder with its\n"
      "log, its checkpoint model.safetensors with GPT-2's tensor names (for `eigenscope heads` "
      "and\n"
      "the page), config.json and, for bytes, tokenizer.json (for `eigenscope attend` and\n"
      "`predict`). --resume continues an interrupted run bit by bit. A folder that is not "
      "empty is refused\n"
      "without --resume, and while another process trains in it. The path `-` is standard input;\n"
      "pipes are allowed. docs/cluster.md explains grids.\n" +
      footer_of(train_operation));
  const auto options = std::make_shared<TrainCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
