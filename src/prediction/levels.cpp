#include "prediction/levels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "support/error.h"
#include "support/gemm.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

// Loops over entries keep the WebAssembly module smaller than expressions of Eigen.

TokenCloud cloud_of(const Moments& moments) { return {moments.mean(), moments.covariance()}; }

/// The mean of a sink, of no use where there is none.
VectorXd mean_or_zero(const Moments& moments, Index width) {
  return moments.count() > 0 ? moments.mean() : VectorXd::Zero(width);
}

/// `covariance` without what the means of columns first to last - 1 explain.
MatrixXd around(const MatrixXd& covariance, const MatrixXd& means, Index first, Index last) {
  Moments explained(means.rows());
  explained.add(means.middleCols(first, last - first));
  MatrixXd left = explained.covariance();
  const double* const all = covariance.data();
  double* const out = left.data();
  for (Index i = 0; i < left.size(); ++i) out[i] = all[i] - out[i];
  return left;
}

/// The cloud of all tokens of the passages.
TokenCloud cloud_of(const std::vector<MatrixXd>& passages) {
  Moments moments(passages.front().rows());
  for (const MatrixXd& passage : passages) moments.add(passage);
  return cloud_of(moments);
}

/// The logit of `key` at position t for a query as the keys see it.
double logit_of(const MatrixXd& query, const VectorXd& key, Index t) {
  const double* const seen = query.data() + (query.cols() > 1 ? t * query.rows() : 0);
  return inner_product(seen, key.data(), key.size());
}

/// The product of columns t of two matrices.
double dot(const MatrixXd& a, const MatrixXd& b, Index t) {
  return inner_product(&a(0, t), &b(0, t), a.rows());
}

/// Standard deviation of a logit, for each of `count` keys.
VectorXd deviations(const MatrixXd& query, const MatrixXd& key_covariance, Index count) {
  const MatrixXd product = times(key_covariance, query);
  VectorXd row(count);
  for (Index t = 0; t < query.cols(); ++t) {
    row[t] = std::sqrt(std::max(0.0, dot(product, query, t)));
  }
  if (query.cols() == 1) std::fill_n(row.data(), count, row[0]);
  return row;
}

/// Logits of keys by position, d_h x T, or of one key for all positions.
VectorXd logits(const MatrixXd& query, const MatrixXd& keys, Index count) {
  if (query.cols() == 1 && keys.cols() == 1) return VectorXd::Constant(count, dot(query, keys, 0));
  if (query.cols() == 1) return transposed_times(keys, query);
  if (keys.cols() == 1) return transposed_times(query, keys);
  VectorXd row(count);
  for (Index t = 0; t < count; ++t) row[t] = dot(query, keys, t);
  return row;
}

/// Multiplies the d_h rows of head number `head`, which `norm` normalizes, by its gain over the root mean square
/// that their outputs, or those of all heads, have for isotropic tokens. `inputs` are factors of the inputs of
/// `from`, which the rows have already.
void divide_by_norm(const Norm& norm, const HeadProjection& from, const VectorXd& inputs, int head,
                    MatrixXd& rows) {
  const Index width = rows.rows(), size = norm.gain.size();
  const Index first = size > width ? 0 : head * width;
  const Linear normed = size > width ? *from.all() : from.head(head);
  const auto all = normed.weight.cast<double>();
  VectorXd squares = all.colwise().squaredNorm();
  if (norm.kind == NormKind::layer_norm) {
    const VectorXd mean = all.colwise().mean();
    squares -= static_cast<double>(size) * mean.cwiseAbs2();
    rows.rowwise() -= mean.cwiseProduct(inputs).transpose();
  }
  double square = squares.dot(inputs.cwiseAbs2());
  if (normed.bias.size() > 0) square += normed.bias.cast<double>().squaredNorm();
  const double root = std::sqrt(square / static_cast<double>(size) + norm.epsilon);
  const VectorXd gain = norm.gain.segment(head * width - first, width).cast<double>() / root;
  rows = gain.asDiagonal() * rows;
}

/// The compression of latent attention as a linear map of the tokens, whose coordinates have the factors `inputs`: its
/// norm divides by the root mean square that its inputs have for isotropic tokens.
MatrixXd linear_compression(const Compression& compression, const VectorXd& inputs) {
  MatrixXd map = compression.map.weight.cast<double>() * inputs.asDiagonal();
  const Norm& norm = compression.norm;
  auto normed = map.topRows(norm.gain.size());
  double square = normed.squaredNorm();
  if (const auto& bias = compression.map.bias; bias.size() > 0) {
    square += bias.head(norm.gain.size()).cast<double>().squaredNorm();
  }
  const double root = std::sqrt(square / static_cast<double>(normed.rows()) + norm.epsilon);
  normed = VectorXd(norm.gain.cast<double>() / root).asDiagonal() * normed.eval();
  return map;
}

}  // namespace

