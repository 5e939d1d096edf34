// Changes of the spectrum of a trained head by its queries alone, and their effects on its attention, predicted and
// measured.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/drawn_rows.h"
#include "prediction/levels.h"
#include "spectrum/traces.h"

namespace eigenscope {

/// The queries of a head after a change: query q + key k + random y + shift, q over sqrt(d_h), k its key, y random
/// features of the token (SpectrumSurgery; without them `random` is empty). A change of W_Q and b_Q alone.
struct QueryEdit {
  Eigen::MatrixXd query, key, random;
  Eigen::VectorXd shift;

  Eigen::MatrixXd queries(const Eigen::MatrixXd& q, const Eigen::MatrixXd& k,
                          const Eigen::MatrixXd& y) const;
};

/// Statistics of a head's content tokens that its edits depend on. A = C^(1/2) W C^(1/2), C their covariance and
/// W = W_QK/sqrt(d_h); the spectrum of A has d_h eigenvalues that need not be zero.
struct ContentStatistics {
  Eigen::VectorXd query_mean, key_mean;
  Eigen::MatrixXd key_covariance;  ///< M = W_K^T C W_K
  double trace = 0, norm = 0;      ///< tr(A), ||A||_F
};

/// Coefficients of a change of a matrix of rank d_h: it becomes `query` times itself plus `key` times P, the projector
/// on its right space. First its deviation from m P, m = trace / d_h, loses the share `shrunk`; then P times
/// `added_mean` ||.||_F / sqrt(d_h) is added, and the sum is scaled to the norm that the matrix had before this
/// addition.
struct SpectrumChange {
  SpectrumChange(double trace, double norm, double rank, double added_mean, double shrunk);

  double query, key;
  double mean,
      variance;  ///< of the d_h eigenvalues afterwards: trace / d_h, ||.||_F^2 / d_h - mean^2
};

/// tr(a b) of symmetric matrices, or tr(a^T b) of others.
double trace_of_product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);
/// M^-1 of a Gram matrix or covariance of keys. Throws InvalidArgument ("passages") where they do not span d_h
/// dimensions.
Eigen::MatrixXd inverse_of_keys(const Eigen::MatrixXd& keys);
/// The edit by `query` q + `key` k around the means, which keeps the mean query.
QueryEdit edit_around_means(const ContentStatistics& content, double query,
                            const Eigen::MatrixXd& key);

/// A head with its tokens on some passages, the statistics, on as many others, the measured ones, and perhaps on one
/// more of any length: all that its edits need.
struct PreparedHead {
  LayerRules rules;
  SinkKeys sinks;
  PredictionSettings settings;
  Eigen::Index statistics = 0, measured = 0;  ///< passages of one length
  Eigen::VectorXd correlations;    ///< correlations_of() the layer's states on the statistics
  std::vector<HeadTokens> tokens;  ///< by passage; values are not used
};
/// A head as bytes, for another process of the same build.
std::vector<std::byte> bytes_of(const PreparedHead& head);
/// The head that bytes_of() wrote. Throws InvalidArgument ("partitions") for other bytes.
PreparedHead prepared_head_of(std::span<const std::byte> bytes);

/// A head after an edit.
struct HeadEffect {
  double size = 0;  ///< norm of the change of A over ||A||_F
  HeadMeasures predicted,
      measured;   ///< by level `neighbours` from the statistics; on the measured passages
  Traces traces;  ///< traces of A after the edit
};

/// Edits one head: each edit by itself, on the tokens as the trained model has them.
class HeadSurgery {
 public:
  /// Throws as DrawnRows does.
  explicit HeadSurgery(PreparedHead head);
  HeadSurgery(const HeadSurgery&) = delete;  // the predictor refers to its members
  HeadSurgery& operator=(const HeadSurgery&) = delete;

  const ContentStatistics& content() const { return content_; }
  /// Queries (over sqrt(d_h)) and keys on all passages.
  const HeadStates& states() const { return states_; }
  /// `features` are those of the tokens of each passage, d_h x T; none for edits without random part.
  HeadEffect effect(const QueryEdit& edit, const std::vector<Eigen::MatrixXd>& features = {}) const;
  /// Attention weights on the passage after the measured ones (T x T, row = key, column = query).
  Eigen::MatrixXf weights(const QueryEdit& edit) const;
  /// About how many multiply-adds an effect costs.
  double work() const;

 private:
  HeadTrace trace(std::size_t passage, const Eigen::MatrixXd& queries) const;
  HeadMeasures predict(const HeadStates& edited) const;

  PreparedHead head_;
  DrawnRows drawn_;
  HeadStates states_, statistics_;
  RotaryTurns turns_;
  HeadPredictor predictor_;
  ContentStatistics content_;
};

/// Covariance over the content of matrices of one head on the first passages, stacked.
Moments stacked_moments(const std::vector<Eigen::MatrixXd>& above,
                        const std::vector<Eigen::MatrixXd>& below, const SinkKeys& sinks,
                        std::size_t passages);
/// The tokens of a passage that are no sinks.
Eigen::MatrixXd content_of(const Eigen::MatrixXd& passage, const SinkKeys& sinks);

/// Takes passages through a model and prepares the heads of each layer.
class SurgeryPass {
 public:
  /// `statistics` and `measured` have one length, `sentence` may have another. Throws FormatError for a model with
  /// rotary positions or norms of queries or keys, and as ForwardPass does; InvalidArgument as DrawnRows does.
  SurgeryPass(std::shared_ptr<const Transformer> model, const std::vector<Passage>& statistics,
              const std::vector<Passage>& measured, const std::optional<Passage>& sentence,
              const PredictionSettings& settings);
  /// Does the next step and returns its multiply-adds: towards ready(), then out of the layer. Throws as
  /// ForwardPass::advance does.
  double advance();
  /// The heads of layer() can be prepared.
  bool ready() const { return collected_ == states_.size(); }
  int layer() const { return layer_; }
  /// The share of the passages of layer() that is done, in [0, 1].
  double progress() const;
  PreparedHead head(int number) const;

  const Transformer& model() const { return pass_.model(); }
  const std::shared_ptr<const Transformer>& shared_model() const { return model_; }
  const LayerWeights& weights() const { return weights_; }
  const SinkKeys& sinks() const { return sinks_; }
  /// The states that the heads of layer() read, d x T by passage.
  const std::vector<Eigen::MatrixXf>& states() const { return states_; }
  std::size_t statistics() const { return statistics_; }

 private:
  double collect();

  std::shared_ptr<const Transformer> model_;
  PredictionSettings settings_;
  std::size_t statistics_, measured_;
  SinkKeys sinks_;
  ForwardPass pass_;
  int layer_ = 0;
  std::size_t collected_ = 0;  // passages whose states_ are known
  LayerWeights weights_;
  std::vector<Eigen::MatrixXf> states_;
  Eigen::VectorXd correlations_;
};

}  // namespace eigenscope
