#include <iostream>
#include <set>
#include <string_view>

#include "cli/commands.h"
#include "cli/output.h"
#include "experiment/grid.h"
#include "operations/operations.h"
#include "prediction/levels.h"

namespace eigenscope::cli {

void add_parameters(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "parameters", "All numeric parameters as JSON: names, ranges, defaults, meanings");
  command->callback([] {
    Json table = Json::array();
    std::set<std::string_view> names;
    const auto add = [&](const Parameter& p) {
      if (!names.insert(p.name).second) return;
      Json row;
      visit_fields(p, [&](const char* name, const auto& value) { row[name] = value; });
      table.push_back(row);
    };
    for (const Operation* operation : kOperations) {
      for_each_field(*operation, [&](const InputField& field) {
        if (field.parameter) add(*field.parameter);
      });
    }
    // Parameters of the page, and of training runs and grids, that are no fields of an operation.
    add(kLevel);
    add(kSeeds);
    std::cout << write_json(table) << '\n';
  });
}

}  // namespace eigenscope::cli
