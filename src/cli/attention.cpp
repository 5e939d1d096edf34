#include "attention/attention.h"

#include <iostream>
#include <memory>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"

namespace eigenscope::cli {
namespace {

struct AttentionCommand {
  explicit AttentionCommand(CLI::App& app)
      : ensemble(app, numbers), tokens(app, numbers, "random-walk"), mask(app, numbers) {
    numbers.add(app, "temperature");
    app.add_option("--softmax", softmax, "exact|piecewise-linear|hard (default exact)");
    app.add_flag("--csv", csv, "one row a query, one column a key, instead of JSON");
  }

  void run() const {
    const EnsembleSettings settings = ensemble.settings();
    const Ensemble drawn(settings);
    const SpectrumPoint point = ensemble.point();
    const Mask seen = mask.mask();
    const Eigen::MatrixXd x =
        sample_tokens(tokens.process(), drawn.width(), settings.seed, /*sample=*/0);
    const Eigen::MatrixXd weights =
        attention_weights(attention_logits(x, drawn.matrix(point.mean, point.variance)),
                          numbers.number("temperature"), softmax_of_name(softmax), seen);
    if (csv) {
      const Eigen::IOFormat format(Eigen::FullPrecision, Eigen::DontAlignCols, ",", "\n");
      std::cout << weights.transpose().format(format) << '\n';
      return;
    }
    Json rows = Json::array();
    for (Eigen::Index query = 0; query < weights.cols(); ++query) {
      rows.push_back(to_json(Eigen::VectorXd(weights.col(query))));
    }
    std::cout << Json{{"weights", rows}, {"entropy", to_json(query_entropies(weights, seen))}}
              << '\n';
  }

  Numbers numbers;
  EnsembleOptions ensemble;
  TokenOptions tokens;
  MaskOptions mask;
  std::string softmax = "exact";
  bool csv = false;
};

}  // namespace

void add_attention(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "attention", "One sampled attention matrix (row = query) with its normalized row entropies");
  command->footer(
      "Example: attention that localizes on late tokens\n"
      "  eigenscope attention --mean 0.02 --variance 0.0001 --length 12 --csv");
  const auto options = std::make_shared<AttentionCommand>(*command);
  command->callback([options] { options->run(); });
}

}  // namespace eigenscope::cli