TokenClouds::TokenClouds(const std::vector<MatrixXd>& passages, const SinkKeys& apart)
    : sinks(apart) {
  const Index width = passages.front().rows(), length = passages.front().cols();
  const Index end = length - sinks.trailing;
  Moments first(width), tokens(width), last(width);
  for (const MatrixXd& passage : passages) {
    first.add(passage.leftCols(sinks.leading));
    tokens.add(passage.middleCols(sinks.leading, end - sinks.leading));
    last.add(passage.rightCols(sinks.trailing));
  }
  content = cloud_of(tokens);
  tokens += last;
  but_first = cloud_of(tokens);
  tokens += first;
  all = cloud_of(tokens);
  leading = mean_or_zero(first, width);
  trailing = mean_or_zero(last, width);
  const MatrixXd means = mean_of(passages);
  smooth_but_first = smoothed_by_position(means, {sinks.leading, 0});
  smooth = smoothed_by_position(means, sinks);
  around_smooth_but_first = around(but_first.covariance, smooth_but_first, sinks.leading, length);
  around_smooth = around(content.covariance, smooth, sinks.leading, end);
}

HeadPredictor::HeadPredictor(const HeadStates& states, const SinkKeys& sinks,
                             const VectorXd& correlations, const RotaryTurns& turns,
                             const HeadProjections& folded)
    : HeadPredictor(states, sinks, correlations, turns) {
  const auto width = static_cast<double>(folded.query.rows());
  const MatrixXd queries = times(folded.query, folded.query.transpose()) / width;
  spectrum_ = variances(queries, times(folded.key, folded.key.transpose()));
}

HeadPredictor::HeadPredictor(const HeadStates& states, const SinkKeys& sinks,
                             const VectorXd& correlations, const RotaryTurns& turns)
    : queries_(cloud_of(states.queries)),
      keys_(states.keys, sinks),
      offset_bias_(states.offset_bias),
      correlations_(correlations),
      turns_(turns),
      covariance_(variances(queries_.covariance, keys_.all.covariance)) {}

VectorXd HeadPredictor::variances(const MatrixXd& queries, const MatrixXd& keys) const {
  VectorXd by_distance(turns_.is_none() ? 1 : length());
  for (Index distance = 0; distance < by_distance.size(); ++distance) {
    MatrixXd seen = queries;
    if (!turns_.is_none()) {
      turns_.turn(distance, seen);
      seen.transposeInPlace();
      turns_.turn(distance, seen);
    }
    by_distance[distance] = seen.cwiseProduct(keys).sum();
  }
  return by_distance;
}

RowLaw HeadPredictor::by_distance(const VectorXd& variances, Index place) const {
  RowLaw law{VectorXd::Zero(length()), VectorXd(length())};
  const double* const variance = variances.data();
  double* const deviation = law.std.data();
  const bool alike = variances.size() == 1;
  for (Index key = 0; key < law.std.size(); ++key) {
    deviation[key] = std::sqrt(std::max(0.0, variance[alike ? 0 : std::abs(key - place)]));
  }
  return law;
}

void HeadPredictor::set_sink(RowLaw& law, const MatrixXd& query, const VectorXd& key, Index first,
                             Index count) const {
  for (Index t = first; t < first + count; ++t) {
    law.mean[t] = logit_of(query, key, t);
    law.std[t] = 0;
  }
}

RowLaw HeadPredictor::law(Level level, const HeadQuery& query) const {
  RowLaw law = law_without_offset_bias(level, query);
  if (offset_bias_.size() > 0) {
    law.mean += seen_offsets(offset_bias_, query.position, 0, length());
  }
  return law;
}

RowLaw HeadPredictor::law_without_offset_bias(Level level, const HeadQuery& query) const {
  const Index place = query.position;
  const auto seen = [&] { return turns_.rotated_for_keys(query.query, place, length()); };
  switch (level) {
    case Level::spectrum:
      return spectrum(place);
    case Level::covariance:
      return covariance(place);
    case Level::mean:
      return mean(place);
    case Level::sink:
      return sink(seen());
    case Level::position:
      return position(seen());
    case Level::separator:
      return separator(seen());
    case Level::neighbours:
      return neighbours(seen(), query.key, place);
    case Level::isotropic:
    case Level::keys:
    case Level::mean_field:
    case Level::sequences:
      break;
  }
  throw InvalidArgument("level", "be a level of independent normal logits");
}

VectorXd HeadPredictor::normal_logits(Level level, const HeadQuery& query, KeyRange seen,
                                      std::span<const float> normal) const {
  return logits_of(law(level, query), seen, normal);
}

VectorXd logits_of(const RowLaw& row, KeyRange seen, std::span<const float> normal) {
  VectorXd logits(seen.count);
  const double *const mean = row.mean.data() + seen.first, *const deviation =
                                                               row.std.data() + seen.first;
  const float* const z = normal.data();
  double* const out = logits.data();
  for (Index t = 0; t < logits.size(); ++t) out[t] = mean[t] + deviation[t] * z[t];
  return logits;
}

