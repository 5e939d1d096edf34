#include <iostream>

#include "cli/commands.h"
#include "cli/output.h"
#include "support/parameter.h"

namespace eigenscope::cli {

void add_parameters(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "parameters", "The table of numeric parameters as JSON: names, ranges, defaults, meanings");
  command->callback([] {
    Json table = Json::array();
    for (const Parameter& p : parameters()) {
      table.push_back({{"name", p.name},
                       {"symbol", p.symbol},
                       {"minimum", p.minimum},
                       {"maximum", p.maximum},
                       {"fallback", p.fallback},
                       {"integer", p.integer},
                       {"open_minimum", p.open_minimum},
                       {"open_maximum", p.open_maximum},
                       {"meaning", p.meaning},
                       {"range", allowed_range(p)}});
    }
    std::cout << table << '\n';
  });
}

}  // namespace eigenscope::cli
