// Predictor levels: predictions of a head's rows of attention from its weights and more and more statistics of its
// layer's tokens. Levels 1 to 7 are laws of the logits of one query: independent normal numbers with a mean and a
// standard deviation for each key. The isotropic theory (level 0) has correlated logits and lies in `simulation`; the
// levels from 8 on take logits of real keys.
#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "inference/layer.h"
#include "nn/rotary.h"
#include "prediction/token_statistics.h"
#include "support/choice.h"
#include "support/parameter.h"

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

/// The first level that explains a head's attention (verdict() of head_prediction.h).
enum class Verdict { weights, token_statistics, sink, position, unexplained };
inline constexpr std::array kVerdictNames{Choice{"weights"}, Choice{"token statistics"},
                                          Choice{"a sink"}, Choice{"position"},
                                          Choice{"not explained"}};

/// A row of the table of levels. Each of the first nine adds to the one before it; the last two are other ways to the
/// same numbers. The label names the statistics that the level adds, or uses instead.
struct LevelInfo : Choice {
  /// The explanation of a head where this level is the first that fits; only of the nested ones.
  std::optional<Verdict> explains;
};
inline constexpr std::array<LevelInfo, 11> kLevels{{
    {{"isotropic", "the traces of W_QK; isotropic tokens with correlated logits"},
     Verdict::weights},
    {{"spectrum", "independent isotropic tokens, logits of variance eta_F / d_h"},
     Verdict::weights},
    {{"covariance", "the covariance of the layer's tokens"}, Verdict::token_statistics},
    {{"mean", "the mean token and the query bias"}, Verdict::token_statistics},
    {{"sink", "the tokens at the start as a sink, with their own logits"}, Verdict::sink},
    {{"position", "the mean token by position"}, Verdict::position},
    {{"separator", "the special tokens at the end as a second sink"}, Verdict::sink},
    {{"neighbours", "the token itself and its correlation with its neighbours"},
     Verdict::token_statistics},
    {{"keys", "real tokens of the same position instead of Gaussian ones"},
     Verdict::token_statistics},
    {{"mean-field", "as keys, on states from mean-field attention instead of a forward pass"},
     std::nullopt},
    {{"sequences", "the head itself, measured on the sequences of the statistics"}, std::nullopt},
}};
/// The level of a control of the page; no operation has it as a field.
inline constexpr Parameter kLevel{"level", integers(0, static_cast<double>(kLevels.size() - 1)), 4,
                                  "predictor level; 0 is the isotropic theory"};
inline constexpr std::size_t kNestedLevels = static_cast<std::size_t>(Level::mean_field);

/// The weights through which queries and keys of one head are made, d_h x d in double precision.
struct HeadProjections {
  Eigen::MatrixXd query, key;
};

/// A token that attends, in the coordinates of a head.
struct HeadQuery {
  Eigen::VectorXd query, key;  ///< d_h, as in HeadStates
  Eigen::Index position;
};

/// Logits of one query, by key.
struct RowLaw {
  Eigen::VectorXd mean, std;
};
/// Logits of such a law, mean + std times `normal`, which are N(0, 1), one for each of the keys `seen`.
Eigen::VectorXd logits_of(const RowLaw& row, KeyRange seen, std::span<const float> normal);

/// Tokens that are alike: their mean and their covariance.
struct TokenCloud {
  Eigen::VectorXd mean;
  Eigen::MatrixXd covariance;
};

/// Means and covariances of the tokens of a layer that the levels use, in w coordinates.
struct TokenClouds {
  /// `passages` are w x T each.
  TokenClouds(const std::vector<Eigen::MatrixXd>& passages, const SinkKeys& sinks);

  TokenCloud all;                                          ///< every token
  TokenCloud but_first;                                    ///< without the sinks at the start
  TokenCloud content;                                      ///< without the sinks at the end either
  Eigen::VectorXd leading, trailing;                       ///< means of the sinks
  Eigen::MatrixXd smooth_but_first, smooth;                ///< mean token by position, w x T
  Eigen::MatrixXd around_smooth_but_first, around_smooth;  ///< covariance around these means
  SinkKeys sinks;
};

