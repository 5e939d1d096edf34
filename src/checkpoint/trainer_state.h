// The training step and losses at which a checkpoint was saved: from the name of the folder or revision, and from
// trainer_state.json, which the Trainer of Hugging Face saves beside the weights.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace eigenscope {

struct TrainingProgress {
  std::optional<Eigen::Index> step = {};  ///< completed optimizer steps
  /// The last logged losses on the training and the validation text; NaN for none.
  double loss = std::numeric_limits<double>::quiet_NaN();
  double eval_loss = std::numeric_limits<double>::quiet_NaN();
  std::string note = {};  ///< why one of them is missing although the file has it; or empty
};

/// The largest trainer_state.json that is read, in bytes.
inline constexpr std::uint64_t kLargestTrainerState = 64'000'000;

/// N of a folder or revision that is named checkpoint-N, stepN, or so behind a hyphen or an underscore, also before
/// "-tokens": global_step8, stage1-step1000-tokens5B. Nothing for another name. Throws FormatError naming it for a
/// number above the most steps of a training (shared::kSteps).
std::optional<Eigen::Index> step_in_name(std::string_view name);

/// The progress of the checkpoint in the folder `name` with the file `trainer_state`, null for none. Without a step in
/// the name the step is the file's, unless the weights may be those of its best_model_checkpoint. Throws FormatError
/// naming the file for one that is too large or no JSON, without an integer `global_step` in range, with another than
/// the name has, and for a `loss` or `eval_loss` in its log_history that is no number.
TrainingProgress training_progress(const std::string& name, ByteSource* trainer_state);

}  // namespace eigenscope
