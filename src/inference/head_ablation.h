// The worth of heads to a model: its outcome on passages with heads switched off, beside that as trained.
#pragma once

#include <Eigen/Core>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/forward_pass.h"
#include "inference/outcome.h"
#include "support/choice.h"

namespace eigenscope {

/// The replacement of the attention weights of a head that is switched off. Its values and the rest of the model stay.
enum class Ablation {
  zero,      ///< 0: the head adds nothing
  mean,      ///< equal weights for the keys that the query sees: their mean value
  previous,  ///< weight 1 on the previous token; on itself where the query sees no previous token
  predicted  ///< weights that a predictor level expects (PredictedWeights)
};
inline constexpr std::array kAblationNames{
    Choice{"zero", "output 0"}, Choice{"mean", "mean of the visible values"},
    Choice{"previous", "previous token"}, Choice{"predicted", "prediction of a level"}};

/// Replaces the attention weights of a head (T x T, row = key, column = query); a learned sink takes no share of the
/// new weights. Not for Ablation::predicted.
void ablate(Ablation ablation, const LayerRules& rules, Eigen::Ref<Eigen::MatrixXf> weights);

struct HeadPlace {
  int layer = 0, head = 0;  ///< from 0
  bool operator==(const HeadPlace&) const = default;
};
/// The head of "layer.head", both from 0; nothing for other text.
std::optional<HeadPlace> head_place_of(std::string_view text);

/// The weights (T x T, row = key, column = query) that Ablation::predicted gives a head on a passage.
using PredictedWeights =
    std::function<const Eigen::MatrixXf&(std::size_t passage, const HeadPlace& head)>;

/// The tokens (d x T) of a passage after the last layer of the model as trained, which are known by the first step.
using TrainedTokens = std::function<const Eigen::MatrixXf&(std::size_t passage)>;

/// Runs passages through a model as trained and with each of some sets of heads switched off. A job that advances in
/// steps.
class HeadAblation {
 public:
  /// `sets` may be empty. `mask` as for OutcomeReader; `predicted` of Ablation::predicted. With `trained` the passages
  /// are not run through the model as trained. Throws InvalidArgument ("ablate") for a head that the model does not
  /// have.
  HeadAblation(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
               Ablation ablation, std::vector<std::vector<HeadPlace>> sets, std::optional<int> mask,
               PredictedWeights predicted = {}, TrainedTokens trained = {});

  /// Does about `work` multiply-adds more; true when all is done. Throws as ForwardPass, ForwardPass::advance and
  /// OutcomeReader::advance do.
  bool advance(double work);
  bool done() const { return outcomes_.size() == variants(); }
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;

  /// embedding for a model without output weights; else next_token if it is causal, or masked_token.
  OutcomeKind kind() const;
  /// Sets of heads whose outcome is known.
  std::size_t sets_done() const { return outcomes_.empty() ? 0 : outcomes_.size() - 1; }
  const std::vector<HeadPlace>& set(std::size_t k) const { return sets_[k]; }
  /// Mean over the predicted tokens of all passages, nats: as trained, and without set k. NaN while it is not known and
  /// where the model predicts none of them.
  double loss() const { return outcomes_.empty() ? kUnknown : loss_of(0); }
  double loss(std::size_t k) const { return loss_of(k + 1); }
  /// 1 - cosine of the mean token without set k with that as trained, mean over the passages.
  double output_change(std::size_t k) const;
  /// Log probabilities on the last passage, as trained and without set 0; empty where there is none.
  Eigen::VectorXf log_probabilities() const { return predicted(0); }
  Eigen::VectorXf log_probabilities_without() const { return predicted(1); }

 private:
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  static constexpr Eigen::Index kMostEntries = Eigen::Index{1} << 24;  // of the tokens of a round

  std::size_t variants() const { return sets_.size() + 1; }
  void start_round();
  double run_layers();
  void start_reading();
  /// Number of variants of the round that need no pass: 1 for the model as trained where its tokens are given, else 0.
  std::size_t known() const { return outcomes_.empty() && trained_ ? 1 : 0; }
  /// Steps that the given tokens of the model as trained save.
  Eigen::Index steps_known() const;
  bool is_off(std::size_t variant, const HeadPlace& head) const;
  double loss_of(std::size_t variant) const;
  Eigen::VectorXf predicted(std::size_t variant) const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  Ablation ablation_;
  PredictedWeights predicted_;
  TrainedTokens trained_;
  std::vector<std::vector<HeadPlace>> sets_;
  std::vector<std::vector<Outcome>> outcomes_;  // by variant, the first as trained, and passage
  OutcomeReader reader_;
  bool is_reading_ = false;
  std::optional<ForwardPass> pass_;  // of the variants of a round, each with all passages
  std::size_t round_ = 0;  // variants of the round, the known one included; 0 before it starts
};

}  // namespace eigenscope
