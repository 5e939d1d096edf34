// Measures of a head on text, and features of the tokens that stand out.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <vector>

#include "attention/softmax.h"
#include "inference/layer.h"
#include "text/passages.h"

namespace eigenscope {

/// The measures of one row of attention over n visible keys.
struct RowMeasures {
  double entropy = 0;        ///< over log n, in [0, 1]
  double participation = 0;  ///< 1 / (n sum p^2), in [1/n, 1]
  double sink_first = 0;  ///< weight on the tokens at the start: the special ones, else the first
  double sink_separator = 0;  ///< weight on the special tokens at the end

  double sink() const { return sink_first + sink_separator; }
  RowMeasures& operator+=(const RowMeasures& other);
  RowMeasures operator/(double count) const;
  /// Calls visit(number) for each measure, to write or read it.
  template <class Measures, class Visit>
  static void each(Measures& of, const Visit& visit) {
    for (auto* number : {&of.entropy, &of.participation, &of.sink_first, &of.sink_separator}) {
      visit(*number);
    }
  }
};

/// A row of attention: its query's position, the keys that it sees, and the tokens of its passage.
struct RowPlace {
  Eigen::Index query = 0;
  KeyRange seen;
  Eigen::Index length = 0;
};

/// Keys at the start and at the end of a passage that count as sinks; `leading` is at least 1.
struct SinkKeys {
  Eigen::Index leading = 1, trailing = 0;

  static SinkKeys of(const Passage& passage);
  /// The numbers of these keys that the query of a row sees.
  SinkKeys among(const RowPlace& row) const;
};

/// Means over the queries of all passages that a head was measured on; NaN where there was none.
struct HeadMeasures {
  Eigen::Index queries = 0;  ///< queries that see at least two keys
  RowMeasures row;
  double distance = std::numeric_limits<double>::quiet_NaN();  ///< sum_i p_i |i - q|, tokens
  /// Exponent gamma of attention ~ distance^-gamma, see decay_exponent; NaN for fewer than two
  /// distances.
  double decay = std::numeric_limits<double>::quiet_NaN();
  /// Index of rho_i, the share of queries for which key i lies strictly inside the range of the
  /// piecewise linear softmax, -1 < omega_i - omega_bar < n - 1 (see propagation_probability).
  double localization = std::numeric_limits<double>::quiet_NaN();
  /// Index of the mean of p_i (1 - p_i).
  double sensitivity_localization = std::numeric_limits<double>::quiet_NaN();
  /// Self-attention excess: the logit of the key at the position of the query minus the mean logit of the other visible
  /// keys, and the same difference of the weights. With token covariance Sigma around the mean the expected difference
  /// of the logits is tr(W Sigma) / sqrt(d_h).
  double self_logit = std::numeric_limits<double>::quiet_NaN();
  double self_weight = std::numeric_limits<double>::quiet_NaN();
  /// Weight of a learned sink; all other measures are of the weights of the tokens over their sum.
  double learned_sink = std::numeric_limits<double>::quiet_NaN();

  /// Calls visit(number) for each measure, to write or read it.
  template <class Measures, class Visit>
  static void each(Measures& of, const Visit& visit) {
    visit(of.queries);
    RowMeasures::each(of.row, visit);
    for (auto* number : {&of.distance, &of.decay, &of.localization, &of.sensitivity_localization,
                         &of.self_logit, &of.self_weight, &of.learned_sink}) {
      visit(*number);
    }
  }
};

/// Minus the slope of the least-squares line through log `weights` against the log of the distance.
/// Entry D - 1 is the mean weight of a content key D positions from its query. Distances whose weight is
/// not above 0, or NaN, are left out; NaN for fewer than two others.
double decay_exponent(const Eigen::ArrayXd& weights);

/// Collects the rows of one head.
class HeadMeter {
 public:
  /// Adds a passage: `logits` and `weights` as in HeadTrace.
  void add(const Eigen::MatrixXf& logits, const Eigen::MatrixXf& weights, const LayerRules& rules,
           const SinkKeys& sinks);
  /// Adds a row: logits and weights of the keys that its query sees, at least two.
  void add_row(const Eigen::VectorXd& logits, const Eigen::VectorXd& weights, const RowPlace& place,
               const SinkKeys& sinks);
  /// Adds the rows of another meter.
  HeadMeter& operator+=(const HeadMeter& other);
  Eigen::Index queries() const { return queries_; }
  HeadMeasures measures() const;
  /// Calls visit(number) or visit(array) for each of a meter's sums, to write or read it.
  template <class Meter, class Visit>
  static void each_sum(Meter& meter, const Visit& visit) {
    visit(meter.queries_);
    RowMeasures::each(meter.sum_, visit);
    for (auto* number :
         {&meter.distance_, &meter.self_logit_, &meter.self_weight_, &meter.learned_sink_}) {
      visit(*number);
    }
    for (auto* array :
         {&meter.inside_, &meter.sensitivity_, &meter.seen_, &meter.apart_, &meter.pairs_}) {
      visit(*array);
    }
  }
  /// Entry D - 1: mean weight of a content key D positions from its query, D up to half the passages' length;
  /// NaN where there is none.
  Eigen::ArrayXd by_distance() const;

 private:
  void grow(Eigen::Index length);
  /// Adds the measures of `row`, whose query is counted from the first key that it sees.
  template <class Scalar>
  void add_row(const AttentionRow<Scalar>& row, const RowPlace& place, const SinkKeys& sinks);

  Eigen::Index queries_ = 0;
  RowMeasures sum_;
  double distance_ = 0, self_logit_ = 0, self_weight_ = 0, learned_sink_ = 0;
  Eigen::ArrayXd inside_, sensitivity_, seen_;  // sums by key
  Eigen::ArrayXd apart_,
      pairs_;  // sums by distance: weights of content keys, and their number
};

/// Coordinates far above the others' size (arXiv:2407.01601).
struct OutlierFeature {
  double largest = 0;           ///< largest |coordinate| of any token
  double ratio = 0;             ///< `largest` over the median of the tokens' largest |coordinate|
  Eigen::Index coordinate = 0;  ///< coordinate with the largest |value|, from 0
  Eigen::Index position = 0;    ///< position of its token in the passage, from 0
};

/// Collects the tokens of one layer.
class OutlierMeter {
 public:
  void add(const Eigen::MatrixXf& tokens);
  /// NaN ratio without tokens, or when the median token is 0.
  OutlierFeature outlier() const;

 private:
  OutlierFeature outlier_;
  std::vector<float> sizes_;
};

}  // namespace eigenscope
