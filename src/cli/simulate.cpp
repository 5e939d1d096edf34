#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"

namespace eigenscope::cli {
namespace {

struct SimulateCommand {
  explicit SimulateCommand(CLI::App& app)
      : ensemble(app, numbers), tokens(app, numbers, "random-walk") {
    for (const char* name : {"temperature", "samples"}) numbers.add(app, name);
    app.add_flag("--csv", csv, "one row a position (simulation beside theory) instead of JSON");
  }

  void run() const {
    Simulation simulation({.ensemble = ensemble.settings(),
                           .tokens = tokens.process(),
                           .temperature = numbers.number("temperature"),
                           .samples = numbers.integer("samples"),
                           .points = {ensemble.point()}});
    run_with_progress(simulation, "sequences");
    const SpectrumPoint point = ensemble.point();
    const Json theory = to_json(simulation.theory(0));
    const Json sampled = to_json(simulation.estimate(0));
    if (csv) {
      Json columns = sampled;
      for (const char* name : {"mean", "std", "rho"}) {
        columns[std::string("theory_") + name] = theory[name];
      }
      write_csv(std::cout, rows_by_position(columns));
    } else {
      std::cout << Json{{"moments",
                         to_json(simulation.ensemble().moments(point.mean, point.variance))},
                        {"theory", theory},
                        {"simulation", sampled}}
                << '\n';
    }
  }

  Numbers numbers;
  EnsembleOptions ensemble;
  TokenOptions tokens;
  bool csv = false;
};

}  // namespace

void add_simulate(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Monte Carlo of attention rows beside the theory, with standard errors");
  command->footer(
      "Example: does a small variance localize?\n"
      "  eigenscope simulate --mean 0.25 --variance 0.001 --samples 10000\n"
      "  eigenscope simulate --mean 0.25 --variance 1 --samples 10000");
  const auto options = std::make_shared<SimulateCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
