// Tests whether the attention sink of a trained model tags the tokens that attend to it (Zhang, Khan and Papyan, 2025,
// arXiv:2502.00919) or is a waiver, which absorbs attention without adding anything (Yan et al., 2024,
// arXiv:2407.01601); and whether it is a sink by its token or by its position.
#pragma once

#include <Eigen/Core>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "attention/key_range.h"
#include "inference/forward_pass.h"
#include "statistics/estimate.h"
#include "statistics/permuted_correlation.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

inline constexpr Parameter kSinkThreshold{
    "sink_threshold", reals(0, 1), 0.1,
    "mean attention to the first token above which a head counts as a sink"};

/// Change of all heads of all layers. The other token stands in the middle of the passage.
enum class SinkChange {
  none,
  direction,      ///< the direction of the first key minus the mean key is removed from all keys
  random,         ///< control: a random direction of each head is removed
  dropped,        ///< no other token sees the first key
  dropped_other,  ///< control: no other token sees the key of the other token
  zero_value,     ///< the first value is 0
  mean_value,     ///< the first value is the mean of the content tokens' values
  random_value,  ///< control: the first value is a random one of the norm of that mean, head by head
  zero_other,    ///< control: the value of the other token is 0
};
inline constexpr std::array kSinkChangeNames{Choice{"none", "as trained"},
                                             Choice{"direction", "sink direction removed"},
                                             Choice{"random", "random direction removed"},
                                             Choice{"dropped", "first key dropped"},
                                             Choice{"dropped-other", "another key dropped"},
                                             Choice{"zero-value", "first value 0"},
                                             Choice{"mean-value", "first value average"},
                                             Choice{"random-value", "first value random"},
                                             Choice{"zero-other", "another value 0"}};

/// A change of all heads, over heads and passages.
struct SinkRow {
  SinkChange change = SinkChange::none;
  double sink = 0;         ///< mean attention of the other tokens to the first
  Eigen::Index sinks = 0;  ///< heads in which `sink` is above the threshold
  double entropy = 0;      ///< mean_entropy()
  Estimate output_change;  ///< 1 - cosine with the mean token without the change, over passages
};

/// A head as trained, over passages. Vectors are those after the output projection.
struct SinkHead {
  Eigen::Index layer = 0, head = 0;
  Estimate sink;
  double sink_without = 0;  ///< `sink` with the direction removed from all heads
  double sink_random = 0;   ///< `sink` with a random direction removed from all heads
  double entropy = 0, entropy_without = 0;
  Estimate value_norm;  ///< norm of the first token's value over the mean norm of the content's
  /// Share of the variance of the head's outputs over tokens along the first token's value, and along a content
  /// token's, mean over these.
  Estimate tag_share, other_share;
  /// Cosine of the mean output of the half of the tokens that attends most to the first, minus that of the other half,
  /// with the first token's value, and with minus the mean value of the content.
  Estimate tag_cosine, missing_cosine;
};

/// Mean attention over the heads of a layer, in the passages and in the same with the first and the middle token
/// exchanged.
struct SinkLayer {
  Eigen::Index layer = 0;
  Estimate first_at_start, first_in_middle;  ///< to the first token
  Estimate other_at_start, other_in_middle;  ///< to the token that it is exchanged with
  Estimate position;  ///< attention at the start minus that in the middle, mean over both tokens
  Estimate token;  ///< attention to the first token minus that to the other, mean over both places
};

struct AttentionSinksSettings {
  double threshold = 0;
  std::uint64_t seed = 0;
};

/// A job: runs passages through a model with each of the changes, layer by layer. Directions are those of other
/// passages.
class AttentionSinks {
 public:
  /// `directions` and `measured` have as many passages, all of one length. Throws as content_of and ForwardPass do,
  /// and InvalidArgument ("sink_threshold").
  AttentionSinks(std::shared_ptr<const Transformer> model, std::vector<Passage> directions,
                 std::vector<Passage> measured, const AttentionSinksSettings& settings);
  /// Does about `work` multiply-adds more; true when done. Throws as ForwardPass::advance does.
  bool advance(double work);
  Eigen::Index steps_done() const { return pass_.steps_done(); }
  Eigen::Index steps_wanted() const { return pass_.steps_wanted(); }

  /// Empty until all is done.
  std::vector<SinkRow> rows() const;
  /// Rows of the layers that are done.
  std::vector<SinkHead> heads() const;
  std::vector<SinkLayer> layers() const;
  /// 1 - cosine of the mean tokens of two passages, mean over pairs; NaN until all is done and for one passage.
  double between_passages() const;
  /// Rank correlation over all heads of value_norm with sink; NaN until all is done.
  double value_correlation() const;
  /// Correlations over the heads of a layer, mean over layers, against permuted heads.
  PermutedCorrelation value_in_layers() const;

 private:
  using Index = Eigen::Index;
  static constexpr std::size_t kChanges = kSinkChangeNames.size();

  /// Means over the tokens: heads, layer by layer, x passages.
  struct Seen {
    Eigen::MatrixXd start, middle;  ///< attention to the keys at these places
    Eigen::MatrixXd entropy;
  };
  /// Sums over a passage for the directions, d_h x key heads: the first token's keys, and the sum of the content's.
  struct KeySums {
    Eigen::MatrixXd first, content;
  };
  /// Attention of the trained model on a measured passage.
  struct AsTrained {
    Eigen::MatrixXf values;    ///< see HeadTokens::values
    Eigen::MatrixXf to_first;  ///< T x heads: the weight of the first key
  };
  /// Vectors of each head, heads x passages.
  struct Written {
    Eigen::MatrixXd value_norm, tag_share, other_share, tag_cosine, missing_cosine;
  };

  /// The passages for the directions, and the measured ones for each change and with exchanged tokens.
  std::vector<Passage> all_passages(const std::vector<Passage>& directions,
                                    const std::vector<Passage>& measured) const;
  Index middle() const { return content_.first + content_.count / 2; }
  bool done() const { return pass_.done(); }

  void begin_layer();
  void find_directions();
  AttentionEdit edit_for(SinkChange change, Index passage);
  /// Per layer, passage and head: a random value of the norm of the mean value of the content.
  void randomize_first_value(HeadTokens& tokens, Index passage) const;
  /// Do the next step and return its multiply-adds.
  double run_next();
  double run_for_directions();
  double run_changes();
  void measure_values(int layer, Index head, Index passage);
  Eigen::VectorXd output_of(SinkChange change, Index passage) const;
  Estimate over_passages(const Eigen::MatrixXd& values, Index place) const;

  AttentionSinksSettings settings_;
  Index count_;  // measured passages
  KeyRange content_;
  ForwardPass pass_;
  // State of the present layer:
  Linear output_;                        // the output projection
  std::vector<KeySums> keys_;            // by passage of `directions`
  Eigen::MatrixXf directions_, random_;  // unit columns, d_h x key heads
  std::vector<AsTrained> trained_;       // by measured passage
  std::array<Seen, kChanges + 1> seen_;  // by SinkChange; the last entry with the tokens exchanged
  Written written_;
};

}  // namespace eigenscope
