// Loss added to a trained language model when it reads its context in blocks that do not see each other (Zhang et
// al., 2024, arXiv:2412.16545).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "labs/validation_passages.h"
#include "statistics/estimate.h"
#include "statistics/permuted_correlation.h"
#include "support/choice.h"
#include "support/parameter.h"
#include "training/training_file.h"

namespace eigenscope {

inline constexpr Parameter kKeptBlocks{"kept_blocks", integers(1, 7), 2,
                                       "context blocks of eight that selection keeps"};

inline constexpr Parameter kSharedPrefix{
    "shared_prefix", integers(1, 16), 8,
    "first tokens of the context that all blocks see, as an attention sink"};

/// Reading of the context by the last block.
enum class ContextReading {
  full,    ///< trained reading: one block, positions in order
  none,    ///< control: no context
  reset,   ///< blocks in parallel; positions of each from 0, of the last block after the longest
  kept,    ///< control: blocks in parallel with the positions of the text
  prefix,  ///< reset, with the first tokens of the context visible to all blocks
  sharpened,  ///< reset, with logits of the last block multiplied so that its entropy is that of `full`
  mass,       ///< reset, only the `kept_blocks` blocks with the largest attention mass
  random,  ///< control: as many blocks drawn at random
  last,    ///< control: as many of the last blocks
};
inline constexpr std::array kContextReadingNames{
    Choice{"full", "one block"},        Choice{"none", "no context"},
    Choice{"reset", "positions reset"}, Choice{"kept", "positions kept"},
    Choice{"prefix", "shared prefix"},  Choice{"sharpened", "sharpened"},
    Choice{"mass", "selected by mass"}, Choice{"random", "selected at random"},
    Choice{"last", "last blocks"}};

/// Measures of a reading of the context. Losses are in bits per token of the last block, entropies in nats over its
/// attention rows, both means over models and passages; `added` is minus that of `full`. Standard errors combine the
/// spreads over models and over passages.
struct ContextRow {
  ContextReading reading = ContextReading::full;
  Eigen::Index blocks = 1;  ///< blocks read in parallel; 0 without context
  double loss = 0;
  Estimate added;
  /// The added loss in the first quarter of the last block, and in the rest.
  Estimate added_early, added_late;
  double entropy = 0;
  Estimate entropy_added;                        ///< mean over layers
  Estimate first_layer_added, last_layer_added;  ///< in these layers
  double factor = 1;  ///< factor of the logits of the last block, mean over models
};

/// Correlation over passages of the entropy and the loss that `reset` adds; mean over models.
struct PassageCorrelation {
  Eigen::Index blocks = 0;
  PermutedCorrelation correlation;
};

/// A head read with `reset` and the most blocks.
struct ContextHead {
  std::uint64_t seed = 0;  ///< seed of the training run
  Eigen::Index layer = 0, head = 0;
  double mean = 0, variance = 0;  ///< of the spectrum of W_QK at offset 0, with the norm's gain
  double entropy = 0;             ///< entropy of the last block's rows with `full`
  Estimate entropy_added;         ///< standard error over passages
};

/// A property of a head that is correlated with the entropy that `reset` adds to it.
enum class HeadProperty { mean, variance, entropy };
inline constexpr std::array kHeadPropertyNames{Choice{"mean", "mean of the eigenspectrum"},
                                               Choice{"variance", "variance of the eigenspectrum"},
                                               Choice{"entropy", "entropy with one block"}};

struct ParallelContextsSettings {
  Eigen::Index sequences = 0;  ///< passages
  Eigen::Index kept_blocks = 0, shared_prefix = 0;
  std::uint64_t seed = 0;
};

/// A job: evaluates models on passages at even distances in the last tenth of a text. A passage is as long as the
/// sequences of training; its last quarter is the last block.
class ParallelContexts {
 public:
  static constexpr Eigen::Index kMostBlocks = 8;

  /// Throws InvalidArgument: "runs" without a model, for positions that are not rotary, attention that is not softmax
  /// at all distances, an objective other than the next token, two of one seed, different sequence lengths or
  /// tokenizers, and a context that is shorter than the prefix and a token for each block; "text" where its last tenth
  /// is shorter than a passage; a setting out of range.
  ParallelContexts(std::vector<TrainedModel> models, std::string_view text,
                   const ParallelContextsSettings& settings);

  /// Does about `work` multiply-adds more; true when done.
  bool advance(double work);
  double progress() const;

  /// The readings that one model is done with, over these models.
  std::vector<ContextRow> rows() const;
  /// The rows over the models that are done.
  std::vector<ContextHead> heads() const;
  /// The readings with `reset` that all models are done with.
  std::vector<PassageCorrelation> passages() const;
  /// Rank correlation of each HeadProperty, in its order, over the heads of a model, mean over models; each model's
  /// heads are permuted.
  std::array<PermutedCorrelation, kHeadPropertyNames.size()> properties() const;

 private:
  using Index = Eigen::Index;

  struct Plan {
    ContextReading reading;
    Index blocks;
  };
  /// Losses and entropies of a model with one reading, by passage.
  struct Reading {
    std::vector<double> early, late;  ///< bits per token
    Eigen::MatrixXd entropies;        ///< heads, layer by layer, x passages
    Eigen::MatrixXd masses;           ///< attention to each block x passages
    double factor = 1;
  };
  struct Subject {
    TrainedModel trained;
    std::vector<Reading> done;
  };
  /// A passage as a reading gives it to a model.
  struct Sequence {
    std::vector<TokenId> tokens, targets;
    std::vector<TokenPlace> places;
    std::vector<Index> starts;  ///< starts of the blocks, the last block included
  };

  static std::vector<Plan> plans();
  std::size_t number_of(ContextReading reading, Index blocks) const;
  /// Blocks of a passage that a reading keeps, in the order of the text.
  std::vector<Index> chosen(const Subject& subject, const Plan& plan, Index passage) const;
  Sequence sequence_of(const Subject& subject, const Plan& plan, Index passage,
                       double factor) const;
  void evaluate(Subject& subject, const Plan& plan, Index passage, Reading& reading) const;
  double matching_factor(Subject& subject, const Plan& plan) const;
  double passage_work() const;
  Index last_block() const { return length_ / 4; }

  /// The values of evaluation `number` of the models that are done, minus those of `full` with `added`: models x
  /// passages.
  template <class Value>
  Eigen::MatrixXd by_passage(std::size_t number, bool added, const Value& value) const;
  double loss_of(const Reading& reading, Index passage) const;

  ParallelContextsSettings settings_;
  std::vector<Plan> plans_;
  std::vector<Subject> subjects_;
  std::vector<std::vector<TokenId>> passages_;
  Index length_ = 0;
  std::size_t at_ = 0;  // subject under way
  Reading current_;     // results of its evaluation under way
};

}  // namespace eigenscope
