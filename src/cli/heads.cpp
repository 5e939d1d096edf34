#include <iostream>
#include <memory>
#include <optional>

#include "checkpoint/head_report.h"
#include "checkpoint/open_checkpoint.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"

namespace eigenscope::cli {
namespace {

struct HeadsCommand {
  explicit HeadsCommand(CLI::App& app) : tokens(app, defaulted(numbers), "normalized-walk") {
    app.add_option("MODEL", model, "a .safetensors file, or the folder that holds one")->required();
    numbers.add(app, "heads");
    app.add_option("--config", config, "config.json, where it is not beside the weights");
    app.add_flag("--eigenvalues", eigenvalues, "also list the head_width non-zero eigenvalues");
    app.add_flag("--csv", csv, "CSV instead of JSON (without the eigenvalues)");
  }

  static Numbers& defaulted(Numbers& numbers) {
    numbers.set_default("length", "128");
    numbers.set_default("heads", "from config.json");
    return numbers;
  }

  void run() const {
    const CentredKernel kernel = centred_kernel(tokens.process());
    const Checkpoint checkpoint = open_checkpoint(model, config);
    std::optional<int> heads;
    if (numbers.given("heads")) heads = static_cast<int>(numbers.integer("heads"));
    HeadScan scan(checkpoint.tensors, checkpoint.config ? &*checkpoint.config : nullptr, heads);
    Json rows = Json::array();
    const Progress progress("heads");
    while (!scan.done()) {
      for (const HeadFactors& factors : scan.advance(1)) {
        rows.push_back(row(report_head(factors, kernel)));
      }
      progress.show(scan.heads_read(), scan.total_heads());
    }
    for (const ExcludedHead& head : scan.excluded()) {
      std::cerr << "eigenscope: left out " << head.text() << '\n';
    }
    csv ? write_csv(std::cout, rows) : void(std::cout << Json{{"heads", rows}} << '\n');
  }

  Json row(const HeadReport& report) const {
    Json json{{"layer", report.layer}, {"head", report.head}};
    json.update(to_json(report.moments));
    json["head_width"] = report.head_width;
    json["variance_modulus"] = report.variance_modulus;
    json["localization"] = report.localization;
    json["regime"] = regime_name(report.regime);
    if (eigenvalues && !csv) json["eigenvalues"] = to_json(report.eigenvalues);
    return json;
  }

  Numbers numbers;
  TokenOptions tokens;
  std::string model, config;
  bool eigenvalues = false, csv = false;
};

}  // namespace

void add_heads(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "heads", "Eigenspectrum of W_QK and predicted localization of every head of a checkpoint");
  command->footer(
      "The temperature is sqrt(head_width). Only query and key weights are read, by ranges.\n"
      "Example:\n"
      "  eigenscope heads all-MiniLM-L6-v2/model.safetensors --csv");
  const auto options = std::make_shared<HeadsCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
