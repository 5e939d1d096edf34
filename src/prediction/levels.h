// Predictor levels: what a head's rows of attention are predicted to be from its weights and more and more
// statistics of its layer's tokens. Levels 1 to 7 are laws of the logits of one query: independent normal
// numbers, one a key, each with its own mean and standard deviation. The isotropic theory (level 0) has
// correlated logits and lies in `simulation`; the levels from 8 on take logits of real keys.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "inference/rotary_turns.h"
#include "prediction/token_statistics.h"
#include "support/names.h"

namespace eigenscope {

enum class Level {
  isotropic,
  spectrum,
  covariance,
  mean,
  sink,
  position,
  separator,
  neighbours,
  keys,
  mean_field,
  sequences
};

/// What explains a head's attention (see verdict.h).
enum class Verdict { weights, token_statistics, sink, position, unexplained };
inline constexpr std::array kVerdictNames{Name{"weights"}, Name{"token statistics"}, Name{"a sink"},
                                          Name{"position"}, Name{"not explained"}};

/// A row of the table of levels. Each of the first nine adds to the one before it; the last two are
/// other ways to the same numbers.
/// The label is what it knows beyond the level before, or instead.
struct LevelInfo : Name {
  /// What a head is explained by when this level is the first that fits; only of the nested ones.
  std::optional<Verdict> explains;
};
inline constexpr std::array<LevelInfo, 11> kLevels{{
    {{"isotropic", "the traces of W_QK; isotropic tokens with correlated logits"},
     Verdict::weights},
    {{"spectrum", "independent isotropic tokens, logits of variance eta_F / d_h"},
     Verdict::weights},
    {{"covariance", "the covariance of the layer's tokens"}, Verdict::token_statistics},
    {{"mean", "the mean token and the query bias"}, Verdict::token_statistics},
    {{"sink", "the tokens at the start as a sink, with logits of their own"}, Verdict::sink},
    {{"position", "the mean token by position"}, Verdict::position},
    {{"separator", "the special tokens at the end as a second sink"}, Verdict::sink},
    {{"neighbours", "the token itself and its correlation with its neighbours"},
     Verdict::token_statistics},
    {{"keys", "real tokens of the same position instead of Gaussian ones"},
     Verdict::token_statistics},
    {{"mean-field", "keys, on states from mean-field attention: no sequence is run"}, std::nullopt},
    {{"sequences", "the head itself, on the sequences that the statistics come from"},
     std::nullopt},
}};
inline constexpr std::size_t kNestedLevels = static_cast<std::size_t>(Level::mean_field);

/// The weights through which queries and keys of one head are made, in double precision.
struct HeadProjections {
  Eigen::MatrixXd query;               ///< d_h x d
  Eigen::VectorXd query_bias;          ///< d_h
  Eigen::MatrixXd key;                 ///< d_h x d
  Eigen::VectorXd key_bias = {};       ///< d_h, or empty for none
  const RotaryTurns* turns = nullptr;  ///< of rotary positions; must outlive this

  Eigen::Index width() const { return query.rows(); }
  /// (W_Q^T x + b_Q) / sqrt(d_h) of each column, d_h x n: its product with key_of(y) is the logit of the
  /// key y, but for rotary positions.
  Eigen::MatrixXd query_of(const Eigen::MatrixXd& states) const;
  /// W_K^T y + b_K of each column, d_h x n.
  Eigen::MatrixXd key_of(const Eigen::MatrixXd& states) const;
  /// A query, d_h, of a token at `position` as the keys see it (RotaryTurns::seen).
  Eigen::MatrixXd seen(const Eigen::VectorXd& query, Eigen::Index position,
                       Eigen::Index keys) const;
};

/// A token that attends, in the coordinates of a head.
struct HeadQuery {
  Eigen::VectorXd query,
      key;  ///< as HeadProjections::query_of and key_of give them of its state, d_h
  Eigen::Index position;
};

/// Logits of one query, by key.
struct RowLaw {
  Eigen::VectorXd mean, std;
};

/// Keys that are alike: their mean and their covariance.
struct KeyCloud {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

/// The tokens of a layer as each level sees them; the heads share it. d x d matrices.
struct LayerClouds {
  explicit LayerClouds(const TokenStatistics& statistics);

