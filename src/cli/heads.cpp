#include <cmath>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/head_report.h"
#include "checkpoint/open_checkpoint.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "simulation/gaussian_rows.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

void refuse_empty(const char* name, const std::string& path) {
  if (path.empty()) {
    throw InvalidArgument(name, "an empty text is not allowed; it must be a path");
  }
}

struct HeadsCommand {
  explicit HeadsCommand(CLI::App& app) : tokens(app, defaulted(numbers), "normalized-walk") {
    app.add_option("MODEL", model, "a .safetensors file, or the folder that holds one")->required();
    numbers.add(app, "heads");
    config_option =
        app.add_option("--config", config, "config.json, where it is not beside the weights");
    app.add_flag("--eigenvalues", eigenvalues, "also list the head_width non-zero eigenvalues");
    CLI::Option* measures_flag = app.add_flag(
        "--measures", measures,
        "also predict entropy, participation and localization of the exact softmax's sensitivity");
    for (const char* name : {"samples", "seed"}) numbers.add(app, name)->needs(measures_flag);
    app.add_flag("--csv", csv, "CSV instead of JSON (without the eigenvalues)");
  }

  static Numbers& defaulted(Numbers& numbers) {
    numbers.set_default("length", "128");
    numbers.set_default("heads", "from config.json");
    numbers.set_default("samples", "1000");
    return numbers;
  }

  void run() const {
    const std::vector<HeadReport> reports = read_heads();
    const std::vector<RowEstimate> estimates = estimate(reports);
    Json rows = Json::array();
    for (std::size_t i = 0; i < reports.size(); ++i) rows.push_back(row(reports[i], estimates[i]));
    csv ? write_csv(std::cout, rows, row({}, {}))
        : void(std::cout << Json{{"heads", rows}} << '\n');
  }

  std::vector<HeadReport> read_heads() const {
    const CentredKernel kernel = centred_kernel(tokens.process());
    std::optional<int> heads;
    if (numbers.given("heads")) heads = static_cast<int>(numbers.integer("heads"));
    const Checkpoint checkpoint = open();
    HeadScan scan(checkpoint.tensors, checkpoint.config ? &*checkpoint.config : nullptr, heads);
    std::vector<HeadReport> reports;
    {
      const Progress progress("heads");
      while (!scan.done()) {
        for (const HeadFactors& factors : scan.advance(1)) {
          reports.push_back(report_head(factors, kernel));
        }
        progress.show(scan.heads_read(), scan.total_heads());
      }
    }
    for (const ExcludedHead& head : scan.excluded()) {
      std::cerr << "eigenscope: left out " << head.text() << '\n';
    }
    return reports;
  }

  // A given count of heads takes the place of the config beside the weights, which may be the file
  // at fault.
  Checkpoint open() const {
    if (config_option->count() > 0) refuse_empty("config", config);
    refuse_empty("MODEL", model);
    return open_checkpoint(model, config, /*look_beside=*/!numbers.given("heads"));
  }

  // What the theory says of the exact softmax; NaN where it is not asked for.
  std::vector<RowEstimate> estimate(const std::vector<HeadReport>& reports) const {
    std::vector<RowEstimate> estimates(reports.size());
    if (!measures) return estimates;
    std::vector<TracedHead> heads;
    for (const HeadReport& report : reports) {
      heads.push_back({report.moments.traces, std::sqrt(static_cast<double>(report.head_width))});
    }
    GaussianRows gaussian(tokens.process(), heads, numbers.integer("samples"),
                          static_cast<std::uint64_t>(numbers.number("seed")));
    run_with_progress(gaussian, "rows of the theory for every head");
    for (std::size_t i = 0; i < estimates.size(); ++i) estimates[i] = gaussian.estimate(i);
    return estimates;
  }

  Json row(const HeadReport& report, const RowEstimate& estimate) const {
    Json json{{"layer", report.layer}, {"head", report.head}};
    json.update(to_json(report.moments));
    json["head_width"] = report.head_width;
    json["variance_modulus"] = report.variance_modulus;
    json["localization"] = report.localization;
    json["regime"] = regime_name(report.regime);
    if (measures) json.update(softmax_to_json(estimate));
    if (eigenvalues && !csv) json["eigenvalues"] = to_json(report.eigenvalues);
    return json;
  }

  Numbers numbers;
  TokenOptions tokens;
  CLI::Option* config_option;
  std::string model, config;
  bool eigenvalues = false, measures = false, csv = false;
};

}  // namespace

void add_heads(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "heads", "Eigenspectrum of W_QK and predicted localization of every head of a checkpoint");
  command->footer(
      "The temperature is sqrt(head_width). Only query and key weights are read, by ranges.\n"
      "Example:\n"
      "  eigenscope heads all-MiniLM-L6-v2/model.safetensors --measures --csv");
  const auto options = std::make_shared<HeadsCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
