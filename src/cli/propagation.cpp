#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"

namespace eigenscope::cli {
namespace {

struct PropagationCommand {
  explicit PropagationCommand(CLI::App& app) : tokens(app, numbers, "random-walk") {
    for (const char* name : {"xi", "eta_s", "eta_f", "temperature"}) numbers.add(app, name);
    app.add_flag("--csv", csv, "one row a position instead of JSON");
  }

  void run() const {
    const Traces traces{numbers.number("xi"), numbers.number("eta_s"), numbers.number("eta_f")};
    const Json json =
        to_json(propagate(centred_kernel(tokens.process()), traces, numbers.number("temperature")));
    csv ? write_csv(std::cout, rows_by_position(json)) : void(std::cout << json << '\n');
  }

  Numbers numbers;
  TokenOptions tokens;
  bool csv = false;
};

}  // namespace

void add_propagation(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "propagation",
      "Theory of one head from its traces: law of the logits, signal propagation "
      "probability rho, localization index, regime");
  command->footer(
      "Example: a head of width 64 with mean eigenvalue 0.25 and no spread\n"
      "  eigenscope propagation --length 48 --xi 16 --eta-s 4 --eta-f 4 --temperature 8");
  const auto options = std::make_shared<PropagationCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
