#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "propagation/phase_map.h"
#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

/// A map as run_with_progress sees a job: its samples are cells.
struct MapJob {
  PhaseMap& map;

  bool advance(Eigen::Index cells) { return map.advance(cells); }
  double work_per_step() const { return map.work_per_step(); }
  double steps_wanted() const { return static_cast<double>(map.columns() * map.rows()); }
  double steps_done() const { return map.progress() * steps_wanted(); }
};

double localization(const PhaseMap& map, Eigen::Index column, Eigen::Index row) {
  return map.localization()[static_cast<std::size_t>(row * map.columns() + column)];
}

std::string_view regime(const PhaseMap& map, Eigen::Index column, Eigen::Index row) {
  return regime_name(
      static_cast<Regime>(map.regime()[static_cast<std::size_t>(row * map.columns() + column)]));
}

struct MapCommand {
  explicit MapCommand(CLI::App& app) : tokens(app, numbers, "random-walk") {
    for (const char* name : {"asymmetry", "x_from", "x_to", "y_from", "y_to", "count"}) {
      numbers.add(app, name);
    }
    app.add_flag("--csv", csv, "one row a cell instead of JSON, whose arrays have one row a y");
  }

  void run() const {
    PhaseMap map({tokens.process(), numbers.number("asymmetry"), axis("x"), axis("y")});
    MapJob job{map};
    run_with_progress(job, "cells");
    csv ? write_cells(map) : void(std::cout << columns(map) << '\n');
  }

  Axis axis(const std::string& letter) const {
    const std::string low = letter + "_from", high = letter + "_to";
    const Axis axis{numbers.number(low), numbers.number(high), numbers.integer("count")};
    if (axis.from >= axis.to) {
      throw InvalidArgument(low, shown(axis.from) + " is not allowed; it must be below " + high +
                                     ", which is " + shown(axis.to));
    }
    return axis;
  }

  static void write_cells(const PhaseMap& map) {
    const auto cell = [&map](Eigen::Index column, Eigen::Index row) {
      return Json{{"xi_over_lambda", map.x(column)},
                  {"sqrt_eta_f_over_lambda", map.y(row)},
                  {"localization", localization(map, column, row)},
                  {"regime", regime(map, column, row)}};
    };
    write_csv_header(std::cout, cell(0, 0));
    for (Eigen::Index row = 0; row < map.rows(); ++row) {
      for (Eigen::Index column = 0; column < map.columns(); ++column) {
        write_csv_row(std::cout, cell(column, row));
      }
    }
  }

  static Json columns(const PhaseMap& map) {
    Json json;
    for (const char* name : {"x", "y", "localization", "regime"}) json[name] = Json::array();
    for (Eigen::Index column = 0; column < map.columns(); ++column) {
      json["x"].push_back(map.x(column));
    }
    for (Eigen::Index row = 0; row < map.rows(); ++row) {
      Json indices = Json::array(), regimes = Json::array();
      for (Eigen::Index column = 0; column < map.columns(); ++column) {
        indices.push_back(localization(map, column, row));
        regimes.push_back(regime(map, column, row));
      }
      json["y"].push_back(map.y(row));
      json["localization"].push_back(std::move(indices));
      json["regime"].push_back(std::move(regimes));
    }
    return json;
  }

  Numbers numbers;
  TokenOptions tokens;
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
