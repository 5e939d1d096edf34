#include "inference/head_measures.h"

#include <algorithm>
#include <cmath>

#include "attention/row_sums.h"
#include "attention/softmax.h"
#include "propagation/propagation.h"

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

RowMeasures measure_row(const VectorXd& weights, const RowPlace& row, const SinkKeys& sinks) {
  const SinkKeys seen = sinks.among(row);
  return {normalized_entropy(weights), participation(weights), weights.head(seen.leading).sum(),
          weights.tail(seen.trailing).sum()};
}

namespace {

// Adds to sums by key: 1 to `inside` where the key lies strictly inside the range of the piecewise linear
// softmax, -1 < omega_i - mean < n - 1; p (1 - p) to `sensitivity`; 1 to `seen`.
void add_by_key(const AttentionRow& row, double mean, double* inside, double* sensitivity,
                double* seen) {
  const double upper = static_cast<double>(row.keys - 1);
  for (Index i = 0; i < row.keys; ++i) {
    const double centred = row.logits[i] - mean;
    inside[i] += static_cast<double>((centred > -1) & (centred < upper));
  }
  for (Index i = 0; i < row.keys; ++i) sensitivity[i] += row.weights[i] * (1 - row.weights[i]);
  for (Index i = 0; i < row.keys; ++i) seen[i] += 1;
}

// Adds the weights of the keys `begin` to `end` - 1 at distance D = 1 ... `longest` from the query to
// `weights`[D - 1], and their number to `counts`[D - 1].
void add_by_distance(const AttentionRow& row, Index begin, Index end, Index longest,
                     double* weights, double* counts) {
  const Index after = std::min(longest, end - 1 - row.query);
  for (Index d = std::max<Index>(1, begin - row.query); d <= after; ++d) {
    weights[d - 1] += row.weights[row.query + d];
    counts[d - 1] += 1;
  }
  const Index before = std::min(longest, row.query - begin);
  for (Index d = std::max<Index>(1, row.query - end + 1); d <= before; ++d) {
    weights[d - 1] += row.weights[row.query - d];
    counts[d - 1] += 1;
  }
}

// An entry of a row minus the mean of the others.
double excess(const VectorXd& row, Index entry, double sum) {
  return row[entry] - (sum - row[entry]) / static_cast<double>(row.size() - 1);
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
  VectorXd row_logits, row_weights;
  for (Index query = 0; query < length; ++query) {
    const KeyRange seen = rules.seen(query, length);
    if (seen.count < 2) continue;
    row_logits = logits.col(query).segment(seen.first, seen.count).cast<double>();
    row_weights = weights.col(query).segment(seen.first, seen.count).cast<double>();
    const double total = row_weights.sum();
    if (rules.learned_sinks && total > 0) {
      learned_sink_ += 1 - total;
      row_weights /= total;
    }
    add_row(row_logits, row_weights, {query, seen, length}, sinks);
  }
}

void HeadMeter::add_row(const VectorXd& logits, const VectorXd& weights, const RowPlace& place,
                        const SinkKeys& sinks) {
  grow(place.length);
  sum_ += measure_row(weights, place, sinks);
  const Index first = place.seen.first, query = place.query - first;  // counted from the first key
  const AttentionRow row{logits.data(), weights.data(), weights.size(), query};
  const RowSums sums = sums_of(row);
  double distance = 0;
  for (Index i = 0; i < row.keys; ++i) {
    distance += row.weights[i] * static_cast<double>(std::abs(i - query));
  }
  distance_ += distance;
  self_logit_ += excess(logits, query, sums.logits);
  self_weight_ += excess(weights, query, sums.weights);
  const double mean = sums.logits / static_cast<double>(row.keys);
  add_by_key(row, mean, inside_.data() + first, sensitivity_.data() + first, seen_.data() + first);
  add_by_distance(row, std::max<Index>(0, sinks.leading - first),
                  std::min(row.keys, place.length - sinks.trailing - first), place.length / 2,
                  apart_.data(), pairs_.data());
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
  const auto add = [](Eigen::ArrayXd& sums, const Eigen::ArrayXd& more) {
    sums.head(more.size()) += more;
  };
  add(inside_, other.inside_);
  add(sensitivity_, other.sensitivity_);
  add(seen_, other.seen_);
  add(apart_, other.apart_);
  add(pairs_, other.pairs_);
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
    if (size > found_.largest) found_ = {size, 0, coordinate, t};
  }
}

OutlierFeature OutlierMeter::outlier() const {
  OutlierFeature found = found_;
  found.ratio = std::numeric_limits<double>::quiet_NaN();
  if (sizes_.empty()) return found;
  std::vector<float> sizes = sizes_;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
  std::nth_element(sizes.begin(), middle, sizes.end());
  if (*middle > 0) found.ratio = found.largest / *middle;
  return found;
}

}  // namespace eigenscope
