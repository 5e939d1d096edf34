#include "collapse/collapse.h"

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

constexpr std::string_view kRenamed = "stacks";  // the library's name for --samples of this command

/// --depth, --heads, ... of a stack, shared by both commands.
class StackOptions {
 public:
  StackOptions(CLI::App& app, Numbers& numbers, std::initializer_list<const char*> coordinates)
      : numbers_(numbers),
        ensemble_(app, numbers, coordinates),
        tokens_(app, numbers, "random-walk") {
    numbers.set_default("heads", "1");
    for (const char* name : {"depth", "heads", "skip", "mlp", "temperature", "window", "blocks"}) {
      numbers.add(app, name);
    }
    numbers.add(app, kRenamed, "samples");
    app.add_option("--layer-norm", place_, "none|pre|post (default pre)");
    app.add_option("--norm", norm_, "layer-norm|rms-norm (default layer-norm)");
    app.add_option("--mask", mask_, "full|causal|window|blocks (default causal)");
    app.add_option("--attention", softmax_, "exact|piecewise-linear|hard (default exact)");
    app.add_option("--values", values_, "identity|orthogonal|gaussian W_V (default orthogonal)");
    app.add_flag("--shared", shared_, "the same weights in every layer");
  }

  SpectrumPoint point() const { return ensemble_.point(); }

  StackSettings settings(const SpectrumPoint& point) const {
    return {.depth = numbers_.integer("depth"),
            .heads = numbers_.integer("heads"),
            .ensemble = ensemble_.settings(),
            .mean = point.mean,
            .variance = point.variance,
            .shared = shared_,
            .values = values_of_name(values_),
            .skip = numbers_.number("skip"),
            .place = norm_place_of_name(place_),
            .norm = norm_of_name(norm_),
            .softmax = softmax_of_name(softmax_),
            .mask = {mask_of_name(mask_), numbers_.integer("window"), numbers_.integer("blocks")},
            .mlp = numbers_.number("mlp"),
            .temperature = numbers_.number("temperature"),
            .tokens = tokens_.process()};
  }

  Eigen::Index samples() const { return numbers_.integer(kRenamed); }

 private:
  const Numbers& numbers_;
  EnsembleOptions ensemble_;
  TokenOptions tokens_;
  std::string place_ = "pre", norm_ = "layer-norm", mask_ = "causal", softmax_ = "exact",
              values_ = "orthogonal";
  bool shared_ = false;
};

// Every measure of a layer with its error.
void add_measures(Json& row, const Collapse& collapse, Eigen::Index layer) {
  for (std::size_t k = 0; k < kLayerMeasures.size(); ++k) {
    const Estimate estimate = collapse.estimate(layer, static_cast<LayerMeasure>(k));
    const std::string name(kLayerMeasures[k]);
    row[name] = estimate.value;
    row[name + "_error"] = estimate.error;
  }
}

void warn_of_overflow(const Collapse& collapse) {
  if (collapse.overflow_layer() == 0) return;
  std::cerr << "eigenscope: the tokens overflow in layer " << collapse.overflow_layer()
            << "; later layers have fewer samples or none\n";
}

struct CollapseCommand {
  explicit CollapseCommand(CLI::App& app) : stack(app, numbers, {"mean", "variance"}) {
    app.add_flag("--csv", csv, "one row a layer instead of JSON");
  }

  void run() const {
    Collapse collapse(stack.settings(stack.point()), stack.samples());
    run_with_progress(collapse, "layers");
    warn_of_overflow(collapse);
    Json rows = Json::array();
    for (Eigen::Index layer = 0; layer <= collapse.settings().depth; ++layer) {
      Json row{{"layer", layer}, {"samples", collapse.count(layer, LayerMeasure::residual)}};
      add_measures(row, collapse, layer);
      rows.push_back(row);
    }
    csv ? write_csv(std::cout, rows) : void(std::cout << Json{{"layers", rows}} << '\n');
  }

  Numbers numbers;
  StackOptions stack;
  bool csv = false;
};

struct CollapseMapCommand {
  explicit CollapseMapCommand(CLI::App& app) : stack(app, numbers, {}) {
    app.add_option("--means", means, "comma-separated means (default " + means + ")");
    app.add_option("--variances", variances,
                   "comma-separated variances (default " + variances + ")");
    app.add_flag("--csv", csv, "CSV instead of JSON");
  }

  void run() const {
    Json rows = Json::array();
    for (const double mean : number_list("mean", means)) {
      for (const double variance : number_list("variance", variances)) {
        Collapse collapse(stack.settings({mean, variance}), stack.samples());
        run_with_progress(collapse, "layers of one cell");
        warn_of_overflow(collapse);
        Json row{{"mean", mean}, {"variance", variance}};
        add_measures(row, collapse, collapse.settings().depth);
        rows.push_back(row);
      }
    }
    csv ? write_csv(std::cout, rows) : void(std::cout << Json{{"cells", rows}} << '\n');
  }

  Numbers numbers;
  StackOptions stack;
  std::string means = "0,0.125,0.25,0.5,1", variances = "0.01,0.1,1,10";
  bool csv = false;
};

}  // namespace

void add_collapse(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "collapse", "Rank and entropy of a stack of attention blocks, layer by layer");
  command->footer(
      "Example: pure attention collapses fast, a skip connection slows it\n"
      "  eigenscope collapse --skip 0 --layer-norm none --mask full --tokens ar1 --csv\n"
      "  eigenscope collapse --skip 1 --layer-norm none --mask full --tokens ar1 --csv");
  const auto options = std::make_shared<CollapseCommand>(*command);
  command->callback([options] { options->run(); });
}

void add_collapse_map(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "collapse-map", "Rank and entropy after the last layer over a grid of means and variances");
  command->footer(
      "Example:\n"
      "  eigenscope collapse-map --depth 12 --width 64 --length 64 --samples 4 --csv");
  const auto options = std::make_shared<CollapseMapCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
