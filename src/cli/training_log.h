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
/// Whatever moment the program is killed at, the files allow to go on exactly: the log is on the disk
/// before the checkpoint that follows it, and what is in it after the checkpoint's step is cut off.
class RunFolder {
 public:
  /// Makes the folder; `validation` is the path that its checkpoints keep of the run's own validation text,
  /// empty for none. Throws FormatError naming what cannot be made.
  RunFolder(std::string path, std::string validation, bool csv);

  /// The checkpoint, opened; nothing when there is none.
  std::optional<Safetensors> checkpoint() const;
  /// Keeps the rows of the log up to `step` and drops the rest; -1 for an empty log.
  void cut_log(Eigen::Index step) const;
  void append(const std::vector<LogRow>& rows) const;
  void save(const Trainer& trainer) const;
  /// The model alone for other programs, in a folder export of its own. Throws as export_model.
  void export_as(const Trainer& trainer, TensorFormat format) const;

 private:
  std::string log_path() const { return path_ + (csv_ ? "/log.csv" : "/log.jsonl"); }
  std::string path_, validation_;
  bool csv_;
};

}  // namespace eigenscope::cli
