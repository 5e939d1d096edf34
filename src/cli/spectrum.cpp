#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "spectrum/eigenvalues.h"

namespace eigenscope::cli {
namespace {

struct SpectrumCommand {
  explicit SpectrumCommand(CLI::App& app) : ensemble(app, numbers) {
    app.add_flag("--csv", csv, "one row an eigenvalue instead of JSON");
  }

  void run() const {
    Ensemble drawn(ensemble.settings());
    const SpectrumPoint point = ensemble.point();
    Eigen::VectorXcd eigenvalues = drawn.eigenvalues(point.mean, point.variance);
    sort_for_display(eigenvalues);
    const SpectralMoments moments = drawn.moments(point.mean, point.variance);
    Json json = to_json(moments);
    json["variance_modulus"] = variance_modulus(eigenvalues, moments.width);
    json["eigenvalues"] = to_json(eigenvalues);
    if (!csv) {
      std::cout << json << '\n';
      return;
    }
    Json rows = Json::array();
    for (const Json& mu : json["eigenvalues"]) rows.push_back({{"re", mu[0]}, {"im", mu[1]}});
    write_csv(std::cout, rows);
  }

  Numbers numbers;
  EnsembleOptions ensemble;
  bool csv = false;
};

}  // namespace

void add_spectrum(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "spectrum", "Moments and eigenvalues of one member of an ensemble of W_QK");
  command->footer(
      "Example:\n"
      "  eigenscope spectrum --ensemble factored --width 64 --head-width 16 --variance 0.3 --csv");
  const auto options = std::make_shared<SpectrumCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
