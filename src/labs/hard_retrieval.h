// Loss that hard attention adds in trained language models, head by head (Xu, Liu, van Genabith and Xiong, 2020,
// arXiv:2009.14658).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "labs/validation_passages.h"
#include "statistics/estimate.h"
#include "support/choice.h"
#include "support/parameter.h"
#include "training/training_file.h"

namespace eigenscope {

inline constexpr Parameter kPeakWeight{"peak_weight", reals(0.1, 0.99), 0.5,
                                       "attention weight above which a row is peaked"};

/// Replacement of soft attention, in one head or in all.
enum class Replacement {
  hard,     ///< the key with the largest logit
  uniform,  ///< equal weights on all visible keys: the head's contribution
  random,   ///< control: a random visible key
};
inline constexpr std::array kReplacementNames{Choice{"hard", "largest logit"},
                                              Choice{"uniform", "uniform weights"},
                                              Choice{"random", "random key"}};

/// A head of a model that was trained with softmax. Losses are in bits per token, minus that of the model, with the
/// standard error over sequences.
struct RetrievalHead {
  std::uint64_t seed = 0;  ///< seed of the training run
  Eigen::Index layer = 0, head = 0;
  /// Share P(max S > c) of peaked rows among those with at least two keys: of independent normal tokens after the
  /// layer's norm, and on the text.
  double predicted = 0, measured = 0;
  std::array<Estimate, kReplacementNames.size()> losses;  ///< by Replacement

  const Estimate& loss(Replacement replacement) const {
    return losses[static_cast<std::size_t>(replacement)];
  }
};

/// A model as trained, and with all its heads replaced: bits per token with their standard error over sequences.
struct RetrievalModel {
  AttentionKind trained = AttentionKind::softmax;
  std::uint64_t seed = 0;
  Eigen::Index steps = 0;
  Estimate soft;
  std::array<Estimate, kReplacementNames.size()> losses;  ///< by Replacement, not differences
};

/// Rank correlations over the heads of each model, mean and standard error over models.
struct RetrievalCorrelation {
  Estimate cost;   ///< P(max S > c) with the cost of hard attention
  Estimate share;  ///< P(max S > c) with this cost over the loss with uniform weights
  /// The correlation with the costs permuted over the heads of each model: mean and 2.5th and 97.5th percentile, and
  /// how often it is at most `share`.
  double null = 0, null_low = 0, null_high = 0, p = 0;
};

/// Means over models, in bits per token.
struct RetrievalLosses {
  Estimate soft;            ///< trained and read soft
  Estimate read_hard;       ///< models trained soft with all heads hard, minus `soft`
  Estimate hard;            ///< trained and read hard
  Estimate trained_hard;    ///< `hard` minus `soft` of the model with the same seed
  Estimate hard_read_soft;  ///< trained hard with all heads soft, minus hard
};

struct HardRetrievalSettings {
  Eigen::Index sequences = 0;
  double peak_weight = 0;  ///< c
  std::uint64_t seed = 0;
};

/// A job: evaluates models on sequences at even distances in the last tenth of a text.
class HardRetrieval {
 public:
  /// Throws InvalidArgument: "runs" without a model trained with softmax, for one whose attention depends on no logit
  /// or has terms by offset or whose objective is not the next token, and for two of one kind and seed; "text" where
  /// its last tenth is shorter than a sequence; a setting out of range.
  HardRetrieval(std::vector<TrainedModel> models, std::string_view text,
                const HardRetrievalSettings& settings);

  /// Does about `work` multiply-adds more; true when done.
  bool advance(double work);
  double progress() const;

  /// The heads that are done.
  std::vector<RetrievalHead> heads() const;
  /// Number of these heads in which hard attention adds more loss than uniform weights.
  Eigen::Index worse() const;
  /// The models that are done.
  std::vector<RetrievalModel> models() const;
  RetrievalLosses losses() const;
  /// Rank correlation over heads of predicted with measured P(max S > c), mean over the models of
  /// which all heads are done.
  Estimate agreement() const;
  /// Correlations over the models whose heads are all done, with `predicted` or measured P(max S > c).
  RetrievalCorrelation correlation(bool predicted) const;

 private:
  using Index = Eigen::Index;
  using Losses = std::vector<double>;  // by sequence, bits per token

  /// A model with its evaluations so far. Evaluation 0 is soft; then all heads by replacement, and then by head and
  /// replacement where the model was trained with softmax.
  struct Subject {
    TrainedModel trained;
    EvaluatedPassages passages;
    std::vector<Losses> done;
    std::vector<double> predicted, measured;  // by head

    std::size_t heads() const;
    std::size_t wanted() const;
    Estimate loss(std::size_t evaluation) const;
    Estimate added(std::size_t evaluation) const;
  };

  /// The heads of each model trained with softmax, where all are done.
  std::vector<std::vector<RetrievalHead>> heads_by_model() const;
  Intervention<float> intervention_of(const Subject& subject) const;
  void evaluate_chunk(Subject& subject);
  void predict(Subject& subject) const;
  double chunk_work(const Subject& subject) const;

  void count_peaked(const AttentionShape& shape, const Matrix<float>& weights,
                    double* counts) const;

  HardRetrievalSettings settings_;
  std::vector<Subject> subjects_;
  std::size_t at_ = 0;          // subject under way
  Losses current_;              // losses of its evaluation under way
  std::vector<double> peaked_;  // peaked rows in it, by head
};

}  // namespace eigenscope
