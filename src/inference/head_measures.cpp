#include "inference/head_measures.h"

#include <algorithm>
#include <cmath>

#include "attention/softmax.h"
#include "propagation/propagation.h"
#include "support/vector_width.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::VectorXd;

RowMeasures& RowMeasures::operator+=(const RowMeasures& other) {
  entropy += other.entropy;
  participation += other.participation;
  sink_first += other.sink_first;
  sink_separator += other.sink_separator;
  return *this;
}

RowMeasures RowMeasures::operator/(double count) const {
  return {entropy / count, participation / count, sink_first / count, sink_separator / count};
}

SinkKeys SinkKeys::of(const Passage& passage) {
  return {std::max<Index>(1, passage.leading), passage.trailing};
}

SinkKeys SinkKeys::among(const RowPlace& row) const {
  const Index first = std::clamp<Index>(leading - row.seen.first, 0, row.seen.count);
  // A causal query among the trailing tokens sees some of them.
  const Index hidden = row.length - row.seen.end();
  return {first, std::max<Index>(0, std::min(trailing - hidden, row.seen.count - first))};
}

namespace {

// Sums by key and by distance of the rows of a head.
struct Profiles {
  double *inside, *sensitivity, *seen;  // by key
  double *apart, *pairs;                // by distance, from 1 on
};

// Adds, by key, 1 to `inside` where the key lies strictly inside the range of the piecewise linear softmax,
// -1 < omega_i - mean < n - 1; p (1 - p) to `sensitivity`; 1 to `seen`.
template <class Scalar>
EIGENSCOPE_INLINE void add_by_key(const AttentionRow<Scalar>& row, double mean,
                                  const Profiles& to) {
  const double upper = static_cast<double>(row.keys - 1);
  for (Index i = 0; i < row.keys; ++i) {
    const double centred = static_cast<double>(row.logits[i]) - mean;
    to.inside[i] += ((centred > -1) & (centred < upper)) ? 1.0 : 0.0;
  }
  for (Index i = 0; i < row.keys; ++i) {
    const double p = static_cast<double>(row.weights[i]);
    to.sensitivity[i] += p * (1 - p);
  }
  for (Index i = 0; i < row.keys; ++i) to.seen[i] += 1;
}

// Adds the weights of the keys `begin` to `end` - 1 at distance D = 1 ... `longest` from the query to
// `apart`[D - 1], and their number to `pairs`[D - 1].
template <class Scalar>
EIGENSCOPE_INLINE void add_by_distance(const AttentionRow<Scalar>& row, Index begin, Index end,
                                       Index longest, const Profiles& to) {
  const Scalar* const at_query = row.weights + row.query;
  const Index after = std::min(longest, end - 1 - row.query);
  for (Index d = std::max<Index>(1, begin - row.query); d <= after; ++d) {
    to.apart[d - 1] += static_cast<double>(at_query[d]);
    to.pairs[d - 1] += 1;
  }
  const Index before = std::min(longest, row.query - begin);
  for (Index d = std::max<Index>(1, row.query - end + 1); d <= before; ++d) {
    to.apart[d - 1] += static_cast<double>(at_query[-d]);
    to.pairs[d - 1] += 1;
  }
}

// The entry of the query's position in a row minus the mean of the others.
template <class Scalar>
double excess(const Scalar* row, Index query, double sum, Index keys) {
  const auto self = static_cast<double>(row[query]);
  return self - (sum - self) / static_cast<double>(keys - 1);
}

template <class Scalar>
double sum_of(const Scalar* values, Index count) {
  double sum = 0;
  for (Index i = 0; i < count; ++i) sum += static_cast<double>(values[i]);
  return sum;
}

}  // namespace

double decay_exponent(const Eigen::ArrayXd& weights) {
  double count = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (Index i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 0)) continue;
    const double distance = std::log(static_cast<double>(i + 1)), weight = std::log(weights[i]);
    count += 1;
    x += distance;
    y += weight;
    xx += distance * distance;
    xy += distance * weight;
  }
  if (count < 2) return std::numeric_limits<double>::quiet_NaN();
  return (x * y - count * xy) / (count * xx - x * x);
}

void HeadMeter::grow(Index length) {
  if (seen_.size() >= length) return;
  const Index grown = length - seen_.size();
  for (Eigen::ArrayXd* sums : {&inside_, &sensitivity_, &seen_, &apart_, &pairs_}) {
    sums->conservativeResize(length);
    sums->tail(grown).setZero();
  }
}