  KeyCloud all;                                            ///< every token
  KeyCloud but_first;                                      ///< without the sinks at the start
  KeyCloud content;                                        ///< without those at the end either
  Eigen::VectorXd leading, trailing;                       ///< mean states of the sinks
  Eigen::MatrixXd smooth_but_first, smooth;                ///< mean state by position, d x T
  Eigen::MatrixXd around_smooth_but_first, around_smooth;  ///< covariance around those
  Eigen::VectorXd correlations;                            ///< k(D) of content tokens
  SinkKeys sinks;
};

/// Level 8: logits of real keys, of each passage d_h x T before rotary positions, which are those of `turns`.
/// The query of `passage` sees its own key, and at each other position t
/// that of another passage, drawn by `normal[t]`, which is N(0, 1); of its own passage where there is no
/// other.
Eigen::VectorXd real_logits(const RotaryTurns& turns, const std::vector<Eigen::MatrixXd>& keys,
                            const HeadQuery& query, Eigen::Index passage,
                            std::span<const float> normal);

/// Levels 1 to 7 of one head.
class HeadPredictor {
 public:
  /// `folded` is `head` with the gain of a pre-norm in the weights, which level 1 is about. Clouds and head
  /// must outlive it.
  HeadPredictor(const LayerClouds& clouds, const HeadProjections& head,
                const HeadProjections& folded);

  /// The law of a query's logits over all T keys. Throws InvalidArgument ("level") for a level that is no
  /// such law.
  RowLaw law(Level level, const HeadQuery& query) const;

  /// Logits drawn from law(level, query): `normal` are N(0, 1), one for each visible key.
  Eigen::VectorXd normal_logits(Level level, const HeadQuery& query,
                                std::span<const float> normal) const;

  // With rotary positions W depends on how far the key lies from the query, so that variances and means do.
  /// Level 1: independent isotropic tokens, s^2 = eta_F / d_h.
  RowLaw spectrum(Eigen::Index position = 0) const;
  /// Level 2: centred tokens with the layer's covariance, s^2 = tr(W Sigma W^T Sigma) / d_h.
  RowLaw covariance(Eigen::Index position = 0) const;
  /// Level 3: queries have their mean and bias too, s^2 = E g^T Sigma g with g = W_K q; with rotary
  /// positions also the mean key counts.
  RowLaw mean(Eigen::Index position = 0) const;
  // `query` as the keys see it, d_h x 1 or d_h x T.
  /// Level 4: for query q, the sinks at the start are explicit keys at their mean state; the others have
  /// N(g . mu, g^T Sigma g).
  RowLaw sink(const Eigen::MatrixXd& query) const;
  /// Level 5: mu by position, smoothed.
  RowLaw position(const Eigen::MatrixXd& query) const;
  /// Level 6: the sinks at the end are explicit keys too.
  RowLaw separator(const Eigen::MatrixXd& query) const;
  /// Level 7: tokens near the query are correlated with it, Cov(x_s, x_t) = k(|s - t|) Sigma, and its
  /// `own` key is known: given x_q at p, key i has mean mu_i + k (x_q - mu_p) and (1 - k^2) Sigma.
  RowLaw neighbours(const Eigen::MatrixXd& query, const Eigen::VectorXd& own,
                    Eigen::Index position) const;

 private:
  Eigen::Index length() const { return clouds_.smooth.cols(); }
  bool turned() const { return head_.turns != nullptr && !head_.turns->is_none(); }
  /// tr(R(D) queries R(D)^T keys) / d_h by distance D, or for all distances.
  Eigen::VectorXd variances(const Eigen::MatrixXd& queries, const Eigen::MatrixXd& keys) const;
  RowLaw by_distance(const Eigen::VectorXd& variances, Eigen::Index position) const;
  Eigen::MatrixXd key_covariance(const Eigen::MatrixXd& covariance) const;
  /// Makes `count` keys from `first` on known ones that are all `key`.
  void set_sink(RowLaw& law, const Eigen::MatrixXd& query, const Eigen::VectorXd& key,
                Eigen::Index first, Eigen::Index count) const;

  const LayerClouds& clouds_;
  const HeadProjections& head_;
  Eigen::VectorXd spectrum_, covariance_;  // variances of a logit
  // In the head's d_h coordinates.
  Eigen::MatrixXd keys_all_, keys_but_first_, keys_around_but_first_, keys_around_;
  Eigen::MatrixXd smooth_but_first_, smooth_;
  Eigen::VectorXd mean_query_, mean_key_, mean_but_first_, leading_, trailing_;
};

}  // namespace eigenscope
