#include <cmath>
#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "propagation/phase_map.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

struct MapCommand {
  explicit MapCommand(CLI::App& app) : tokens(app, numbers, "random-walk") {
    numbers.add(app, "asymmetry");
    app.add_option("--x-from", x_from, "smallest xi/lambda (default -8)");
    app.add_option("--x-to", x_to, "largest xi/lambda (default 8)");
    app.add_option("--y-from", y_from, "smallest sqrt(eta_F)/lambda, above 0 (default 0.01)");
    app.add_option("--y-to", y_to, "largest sqrt(eta_F)/lambda (default 100)");
    app.add_option("--count", count, "cells along each axis (default 25)");
    app.add_flag("--csv", csv, "CSV instead of JSON");
  }

  void run() const {
    const auto cells = static_cast<Eigen::Index>(parse_parameter("count", count));
    const Axis x{parse_parameter("xi", x_from), parse_parameter("xi", x_to), cells};
    const Axis y{parse_parameter("eta_f", y_from), parse_parameter("eta_f", y_to), cells};
    PhaseMap map({tokens.process(), numbers.number("asymmetry"), x, y});
    map.advance(cells * cells);
    Json rows = Json::array();
    for (Eigen::Index i = 0; i < cells * cells; ++i) {
      const auto cell = static_cast<std::size_t>(i);
      rows.push_back({{"xi_over_lambda", map.x(i % cells)},
                      {"sqrt_eta_f_over_lambda", map.y(i / cells)},
                      {"localization", map.localization()[cell]},
                      {"regime", regime_name(static_cast<Regime>(map.regime()[cell]))}});
    }
    csv ? write_csv(std::cout, rows) : void(std::cout << Json{{"cells", rows}} << '\n');
  }

  Numbers numbers;
  TokenOptions tokens;
  std::string x_from = "-8", x_to = "8", y_from = "0.01", y_to = "100", count = "25";
  bool csv = false;
};

}  // namespace

void add_map(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "map", "Phase map: localization and regime over (xi/lambda, sqrt(eta_F)/lambda)");
  command->footer(
      "Example: the map of heads as asymmetric as trained ones\n"
      "  eigenscope map --tokens normalized-walk --length 128 --asymmetry 0.1 --csv");
  const auto options = std::make_shared<MapCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