void HeadMeter::add(const Eigen::MatrixXf& logits, const Eigen::MatrixXf& weights,
                    const LayerRules& rules, const SinkKeys& sinks) {
  const Index length = weights.rows();
  for (Index query = 0; query < length; ++query) {
    const KeyRange seen = rules.seen(query, length);
    if (seen.count < 2) continue;
    const RowPlace place{query, seen, length};
    const auto row_logits = logits.col(query).segment(seen.first, seen.count);
    const auto row_weights = weights.col(query).segment(seen.first, seen.count);
    if (rules.learned_sinks) {
      const VectorXd logits = row_logits.cast<double>();
      VectorXd shares = row_weights.cast<double>();
      const double total = shares.sum();
      learned_sink_ += 1 - total;
      // Weights that underflow beside the sink have the ratios of their logits.
      if (total > 0) {
        shares /= total;
      } else {
        shares = softmax(logits, 1);
      }
      add_row(logits, shares, place, sinks);
    } else {
      add_row<float>({row_logits.data(), row_weights.data(), seen.count, query - seen.first}, place,
                     sinks);
    }
  }
}

void HeadMeter::add_row(const VectorXd& logits, const VectorXd& weights, const RowPlace& place,
                        const SinkKeys& sinks) {
  add_row<double>({logits.data(), weights.data(), weights.size(), place.query - place.seen.first},
                  place, sinks);
}

template <class Scalar>
void HeadMeter::add_row(const AttentionRow<Scalar>& row, const RowPlace& place,
                        const SinkKeys& sinks) {
  grow(place.length);
  const RowSums sums = sums_of(row);
  const SinkKeys seen = sinks.among(place);
  const auto count = static_cast<double>(row.keys);
  sum_ += {sums.entropy / std::log(count), 1 / (count * sums.squares),
           sum_of(row.weights, seen.leading),
           sum_of(row.weights + row.keys - seen.trailing, seen.trailing)};
  distance_ += sums.distance;
  self_logit_ += excess(row.logits, row.query, sums.logits, row.keys);
  self_weight_ += excess(row.weights, row.query, sums.weights, row.keys);
  const Index first = place.seen.first;
  in_widest_vectors([&]() EIGENSCOPE_INLINE_LAMBDA {
    const Profiles profiles{inside_.data() + first, sensitivity_.data() + first,
                            seen_.data() + first, apart_.data(), pairs_.data()};
    add_by_key(row, sums.logits / count, profiles);
    add_by_distance(row, std::max<Index>(0, sinks.leading - first),
                    std::min(row.keys, place.length - sinks.trailing - first), place.length / 2,
                    profiles);
  });
  ++queries_;
}

HeadMeter& HeadMeter::operator+=(const HeadMeter& other) {
  grow(other.seen_.size());
  queries_ += other.queries_;
  sum_ += other.sum_;
  distance_ += other.distance_;
  self_logit_ += other.self_logit_;
  self_weight_ += other.self_weight_;
  learned_sink_ += other.learned_sink_;
  for (const auto sums : {&HeadMeter::inside_, &HeadMeter::sensitivity_, &HeadMeter::seen_,
                          &HeadMeter::apart_, &HeadMeter::pairs_}) {
    (this->*sums).head((other.*sums).size()) += other.*sums;
  }
  return *this;
}

Eigen::ArrayXd HeadMeter::by_distance() const {
  const Index longest = apart_.size() / 2;
  return apart_.head(longest) / pairs_.head(longest);  // 0/0 is NaN
}

HeadMeasures HeadMeter::measures() const {
  HeadMeasures measures;
  measures.queries = queries_;
  const auto count = static_cast<double>(queries_);
  measures.row = sum_ / count;
  measures.distance = distance_ / count;
  measures.self_logit = self_logit_ / count;
  measures.self_weight = self_weight_ / count;
  measures.learned_sink = learned_sink_ / count;
  if (queries_ == 0) return measures;
  measures.decay = decay_exponent(by_distance());
  measures.localization = localization_index(inside_ / seen_);
  measures.sensitivity_localization = localization_index(sensitivity_ / seen_);
  return measures;
}

void OutlierMeter::add(const Eigen::MatrixXf& tokens) {
  for (Index t = 0; t < tokens.cols(); ++t) {
    Index coordinate = 0;
    const float size = tokens.col(t).cwiseAbs().maxCoeff(&coordinate);
    sizes_.push_back(size);
    if (size > outlier_.largest) outlier_ = {size, 0, coordinate, t};
  }
}

OutlierFeature OutlierMeter::outlier() const {
  OutlierFeature outlier = outlier_;
  outlier.ratio = std::numeric_limits<double>::quiet_NaN();
  if (sizes_.empty()) return outlier;
  std::vector<float> sizes = sizes_;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  if (*middle > 0) outlier.ratio = outlier.largest / *middle;
  return outlier;
}

}  // namespace eigenscope
