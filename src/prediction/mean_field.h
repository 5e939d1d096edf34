// Mean-field attention: token states through a trained model, layer by layer, without running any
// sequence. Each token attends to the population of all tokens, by the mean and covariance of its keys
// and values, instead of to the other tokens of a sequence.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "inference/head_measures.h"
#include "inference/layer_pass.h"
#include "prediction/drawn_rows.h"
#include "prediction/head_prediction.h"
#include "prediction/token_statistics.h"
#include "text/passages.h"

namespace eigenscope {

/// Keys and values of one head over a population of tokens at T positions. Keys are those before rotary positions turn
/// them.
struct KeyValueLaw {
  /// Means by position, d_h x T and d_v x T, smoothed over neighbouring content positions.
  Eigen::MatrixXd key_means, value_means;
  Eigen::MatrixXd key_covariance;    ///< Sigma_k of content tokens around the means, d_h x d_h
  Eigen::MatrixXd cross_covariance;  ///< C_vk = Cov(value, key), d_v x d_h
  SinkKeys sinks;                    ///< tokens that are explicit keys at their mean
};

/// The law of the keys and values of a population.
KeyValueLaw key_value_law(const HeadStates& population, const SinkKeys& sinks);

/// The law of the values that the queries of a passage read from the population, one column each.
struct MeanFieldReads {
  Eigen::MatrixXd mean;  ///< d_v x T
  /// Standard deviation of the read around its mean over that of a content value: the root of the
  /// expected sum of squared weights on content keys.
  Eigen::VectorXd spread;
};

/// The reads of passage number `passage` of `tokens`. Each query sees the key and value of its token as they
/// are. A content key at position t, of the n others that the query sees, has weight
/// exp(q . mu_t + min(s^2, 2 log n) / 2) and value nu_t + min(1, sqrt(2 log n) / s) C_vk q, with
/// s^2 = q^T Sigma_k q: the means of e^(q . k) and of v e^(q . k) over Gaussian keys, capped where the
/// random energy model of n keys freezes. q is the query as RotaryTurns::rotated_for_keys gives it for
/// the key; with rotary positions s^2 depends on t. Where the layer caps logits, the cap is linear around
/// the logits of a content key that contribute most to its mean weight; its slope multiplies s and C_vk.
/// The layer's `rules` define which positions a query sees.
MeanFieldReads mean_field_reads(const KeyValueLaw& law, const HeadStates& tokens,
                                std::size_t passage, const RotaryTurns& turns,
                                const LayerRules& rules);

/// A population goes through a model. Each read is its mean plus `spread` times the deviation of the
/// value of a content token drawn from the population: without these fluctuations, states of deeper
/// layers are too much alike.
class MeanField {
 public:
  /// The tokens of the passages, with their positions, are the population; what passage a token comes
  /// from does not matter. All have one length, the same number of special tokens and a content token. The model must
  /// outlive this object.
  /// Throws as Transformer::embed does, and InvalidArgument ("passages") when there is none.
  MeanField(const Transformer& model, const std::vector<Passage>& passages, std::uint64_t seed);

  /// States that queries and keys of a layer with these weights are made of, d x T for each passage.
  std::vector<Eigen::MatrixXf> states(const LayerWeights& weights) const;
  /// Computes what the next head gives the population. `tokens` are the head's queries, keys and values of states();
  /// `rules` and `turns` are those of the layer.
  void read_head(const HeadStates& tokens, const LayerRules& rules, const RotaryTurns& turns);
  /// Counts the next head, where the rest of the layer is not run.
  void skip_head() { pass_.end_units(); }
  /// Once all heads are read: takes the population through a passage's share of the rest of the layer. Throws as
  /// LayerRest does.
  void finish_passage() { pass_.finish_passage(); }
  /// Layer and head of the next step.
  int layer() const { return pass_.layer(); }
  int head() const { return static_cast<int>(pass_.unit()); }
  bool heads_done() const { return pass_.heads_done(); }

 private:
  SinkKeys sinks_;
  std::uint64_t seed_;
  LayerPass pass_;  // its units are heads
};

/// The mean-field level of a prediction. A step is the rows of a head and the reads of its tokens, or the population
/// through a share of the rest of a layer, one for each passage.
class MeanFieldLevel final : public PredictionPart {
 public:
  /// Throws as DrawnRows does.
  MeanFieldLevel(std::shared_ptr<const Transformer> model, const PredictionPassages& passages,
                 const PredictionSettings& settings);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  void do_step(std::vector<HeadPrediction>& heads) override;
  void do_head(std::vector<HeadPrediction>& heads);

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  DrawnRows rows_;
  std::optional<MeanField> population_;  // embedded in the first step
  LayerWeights weights_;
  States states_;
};

}  // namespace eigenscope
