#include "cli/tuning.h"

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope::cli {
namespace {

/// The baseline first: the others are compared with it.
constexpr std::array kKinds{RegularizerKind::none, RegularizerKind::locater,
                            RegularizerKind::locater_frobenius, RegularizerKind::sigma_reparam,
                            RegularizerKind::qk_decay};
constexpr Eigen::Index kSeeds = 2;
constexpr std::uint64_t kFirstSeed = 1000000;

/// One value of what a kind tunes.
struct Try {
  std::string_view name;
  double value;
  TrainSettings settings;
};

std::vector<Try> tries_of(const TrainSettings& settings) {
  std::vector<Try> tries;
  for (int k = -2; k <= 2; ++k) {
    Try attempt{"", 0, settings};
    RegularizerSettings& own = attempt.settings.regularizer;
    switch (own.kind) {
      case RegularizerKind::none:
      case RegularizerKind::sigma_reparam:
        attempt.name = "learning_rate";
        attempt.value = attempt.settings.optimizer.learning_rate *= std::pow(2.0, k);
        break;
      case RegularizerKind::locater:
      case RegularizerKind::locater_frobenius:
      case RegularizerKind::locater_effective:
      case RegularizerKind::locater_covariance:
      case RegularizerKind::locater_random:
        attempt.name = "scale_weight";
        attempt.value = own.scale_weight *= std::pow(10.0, k);
        break;
      case RegularizerKind::qk_decay:
        attempt.name = "qk_decay";
        attempt.value = own.qk_decay *= std::pow(4.0, k);
        break;
    }
    tries.push_back(attempt);
  }
  return tries;
}

/// The place of the best try. `runs` holds those of every try, one try behind the other; a broken one
/// counts as infinite. Adds a row for each try to `report`.
std::size_t best_try(const std::vector<Try>& tries, const std::vector<FinishedRun>& runs,
                     Json& report) {
  const std::size_t each = runs.size() / tries.size();
  std::size_t best = tries.size();
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < tries.size(); ++i) {
    double mean = 0;
    for (std::size_t k = i * each; k < (i + 1) * each; ++k) {
      const bool whole = runs[k].failure.empty();
      mean += (whole ? runs[k].rows.back().measure("bits_per_byte")
                     : std::numeric_limits<double>::infinity()) /
              static_cast<double>(each);
    }
    report.push_back({{"regularizer", regularizer_name(runs[i * each].settings.regularizer.kind)},
                      {"tuned", tries[i].name},
                      {"value", tries[i].value},
                      {"runs", each},
                      {"bits_per_byte", mean}});
    if (mean < least) {
      least = mean;
      best = i;
    }
  }
  if (best == tries.size()) throw FormatError("preset", "every run of the tuning failed");
  return best;
}

/// The best settings of the kind that `settings` has.
TrainSettings tune_kind(const TrainSettings& settings, const RunOptions& options, Json& report) {
  const std::vector<Try> tries = tries_of(settings);
  std::vector<RunPlan> plans;
  for (const Try& attempt : tries) {
    const std::string prefix =
        "tune/" + std::string(attempt.name) + "-" + shown(attempt.value) + "-";
    add_plans(plans, attempt.settings, kFirstSeed + settings.seed, kSeeds, prefix);
  }
  const std::vector<FinishedRun> runs = make_runs(plans, options, "steps of tuning");
  return tries[best_try(tries, runs, report)].settings;
}

}  // namespace

Tuning tune(const TrainSettings& settings, const RunOptions& options) {
  Tuning tuning{{}, Json::array()};
  TrainSettings base = settings;
  for (const RegularizerKind kind : kKinds) {
    TrainSettings own = base;
    own.regularizer.kind = kind;
    if (kind == RegularizerKind::sigma_reparam) own.optimizer = settings.optimizer;
    tuning.settings.push_back(tune_kind(own, options, tuning.report));
    if (kind == RegularizerKind::none) base.optimizer = tuning.settings.back().optimizer;
  }
  return tuning;
}

}  // namespace eigenscope::cli