VectorXd real_logits(const RotaryTurns& turns, const HeadStates& states, const HeadQuery& query,
                     Index passage, KeyRange seen, std::span<const float> normal) {
  const auto& keys = states.keys;
  const MatrixXd turned = turns.rotated_for_keys(query.query, query.position, seen.end());
  const auto passages = static_cast<Index>(keys.size());
  VectorXd logits(seen.count);
  for (Index i = 0; i < seen.count; ++i) {
    const Index t = seen.first + i;
    Index other = passage;
    if (t != query.position && passages > 1) {
      const float drawn = normal[static_cast<std::size_t>(i)];
      other = (passage + 1 + uniform_index(drawn, passages - 1)) % passages;
    }
    const MatrixXd& from = keys[static_cast<std::size_t>(other)];
    const double* const query_seen = turned.data() + (turned.cols() > 1 ? t * turned.rows() : 0);
    logits[i] = inner_product(query_seen, from.data() + t * from.rows(), turned.rows());
  }
  if (states.offset_bias.size() > 0) {
    logits += seen_offsets(states.offset_bias, query.position, seen.first, seen.count);
  }
  return logits;
}

RowLaw HeadPredictor::spectrum(Index place) const {
  if (spectrum_.size() == 0) throw InvalidArgument("level", "be another one without the weights");
  return by_distance(spectrum_, place);
}
RowLaw HeadPredictor::covariance(Index place) const { return by_distance(covariance_, place); }

RowLaw HeadPredictor::mean(Index place) const {
  const MatrixXd centre = turns_.rotated_for_keys(queries_.mean, place, length());
  RowLaw law = by_distance(covariance_, place);
  const VectorXd spread = deviations(centre, keys_.all.covariance, length());
  double* const deviation = law.std.data();
  const double* const of_query = spread.data();
  for (Index t = 0; t < spread.size(); ++t) {
    deviation[t] = std::sqrt(deviation[t] * deviation[t] + of_query[t] * of_query[t]);
  }
  if (!turns_.is_none()) law.mean = logits(centre, keys_.all.mean, length());
  return law;
}

RowLaw HeadPredictor::sink(const MatrixXd& query) const {
  RowLaw law = {logits(query, keys_.but_first.mean, length()),
                deviations(query, keys_.but_first.covariance, length())};
  set_sink(law, query, keys_.leading, 0, keys_.sinks.leading);
  return law;
}

RowLaw HeadPredictor::position(const MatrixXd& query) const {
  RowLaw law = {logits(query, keys_.smooth_but_first, length()),
                deviations(query, keys_.around_smooth_but_first, length())};
  set_sink(law, query, keys_.leading, 0, keys_.sinks.leading);
  return law;
}

RowLaw HeadPredictor::separator(const MatrixXd& query) const {
  RowLaw law = {logits(query, keys_.smooth, length()),
                deviations(query, keys_.around_smooth, length())};
  set_sink(law, query, keys_.leading, 0, keys_.sinks.leading);
  const Index trailing = keys_.sinks.trailing;
  set_sink(law, query, keys_.trailing, length() - trailing, trailing);
  return law;
}

RowLaw HeadPredictor::neighbours(const MatrixXd& query, const VectorXd& key_at_place,
                                 Index place) const {
  RowLaw law = separator(query);
  const Index begin = keys_.sinks.leading, end = length() - keys_.sinks.trailing;
  if (place < begin || place >= end) {
    law.mean[place] = logit_of(query, key_at_place, place);
    return law;
  }
  const VectorXd excess = logits(query, key_at_place - keys_.smooth.col(place), length());
  const double *const correlation = correlations_.data(), *const more = excess.data();
  double *const mean = law.mean.data(), *const deviation = law.std.data();
  for (Index key = begin; key < end; ++key) {
    const double k = correlation[std::abs(key - place)];
    mean[key] += k * more[key];
    deviation[key] *= std::sqrt(1 - k * k);
  }
  return law;
}

HeadProjections folded_projections(const LayerWeights& weights, const LayerRules& rules, int head) {
  const auto rows_of = [&](const HeadProjection& from, const Compression& compression,
                           const Norm& norm, int number) {
    const bool earlier = compression.selects() && compression.first_row > 0;
    const Norm& before = earlier ? weights.earlier_norm : weights.attention_norm;
    const bool compresses = compression.map.weight.size() > 0;
    const Index width = compresses ? compression.map.weight.cols() : from.inputs();
    const VectorXd inputs =
        before.is_none() ? VectorXd::Ones(width) : VectorXd(before.gain.cast<double>());
    MatrixXd rows = from.head(number).weight.cast<double>();
    if (compresses) return MatrixXd(rows * linear_compression(compression, inputs));
    rows *= inputs.asDiagonal();
    if (!norm.is_none()) divide_by_norm(norm.of_head(number), from, inputs, number, rows);
    return rows;
  };
  return {rows_of(weights.query, weights.query_input, weights.query_norm, head),
          rows_of(weights.key, weights.key_input, weights.key_norm, rules.key_head(head))};
}

double rotary_decay(const Rotary& rotary, Eigen::Index length) {
  const double twice = 2 * rotary.base, reach = std::numbers::sqrt2 * static_cast<double>(length);
  if (rotary.pairs == RotaryPairs::kNone || !rotary.angle_scale.empty() || twice < reach) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return (twice - reach) / (twice + reach);
}

}  // namespace eigenscope
