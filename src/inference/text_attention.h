// Measured attention of a model's heads on passages: their rows, and how much a head attends to the
// previous token, to earlier occurrences of its token, and to what followed them.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <span>
#include <vector>

#include "inference/forward_pass.h"
#include "inference/head_measures.h"

namespace eigenscope {

/// Means over the queries of all passages that have such a key, in [0, 1]; NaN where there is no such query.
struct PatternScores {
  /// Weight of the previous token: the score of previous-token heads (Olsson et al., 2022, arXiv:2209.11895).
  double previous_token = 0;
  /// Weights of all earlier tokens with the query's id: the score of duplicate-token heads (Wang et al., 2022,
  /// arXiv:2211.00593).
  double duplicate_token = 0;
  /// Weight of the key that follows the latest earlier token with the query's id: the score of induction heads (Olsson
  /// et al., 2022).
  double induction = 0;
};

/// Collects the passages of one head.
class PatternMeter {
 public:
  /// Adds a passage: `weights` T x T (row = key, column = query), which are taken over their sum where learned sinks
  /// have a share, and the ids of its T tokens.
  void add(const Eigen::MatrixXf& weights, std::span<const int> ids, bool learned_sinks = false);
  /// Adds the passages of another meter.
  PatternMeter& operator+=(const PatternMeter& other);
  PatternScores scores() const;

 private:
  struct Mean {
    double sum = 0, queries = 0;

    void add(double weight);
    Mean& operator+=(const Mean& other);
    double value() const { return sum / queries; }
  };
  Mean previous_, duplicate_, induction_;
};

/// One layer, over all passages.
struct LayerOnText {
  int layer = 0;  ///< from 0
  OutlierFeature outlier;
};

/// One head, over all passages.
struct HeadOnText {
  int layer = 0;          ///< from 0
  Eigen::Index head = 0;  ///< in the layer, from 0
  HeadMeasures measures;
  PatternScores patterns;
  double outlier_ratio = 0;  ///< OutlierFeature::ratio of its layer
};

/// One head on one passage.
struct HeadWeights {
  std::size_t passage = 0;
  int layer = 0;
  Eigen::Index head = 0;
  Eigen::MatrixXf weights;  ///< T x T, row = key, column = query
};

/// The largest weight of a head on a passage, from a query to another token that is no sink: neither at the start
/// (the special tokens, else the first token) nor special at the end.
struct LargestWeight {
  int layer = 0;                    ///< from 0
  Eigen::Index head = 0;            ///< in the layer, from 0
  std::size_t passage = 0;          ///< from 0
  Eigen::Index query = 0, key = 0;  ///< positions in the passage, from 0
  float weight = 0;                 ///< in [0, 1]; 0 where no query sees such a key
};

/// The largest weight of one head on one passage. `weights` are T x T, row = key, column = query; `layer`, `head` and
/// `passage` stay 0.
LargestWeight largest_weight(const Eigen::MatrixXf& weights, const SinkKeys& sinks);

/// Measures every head on every passage, layer by layer. A job that advances in steps.
class TextAttention {
 public:
  /// `keep_weights` keeps the attention matrices of all heads. `listed` is the most passages whose largest weight is
  /// kept for each head. What follows the heads of the last layer is run where `to` is tokens. Throws as ForwardPass
  /// does.
  TextAttention(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                bool keep_weights, Eigen::Index listed = 0, LayerEnd to = LayerEnd::heads);

  /// Does about `work` multiply-adds more; true when all is done. Throws as ForwardPass::advance does.
  bool advance(double work);
  Eigen::Index steps_done() const { return pass_.steps_done(); }
  Eigen::Index steps_wanted() const { return pass_.steps_wanted(); }

  const Transformer& model() const { return pass_.model(); }
  const std::vector<Passage>& passages() const { return pass_.passages(); }
  /// The tokens (d x T) of a passage after the last layer, when all is done and `to` is tokens.
  const Eigen::MatrixXf& tokens(std::size_t passage) const { return pass_.tokens(passage); }
  /// The layers with heads that are done, and their heads.
  const std::vector<LayerOnText>& layers() const { return layers_; }
  const std::vector<HeadOnText>& heads() const { return heads_; }
  /// The weights of the kept heads, passage by passage in each layer; empty where none are kept.
  const std::vector<HeadWeights>& weights() const { return weights_; }
  /// For each of the kept heads the passages with its largest weights, the largest first.
  const std::vector<LargestWeight>& largest_weights() const { return largest_weights_; }

 private:
  /// The measures of a head on one passage, or on all of them.
  struct HeadOnPassage {
    HeadMeter meter;
    PatternMeter patterns;
    Eigen::MatrixXf weights;  ///< attention on one passage, if it is kept
    std::vector<LargestWeight> largest;
  };
  /// Runs passages through the heads of a layer; returns the multiply-adds.
  double run_passages();
  void finish_layer(int layer);

  ForwardPass pass_;
  bool keep_weights_;
  std::size_t listed_;
  std::vector<HeadOnPassage> heads_of_layer_;  // of the present one
  OutlierMeter outliers_;
  std::vector<LayerOnText> layers_;
  std::vector<HeadOnText> heads_;
  std::vector<HeadWeights> running_;  // of the present layer
  std::vector<HeadWeights> weights_;
  std::vector<LargestWeight> largest_weights_;
};

}  // namespace eigenscope
