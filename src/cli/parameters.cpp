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
      Json row;
      visit_fields(p, [&](const char* name, const auto& value) { row[name] = value; });
      table.push_back(row);
    }
    std::cout << write_json(table) << '\n';
  });
}

}  // namespace eigenscope::cli
