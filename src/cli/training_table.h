// Comparison of finished runs, and the tries of their tuning.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/output.h"
#include "transformer/trainer.h"

namespace eigenscope::cli {

struct FinishedRun {
  TrainSettings settings;
  std::vector<LogRow> rows;  ///< logged by this process; at least the last one
  std::vector<std::pair<std::string, LogRow>> interventions;  ///< the last state with each of them
  double tokens_per_second = 0;
  std::string failure;
};

/// The baseline first: the others are compared with it.
inline constexpr std::array kTableKinds{RegularizerKind::none, RegularizerKind::locater,
                                        RegularizerKind::locater_frobenius,
                                        RegularizerKind::sigma_reparam, RegularizerKind::qk_decay};

/// For each kind of regularizer and measure of the last row (means over heads or layers): runs, mean,
/// standard deviation and, against `none` where it has the same seeds, mean difference and a paired t
/// test. Runs that broke are left out.
Json table_of(const std::vector<FinishedRun>& runs);
/// The runs; with `rows` every row of theirs, else the last one's means.
Json runs_to_json(const std::vector<FinishedRun>& runs, bool rows);

/// One value of what a kind tunes.
struct Try {
  std::string_view name;
  double value;
  TrainSettings settings;
};
/// Five values for every kind: the learning rate of the baseline and of sigmaReparam (which has no
/// weight), over a factor of 16 around the given one; LocAteR's scale_weight; QK weight decay.
std::vector<Try> tries_of(const TrainSettings& settings);
/// The try with the smallest mean of bits_per_byte; a broken run counts as infinite. `runs` holds those
/// of every try, one try behind the other. Adds a row for each try to `report`. Throws FormatError
/// when all broke.
std::size_t best_try(const std::vector<Try>& tries, const std::vector<FinishedRun>& runs,
                     Json& report);

}  // namespace eigenscope::cli
