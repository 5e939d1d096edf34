// Surgery on the spectrum of a trained head: measured attention against that predicted by the law of its logits.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "prediction/head_surgery.h"
#include "propagation/propagation.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kSurgeryDraws{"draws", integers(1, 100), 3,
                                         "random perturbations of each head and dose"};

/// Edits of a head. With A = C^(1/2) W C^(1/2), C the covariance of the content tokens and W = W_QK/sqrt(d_h), P is the
/// projector on the right space of A, of rank and trace d_h. All but `sink` keep the mean query of the content.
enum class Surgery {
  none,
  mean,         ///< A becomes alpha (A + a P) of the norm ||A||_F, a = dose ||A||_F / sqrt(d_h)
  shrink,       ///< A becomes (1 - dose) A + dose m P, m = tr(A)/d_h
  bare_mean,    ///< control: mean with C = I
  bare_shrink,  ///< control: shrink with C = I
  random_mean,  ///< null: A + D, D random of the right space of A, trace 0 and the norm of mean's change
  random_shrink,  ///< null: as random_mean, with the norm of shrink's change
  sink,  ///< control: queries lose a share, the dose, of their part along the sinks' mean key minus the content's
};
inline constexpr std::array kSurgeryNames{
    Choice{"none", "as trained"},
    Choice{"mean", "mean added at fixed norm"},
    Choice{"shrink", "variance shrunk at fixed mean"},
    Choice{"bare-mean", "mean added, C = I"},
    Choice{"bare-shrink", "variance shrunk, C = I"},
    Choice{"random-mean", "random, as large as mean"},
    Choice{"random-shrink", "random, as large as shrink"},
    Choice{"sink", "sink direction removed from the queries"}};
inline constexpr std::array kMeanDoses{-1.0, -0.5, -0.25, 0.25, 0.5, 1.0, 2.0};
inline constexpr std::array kShrinkDoses{-0.5, -0.25, 0.25, 0.5, 0.75, 0.9, 1.0};

/// An edit of the experiment.
struct SurgeryEdit : QueryEdit {
  Surgery surgery = Surgery::none;
  double dose = 0;
  int draw = 0;  ///< number of the random perturbation, from 0
};

/// Statistics of a head from which its edits are made.
struct SurgeryFrame : ContentStatistics {
  Eigen::MatrixXd bare_keys;  ///< W_K^T W_K, the gain of a pre-norm folded in
  double bare_trace = 0, bare_norm = 0;
  Eigen::VectorXd sink;  ///< the sinks' mean key minus the content's
  /// Covariance of the random features y, whose mean over the content is 0, and their covariance with the keys
  /// (rows: y), by draw.
  std::vector<Eigen::MatrixXd> features, features_keys;
};
/// All edits at all doses, the first of which is none. Throws InvalidArgument ("passages") where the content's keys do
/// not span d_h dimensions.
std::vector<SurgeryEdit> surgery_edits(const SurgeryFrame& frame);

/// A head after an edit.
struct SurgeryRow : HeadEffect {
  int layer = 0, head = 0;
  Surgery surgery = Surgery::none;
  double dose = 0;
  int draw = 0;
  double theory_localization = 0;  ///< localization for the traces of A and the level-0 walk
  /// Loss on the measured passages in nats per predicted token, where SurgerySettings::loss asks for it: with the
  /// edited head, and with a head of which all attention weights are 0.
  double loss = kUnknown, loss_without = kUnknown;

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
};

struct SurgerySettings {
  Eigen::Index queries = 512;  ///< sampled queries whose rows are predicted, see PredictionSettings
  Eigen::Index draws = 3;
  std::uint64_t seed = 1;
  bool loss = false;
};

/// Edits each head by itself, on the layer's inputs as they are in the trained model (HeadSurgery). The random features
/// of a token x are N^T (x - mu), N normal (d x d_h), mu the mean content token: those of a random W_Q.
class SpectrumSurgery {
 public:
  /// Passages have one length. Throws as SurgeryPass does; InvalidArgument ("draws", and "loss" for a model that does
  /// not predict the next token).
  SpectrumSurgery(std::shared_ptr<const Transformer> model, std::vector<Passage> statistics,
                  std::vector<Passage> measured, const SurgerySettings& settings);
  /// Does about `work` multiply-adds more; true when done. Throws as ForwardPass::advance and surgery_edits do.
  bool advance(double work);
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;
  /// The rows of the heads that are done.
  const std::vector<SurgeryRow>& rows() const { return rows_; }

 private:
  using Index = Eigen::Index;

  bool done() const;
  double operate();
  /// The loss of the measured passages with an edit of the present layer.
  double loss_with(const std::function<AttentionEdit(std::size_t passage)>& edit) const;
  SurgeryFrame frame_of(const HeadSurgery& head,
                        const std::vector<std::vector<Eigen::MatrixXd>>& y) const;

  SurgerySettings settings_;
  std::vector<Passage> measured_;
  SurgeryPass pass_;
  CentredKernel kernel_;
  int head_ = 0;          // head of the present layer
  Eigen::VectorXd mean_;  // mean content token of the layer, over the statistics passages
  std::vector<SurgeryRow> rows_;
};

}  // namespace eigenscope
