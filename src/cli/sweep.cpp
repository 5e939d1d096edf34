#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "simulation/sweep.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

struct SweepCommand {
  explicit SweepCommand(CLI::App& app)
      : ensemble(app, numbers), tokens(app, numbers, "random-walk") {
    for (const char* name : {"temperature", "samples"}) numbers.add(app, name);
    app.add_option("--means", means, "comma-separated means, instead of --mean");
    app.add_option("--variances", variances,
                   "comma-separated variances (default: 25 from 0.0001 to 100)");
    app.add_option("--from", from, "smallest variance of a range, with --to and --count");
    app.add_option("--to", to, "largest variance of the range");
    app.add_option("--count", count, "how many variances, at equal ratios");
    app.add_flag("--csv", csv, "CSV instead of JSON");
  }

  std::vector<double> variance_list() const {
    if (variances.empty()) {
      return geometric_range(parse_parameter("variance", from), parse_parameter("variance", to),
                             static_cast<Eigen::Index>(parse_parameter("count", count)));
    }
    return number_list("variance", variances);
  }

  void run() const {
    const std::vector<double> mean_list =
        means.empty() ? std::vector<double>{ensemble.point().mean} : number_list("mean", means);
    Sweep sweep({.ensemble = ensemble.settings(),
                 .tokens = tokens.process(),
                 .temperature = numbers.number("temperature"),
                 .samples = numbers.integer("samples"),
                 .points = {}},
                mean_list, variance_list());
    run_with_progress(sweep, "sequences for every point");
    Json rows = Json::array();
    for (std::size_t i = 0; i < sweep.size(); ++i) rows.push_back(row(sweep, i));
    csv ? write_csv(std::cout, rows) : void(std::cout << Json{{"rows", rows}} << '\n');
  }

  // A point that the ensemble cannot have keeps its row: its numbers are null and `refused` says why.
  static Json row(const Sweep& sweep, std::size_t i) {
    Json json{{"mean", sweep.point(i).mean}, {"variance", sweep.point(i).variance}};
    const Propagation theory = sweep.theory(i);
    json["theory_localization"] = theory.localization;
    json["theory_regime"] = regime_name(theory.regime);
    json.update(measures_to_json(sweep.estimate(i)));
    json["refused"] = sweep.refused(i);
    return json;
  }

  Numbers numbers;
  EnsembleOptions ensemble;
  TokenOptions tokens;
  std::string means, variances, from = "0.0001", to = "100", count = "25";
  bool csv = false;
};

}  // namespace

void add_sweep(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "sweep",
      "Localization, entropy and participation over a list or range of variances: the data "
      "of the page's main plot, one row a mean and variance");
  command->footer(
      "Examples:\n"
      "  eigenscope sweep --mean 0.25 --variances 0.001,0.01,0.1,1,10 --csv\n"
      "  eigenscope sweep --means 0.1,0.5 --from 0.001 --to 10 --count 20 --ensemble two-point");
  const auto options = std::make_shared<SweepCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
