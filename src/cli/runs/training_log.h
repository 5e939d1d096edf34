// The files of one training run, and its log as rows.
#pragma once

#include <optional>
#include <string>

#include "checkpoint/write_safetensors.h"
#include "cli/output.h"
#include "training/trainer.h"

namespace eigenscope::cli {

/// step, the run's measures, layer0_residual, ..., layer0_head0_mean, ...; layers and heads from 0.
Json to_json(const LogRow& row);

/// A folder with model.safetensors, config.json, for bytes tokenizer.json, and the log, log.csv or
/// log.jsonl (one object a row).
/// Whenever the program is killed, the files allow an exact resumption: the log is on the disk
/// before the checkpoint that follows it, and what is in it after the checkpoint's step is cut off.
class RunFolder {
 public:
  /// Makes the folder; `validation` is the path of a separate validation text, which the checkpoints keep;
  /// empty for none. Throws FormatError naming what cannot be made.
  RunFolder(std::string path, std::string validation, bool csv);

  /// The checkpoint, opened; nothing when there is none.
  std::optional<Safetensors> checkpoint() const;
  /// The empty log of a new run. Throws FormatError where a log shows that a checkpoint is missing, or where the folder
  /// has files that the run would replace: weights, an export, or what is not of a run.
  void begin_log() const;
  /// The log of a run with these settings that resumes at `step`: keeps its rows up to there and drops what follows,
  /// which a kill may have cut short. Returns a note where earlier rows are missing, empty for none. Throws FormatError
  /// naming the line that is damaged or the row that is missing; nothing is written then.
  std::string resume_log(Eigen::Index step, const TrainSettings& settings) const;
  void append(const std::vector<LogRow>& rows) const;
  void save(const Trainer& trainer) const;
  /// Writes the model for other programs to the folder `export`. Throws as export_model.
  void export_as(const Trainer& trainer, TensorFormat format) const;
  /// Writes Trainer::weights to weights.safetensors.
  void save_weights(const Trainer& trainer, TensorFormat format) const;
  /// Saves the parameters in 16 bits as a separate checkpoint, in a folder such as steps/step0500, with as many digits
  /// as the run's last step has.
  void save_step(const Trainer& trainer) const;

 private:
  void check_new_run() const;
  std::string log_path() const { return log_path(csv_); }
  std::string log_path(bool csv) const { return path_ + (csv ? "/log.csv" : "/log.jsonl"); }
  std::string path_, validation_;
  bool csv_;
};

}  // namespace eigenscope::cli