/// Level 8: logits of real keys, those of `states`, turned by `turns`; one for each of the keys `seen`. The query of
/// `passage` sees its key as it is. At each other position it sees the key of another passage, drawn by the N(0, 1)
/// number of `normal` for that key, or of the same passage where there is no other.
Eigen::VectorXd real_logits(const RotaryTurns& turns, const HeadStates& states,
                            const HeadQuery& query, Eigen::Index passage, KeyRange seen,
                            std::span<const float> normal);

/// Levels 1 to 7 of one head.
class HeadPredictor {
 public:
  /// From the head's tokens. `correlations` are those of the layer (correlations_of); `folded` are the head's
  /// weights with the gain of a pre-norm in them, which level 1 is about. Correlations and turns must outlive it.
  HeadPredictor(const HeadStates& states, const SinkKeys& sinks,
                const Eigen::VectorXd& correlations, const RotaryTurns& turns,
                const HeadProjections& folded);
  /// Without level 1, which alone needs the weights.
  HeadPredictor(const HeadStates& states, const SinkKeys& sinks,
                const Eigen::VectorXd& correlations, const RotaryTurns& turns);

  /// Whether the logits of a query have one law for all keys up to level 3: without rotary positions and biases of
  /// offsets.
  bool keys_are_alike() const { return turns_.is_none() && offset_bias_.size() == 0; }

  /// The law of a query's logits over all T keys. Throws InvalidArgument ("level") for a level that is no
  /// such law.
  RowLaw law(Level level, const HeadQuery& query) const;

  /// logits_of() law(level, query).
  Eigen::VectorXd normal_logits(Level level, const HeadQuery& query, KeyRange seen,
                                std::span<const float> normal) const;

  // The laws of the levels, without the bias of the offset, which law() adds to their means. With rotary positions W
  // depends on how far the key lies from the query, so that variances and means do.
  /// Level 1: independent isotropic tokens, s^2 = eta_F / d_h. Throws InvalidArgument ("level") without weights.
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
  /// Level 7: tokens near the query are correlated with it, Cov(x_s, x_t) = k(|s - t|) Sigma, and the key at its
  /// position is known: given x_q at p, key i has mean mu_i + k (x_q - mu_p) and (1 - k^2) Sigma.
  RowLaw neighbours(const Eigen::MatrixXd& query, const Eigen::VectorXd& key_at_place,
                    Eigen::Index position) const;

 private:
  Eigen::Index length() const { return keys_.smooth.cols(); }
  RowLaw law_without_offset_bias(Level level, const HeadQuery& query) const;
  /// tr(R(D) queries R(D)^T keys) by distance D, or for all distances.
  Eigen::VectorXd variances(const Eigen::MatrixXd& queries, const Eigen::MatrixXd& keys) const;
  RowLaw by_distance(const Eigen::VectorXd& variances, Eigen::Index position) const;
  /// Gives `count` keys from `first` on the known value `key_at_place`, with standard deviation 0.
  void set_sink(RowLaw& law, const Eigen::MatrixXd& query, const Eigen::VectorXd& key_at_place,
                Eigen::Index first, Eigen::Index count) const;

  TokenCloud queries_;
  TokenClouds keys_;
  Eigen::VectorXd offset_bias_;
  const Eigen::VectorXd& correlations_;
  const RotaryTurns& turns_;
  Eigen::VectorXd spectrum_, covariance_;  // variances of a logit
};

/// The weights of a head with the gain of the norm before them folded in. A norm of queries or keys, which no linear
/// map expresses, is replaced by the division by the root mean square that its inputs have for isotropic tokens, with
/// its gain folded in.
HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head);

/// Exponent gamma of attention ~ distance^-gamma over passages of `length` tokens, from the rotary base theta
/// alone: (2 theta - T sqrt 2) / (2 theta + T sqrt 2), the Pade approximant of "Predicting how transformers
/// attend". It is near 1 for bases far above the length and falls to 0 at theta = T / sqrt 2; NaN for smaller
/// bases, where it would say that attention grows with the distance, without rotary positions, and for
/// angles that are scaled.
double rotary_decay(const Rotary& rotary, Eigen::Index length);

}  // namespace eigenscope
