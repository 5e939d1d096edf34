#include <iostream>
#include <set>
#include <vector>

#include "cli/commands.h"
#include "cli/output.h"
#include "operations/operations.h"

namespace eigenscope::cli {
namespace {

/// The shared parameters, then those that single operations have.
struct AllParameters final : InputFields {
  void add(const Parameter& parameter) {
    if (names.insert(parameter.name).second) found.push_back(&parameter);
  }
  void visit(const InputField& field) override {
    if (field.parameter) add(*field.parameter);
  }

  std::vector<const Parameter*> found;
  std::set<std::string_view> names;
};

}  // namespace

void add_parameters(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "parameters", "All numeric parameters as JSON: names, ranges, defaults, meanings");
  command->callback([] {
    AllParameters all;
    for (const Parameter& p : parameters()) all.add(p);
    for (const Operation* operation : kOperations) operation->describe_input(all);
    Json table = Json::array();
    for (const Parameter* p : all.found) {
      Json row;
      visit_fields(*p, [&](const char* name, const auto& value) { row[name] = value; });
      table.push_back(row);
    }
    std::cout << write_json(table) << '\n';
  });
}

}  // namespace eigenscope::cli
