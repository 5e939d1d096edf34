// Outcomes of a model on passages: predicted tokens with their probabilities, their loss, the direction of its tokens.
#pragma once

#include <Eigen/Core>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "inference/transformer.h"
#include "support/choice.h"
#include "text/passages.h"

namespace eigenscope {

enum class OutcomeKind { embedding, next_token, masked_token };
inline constexpr std::array kOutcomeNames{
    Choice{"embedding", "mean of the tokens after the last layer"},
    Choice{"next-token", "token after the last one"},
    Choice{"masked-token", "token at the first mask"}};

/// The outcome of a model on one passage.
struct Outcome {
  /// d: the mean over positions of the tokens after the last layer and its norm.
  Eigen::VectorXd mean_token;
  Eigen::Index targets = 0;  ///< predicted tokens: of a causal model those after the first one
  double loss = 0;           ///< sum over the targets of -log probability, nats
  /// Log probabilities (vocabulary) of the token that the kind names; empty without one.
  Eigen::VectorXf log_probabilities;
};

/// Ids of the `count` largest log probabilities, or all of fewer, the largest first.
std::vector<int> most_probable(const Eigen::VectorXf& log_probabilities, Eigen::Index count);

/// Computes the outcomes of passages from their tokens after the last layer. The output weights are read block by
/// block. A job that advances in steps.
class OutcomeReader {
 public:
  /// `mask`: id of the token that hides another one, of a model of masked tokens.
  OutcomeReader(std::shared_ptr<const Transformer> model, std::optional<int> mask);

  /// Begins with passages, whose `tokens` (d x T) are those after the last layer; only when done(). Of a passage the
  /// log probabilities are kept where `predicted` has true.
  void start(const std::vector<Passage>& passages, const std::vector<Eigen::MatrixXf>& tokens,
             const std::vector<bool>& predicted);
  /// Does the next step and returns its multiply-adds; not when done(). Throws FormatError for weights that cannot be
  /// read or are not finite.
  double advance();
  bool done() const { return row_ == rows_; }
  /// The share of the steps that are done, in [0, 1].
  double progress() const;
  /// The outcomes of the passages, when done().
  const std::vector<Outcome>& outcomes() const { return outcomes_; }

 private:
  /// The columns of a passage whose tokens are predicted.
  struct Columns {
    Eigen::MatrixXf states;    // d x n
    std::vector<int> targets;  // n; -1 where the token is not known
    Eigen::Index kept = -1;    // column whose log probabilities are kept; -1 for none
    Eigen::VectorXf logits;    // of that column
    Eigen::ArrayXd largest, sum, of_target;
  };
  Columns columns_of(const Passage& passage, const Eigen::MatrixXf& tokens, bool keeps) const;
  void add_logits(Columns& columns, const Eigen::MatrixXf& logits, Eigen::Index first);
  void finish();

  std::shared_ptr<const Transformer> model_;
  std::optional<int> mask_;
  StoredLinear output_;
  std::vector<Columns> columns_;  // by passage
  std::vector<Outcome> outcomes_;
  LinearBlock block_;
  std::size_t passage_ = 0;  // of the next step, in the block from row_ on
  Eigen::Index row_ = 0, rows_ = 0;
};

}  // namespace eigenscope
