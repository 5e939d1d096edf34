// Attention to a token as an explanation of its effect on the output of a trained model (Wen, Subbalakshmi and
// Yang, 2022, arXiv:2211.07714).
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "attention/key_range.h"
#include "inference/forward_pass.h"
#include "statistics/estimate.h"
#include "statistics/permuted_correlation.h"
#include "support/choice.h"

namespace eigenscope {

/// Way to remove a token for the others.
enum class Removal {
  dropped,  ///< no other query sees it as a key, in all heads
  masked,   ///< its id becomes that of the mask token
};
inline constexpr std::array kRemovalNames{Choice{"dropped", "key dropped"},
                                          Choice{"masked", "replaced by the mask token"}};

/// Explanation of the change that a token's removal makes.
enum class Explanation {
  best,             ///< attention of the head that is best in the other half of the passages
  best_norm,        ///< as `best`, with attention times the norm of the projected value
  last_layer,       ///< mean attention over the heads of the last layer
  last_layer_norm,  ///< mean over the same heads of attention times norm
  all,              ///< mean attention over all heads
  all_norm,
  frequency,  ///< baseline: minus the log of the token's frequency in the text
  position,   ///< baseline
};
inline constexpr std::array kExplanationNames{Choice{"best", "best head"},
                                              Choice{"best-norm", "best head, times norm"},
                                              Choice{"last-layer", "last layer"},
                                              Choice{"last-layer-norm", "last layer, times norm"},
                                              Choice{"all", "all heads"},
                                              Choice{"all-norm", "all heads, times norm"},
                                              Choice{"frequency", "token frequency"},
                                              Choice{"position", "position"}};

/// Rank correlation with what a removal changes, within passages, mean over passages.
struct ExplanationAgreement {
  Estimate whole;
  Estimate partial;  ///< partial correlation at a fixed frequency
  Estimate gain;     ///< `whole` minus that of the frequency
};

struct ExplanationRow {
  Explanation explanation = Explanation::best;
  std::array<ExplanationAgreement, kRemovalNames.size()> agreement;  ///< by Removal
};

struct ExplanationHead {
  Eigen::Index layer = 0, head = 0;
  /// By Removal: correlation of the change with the mean attention of the other tokens, and with this attention times
  /// the norm of the projected value.
  std::array<Estimate, 2> attention, norm;
  double entropy = 0;  ///< mean_entropy()
  double sink = 0;     ///< mean attention of the other tokens to the first
};

/// Null distribution of the heads' correlations with one removal, of attention or of attention times norm.
struct ExplanationNull {
  Removal removal = Removal::dropped;
  bool norm = false;
  double limit = 0;  ///< farthest_null() over the heads
  Eigen::Index above = 0,
               below = 0;  ///< heads with a correlation above the limit, and below minus the limit
};

/// A property of a head that may be correlated with what its attention explains.
enum class HeadTrait { entropy, sink, layer };
inline constexpr std::array kHeadTraitNames{Choice{"entropy", "row entropy"},
                                            Choice{"sink", "sink score"}, Choice{"layer", "layer"}};

/// A job: runs passages through a model, each again for every content token that is taken away, passage by passage.
/// The change is |m' - m|/|m| of the mean m of the other tokens' outputs.
class AttentionExplanation {
 public:
  /// `text` is all of the text, for frequencies; all of `measured` have one length. Without a `mask` token nothing is
  /// masked. Throws as content_of does.
  AttentionExplanation(std::shared_ptr<const Transformer> model, const std::vector<Passage>& text,
                       std::vector<Passage> measured, std::optional<int> mask, std::uint64_t seed);

  /// Does about `work` multiply-adds more; true when done. Throws as ForwardPass does.
  bool advance(double work);
  Eigen::Index steps_done() const;
  Eigen::Index steps_wanted() const;

  /// Results over the passages that are done, at least one.
  std::vector<ExplanationHead> heads() const;
  std::vector<ExplanationRow> rows() const;
  /// Mean change by Removal.
  std::array<Estimate, 2> changes() const;
  /// Rank correlation of both changes within passages.
  Estimate agreement() const;
  /// Empty until all is done.
  const std::vector<ExplanationNull>& nulls() const { return nulls_; }
  /// Rank correlation over heads of each HeadTrait, in its order, with the correlation between attention and the change
  /// by a dropped key; empty until all is done.
  const std::vector<PermutedCorrelation>& traits() const { return traits_; }

 private:
  using Index = Eigen::Index;

  /// Results of a passage of K content tokens.
  struct PassageResults {
    Eigen::MatrixXd attention, norm;         ///< heads, layer by layer, x K
    Eigen::VectorXd frequency, position;     ///< K
    std::array<Eigen::VectorXd, 2> changes;  ///< by Removal; empty without
    Eigen::VectorXd entropy, sink;           ///< by head
    /// By Removal: rank correlations of the rows of attention and norm with the change.
    std::array<Eigen::VectorXd, 2> attention_correlation, norm_correlation;
  };

  const Passage& passage() const { return measured_[results_.size()]; }
  int removals() const { return mask_ ? 2 : 1; }
  Index heads_count() const;
  std::vector<Passage> variants() const;
  void begin_passage();
  /// Does the next step and returns its multiply-adds.
  double run_next();
  /// Visitors that make the variants of the passage, and measure the unchanged one.
  PassageVisitors visitors();
  void measure_attention(int layer, int head, const Eigen::MatrixXf& weights);
  void end_passage();
  void conclude();
  /// The head with the largest mean correlation over the passages whose number has the other parity.
  Index best_head(std::size_t passage, Removal removal, bool norm) const;
  Eigen::VectorXd explained_by(Explanation explanation, Removal removal, std::size_t passage) const;
  /// Mean over the passages of value(explanation, change, frequency) of the tokens.
  template <class Value>
  Estimate correlation_of(Explanation explanation, Removal removal, const Value& value) const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> measured_;
  std::optional<int> mask_;
  KeyRange content_;
  std::uint64_t seed_;
  std::vector<double> frequencies_;  // by id, minus the log of the share
  std::optional<ForwardPass> pass_;  // the passage under way and its variants
  PassageResults current_;           // results of the passage under way
  Linear output_;                    // the output projection of the present layer
  Eigen::MatrixXf values_;           // of the unchanged passage in the present layer
  std::vector<PassageResults> results_;
  std::vector<ExplanationNull> nulls_;
  std::vector<PermutedCorrelation> traits_;
};

}  // namespace eigenscope
