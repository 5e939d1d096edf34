// Reports on all heads of a checkpoint.
#pragma once

#include <optional>
#include <vector>

#include "checkpoint/head_report.h"
#include "checkpoint/layer_scores.h"
#include "support/in_order.h"

namespace eigenscope {

/// Reads heads and reports on them, several at a time where there are processors.
class HeadReader {
 public:
  /// `kernel`: the kernel of the tokens for which the theory predicts localization.
  HeadReader(HeadScan scan, CentredKernel kernel);

  /// Settings by layer number, from 0; the last entry also holds for all later layers. At least one.
  void set_settings(std::vector<ReportSettings> settings) { settings_ = std::move(settings); }
  /// Scores layers too, before the first head is read.
  void score_layers() { layer_scores_.emplace(); }
  /// Reads heads of about `work` multiply-adds; true when all are read and scored. Throws as HeadScan::advance and
  /// report_head do.
  bool advance(double work);

  bool done() const { return scan_.done() && !has_tiles(); }
  const HeadScan& scan() const { return scan_; }
  /// Share of the heads that are read, in [0, 1].
  double progress() const {
    return done() ? 1 : static_cast<double>(scan_.heads_read()) / scan_.total_heads();
  }
  /// The reports that are ready, in the order of the checkpoint.
  const std::vector<HeadReport>& reports() const { return reports_; }
  /// The scores of all layers when the job is done; empty unless they were asked for.
  std::vector<LayerScore> layer_scores() const {
    return layer_scores_ ? layer_scores_->scores() : std::vector<LayerScore>();
  }

 private:
  const ReportSettings& settings_of(const ScannedHead& head) const;
  bool has_tiles() const { return layer_scores_ && layer_scores_->has_tiles(); }
  /// Reads a head and starts its report; returns the multiply-adds.
  double read_head();

  HeadScan scan_;
  CentredKernel kernel_;
  std::vector<ReportSettings> settings_;
  std::optional<LayerScores> layer_scores_;
  std::vector<HeadReport> reports_;
  InOrder<HeadReport> running_;  // last: its tasks use the others
};

}  // namespace eigenscope
