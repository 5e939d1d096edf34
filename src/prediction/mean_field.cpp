#include "prediction/mean_field.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "attention/softmax.h"
#include "prediction/token_statistics.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr std::uint64_t kStream = 0x6d65616e66696c64;  // "meanfild"

// Loops over entries keep the WebAssembly module smaller than expressions of Eigen; sums of products have one order on
// every machine.

constexpr int kHalvings = 30;  // of an interval of some deviations

/// A content key as a query sees it.
struct ContentKey {
  double shift;   ///< logarithm of its mean weight minus its mean logit
  double square;  ///< E e^(2 q.k) over (E e^(q.k))^2
  double share;   ///< factor of C_vk q in its value
};

/// A cap around the logits of a content key that contribute most to its mean weight.
struct LinearCap {
  double slope = 1;
  double moved = 0;  ///< change of the mean logit
};

/// For Gaussian logits of this mean and variance these are z = s f'(mean + s z) deviations above the mean, where
/// e^f(l) times their density is largest for f(l) = c tanh(l/c), and at most `frozen`^(1/2).
LinearCap linear_cap(float cap, double mean, double variance, double frozen) {
  if (cap == 0) return {};
  const double s = std::sqrt(variance);
  struct Point {
    double value, slope;
  };
  const auto capped = [&](double logit) -> Point {
    double value = logit;
    cap_logits<double>(cap, {&value, 1});
    return {value, 1 - value * value / (double{cap} * double{cap})};
  };
  double low = 0, high = std::min(s, std::sqrt(frozen));
  for (int k = 0; k < kHalvings; ++k) {
    const double z = (low + high) / 2;
    (z < s * capped(mean + s * z).slope ? low : high) = z;
  }
  const auto [value, slope] = capped(mean + s * high);
  return {slope, value - slope * s * high - mean};
}

/// The queries of a passage as the keys see them. Where rotary positions turn them, each key sees the present query at
/// another angle; else all keys see the same.
class SeenQueries {
 public:
  SeenQueries(const KeyValueLaw& law, const MatrixXd& queries, const RotaryTurns& turns)
      : law_(law), queries_(queries), turns_(turns), turned_(!turns.is_none()) {
    if (turned_) return;
    products_ = times(law.key_covariance, queries);
    logits_ = transposed_times(law.key_means, queries);
  }

  /// The present query is then that at `position`, which sees keys below `end`.
  void enter(Index position, Index end) {
    position_ = position;
    if (!turned_) return;
    seen_ = turns_.rotated_for_keys(queries_.col(position), position, end);
    products_ = times(law_.key_covariance, seen_);
  }
  bool turned() const { return turned_; }
  /// The query as key t sees it.
  const double* query(Index t) const {
    return turned_ ? seen_.data() + t * width() : queries_.data() + position_ * width();
  }
  /// Logit of the mean of key t.
  double mean_logit(Index t) const {
    return turned_ ? inner_product(query(t), law_.key_means.data() + t * width(), width())
                   : logits_.data()[position_ * logits_.rows() + t];
  }
  /// Variance s^2 of the logit of a content key at t.
  double variance(Index t) const {
    const double* const product = products_.data() + (turned_ ? t : position_) * width();
    return std::max(0.0, inner_product(product, query(t), width()));
  }

 private:
  Index width() const { return queries_.rows(); }

  const KeyValueLaw& law_;
  const MatrixXd& queries_;
  const RotaryTurns& turns_;
  bool turned_;
  Index position_ = 0;
  MatrixXd seen_, products_, logits_;  // products_: Sigma_k times the queries
};

ContentKey content_key(double mean, double variance, float cap, double frozen) {
  const auto [slope, moved] = linear_cap(cap, mean, variance, frozen);
  const double linear = slope * slope * variance, capped = std::min(linear, frozen);
  return {moved + capped / 2, std::exp(capped),
          slope * (linear > frozen ? std::sqrt(frozen / linear) : 1)};
}

}  // namespace

KeyValueLaw key_value_law(const HeadStates& population, const SinkKeys& sinks) {
  const std::vector<MatrixXd>&keys = population.keys, &values = population.values;
  const Index width = keys.front().rows(), length = keys.front().cols();
  const Index value_width = values.front().rows();
  const Index content = length - sinks.leading - sinks.trailing;
  KeyValueLaw law{smoothed_by_position(mean_of(keys), sinks),
                  smoothed_by_position(mean_of(values), sinks), MatrixXd::Zero(width, width),
                  MatrixXd::Zero(value_width, width), sinks};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const MatrixXd key = (keys[k] - law.key_means).middleCols(sinks.leading, content);
    const MatrixXd value = (values[k] - law.value_means).middleCols(sinks.leading, content);
    const Factor<double> by_token = factor(key.data(), width).transposed();
    const auto product = [&](const MatrixXd& of, MatrixXd& sum) -> Product<double> {
      const Index rows = of.rows();
      return {rows, width, factor(of.data(), rows), by_token, sum.data(), rows, /*add=*/true};
    };
    const std::array products{product(key, law.key_covariance),
                              product(value, law.cross_covariance)};
    multiply<double, double>(content, products);
  }
  const double count = static_cast<double>(content) * static_cast<double>(keys.size());
  law.key_covariance /= count;
  law.cross_covariance /= count;
  return law;
}

MeanFieldReads mean_field_reads(const KeyValueLaw& law, const HeadStates& tokens,
                                std::size_t passage, const RotaryTurns& turns,
                                const LayerRules& rules) {
  const MatrixXd &queries = tokens.queries[passage], &keys = tokens.keys[passage];
  const MatrixXd& values = tokens.values[passage];
  const Index length = law.key_means.cols(), width = law.key_means.rows();
  const Index value_width = values.rows();
  SeenQueries seen(law, queries, turns);
  const bool turned = seen.turned();
  MatrixXd weights = MatrixXd::Zero(length, length);  // column = query; 0 for the token's key
  MatrixXd pulls = MatrixXd::Zero(width, length);  // what content keys pull it along, before C_vk
  VectorXd self(length), spread(length);
  std::vector<ContentKey> content;  // of a query
  for (Index position = 0; position < length; ++position) {
    const KeyRange visible = rules.seen(position, length);
    const Index begin = std::clamp(law.sinks.leading, visible.first, visible.end());
    const Index end = std::max(begin, std::min(length - law.sinks.trailing, visible.end()));
    const Index others = end - begin - (position >= begin && position < end ? 1 : 0);
    const double frozen = 2 * std::log(static_cast<double>(std::max<Index>(1, others)));
    seen.enter(position, visible.end());
    VectorXd row(visible.count);
    const auto logit = [&](Index t) -> double& { return row.data()[t - visible.first]; };
    const auto bias = [&](Index t) {
      return tokens.offset_bias.size() > 0 ? seen_offsets(tokens.offset_bias, position, t, 1)[0]
                                           : 0.0;
    };
    for (Index t = visible.first; t < visible.end(); ++t) {
      logit(t) = seen.mean_logit(t) + bias(t);
    }
    const bool differ = turned || rules.attention_cap > 0;
    content.clear();
    for (Index t = begin; t < end; ++t) {
      content.push_back(differ || t == begin
                            ? content_key(logit(t), seen.variance(t), rules.attention_cap, frozen)
                            : content.front());
      logit(t) += content.back().shift;
    }
    const auto set_known = [&](Index t, double value) {
      cap_logits<double>(rules.attention_cap, {&value, 1});
      logit(t) = value;
    };
    for (Index t = visible.first; t < visible.end(); ++t) {
      if (t < begin || t >= end) set_known(t, logit(t));
    }
    set_known(position, bias(position) + inner_product(seen.query(position),
                                                       keys.data() + position * width, width));
    const VectorXd attention = softmax(row, 1);
    double* const weight = weights.data() + position * length;
    std::copy_n(attention.data(), visible.count, weight + visible.first);
    self[position] = weight[position];
    weight[position] = 0;
    double all = 0, square = 0, shares = 0;
    double* const pulled = pulls.data() + position * width;
    for (Index t = begin; t < end; ++t) {
      const ContentKey& as_content = content[static_cast<std::size_t>(t - begin)];
      all += weight[t];
      square += weight[t] * weight[t] * as_content.square;
      const double share = weight[t] * as_content.share;
      shares += share;
      for (Index i = 0; turned && i < width; ++i) pulled[i] += share * seen.query(t)[i];
    }
    for (Index i = 0; !turned && i < width; ++i) pulled[i] = shares * seen.query(0)[i];
    spread[position] = std::min(all, std::sqrt(square));  // one key cannot take more than all
  }
  MatrixXd mean = times(law.value_means, weights);
  multiply(value_width, length, width, factor(law.cross_covariance.data(), value_width),
           factor(pulls.data(), width), mean.data(), value_width, /*add=*/true);
  for (Index t = 0; t < length; ++t) {
    double* const column = mean.data() + t * value_width;
    const double* const value = values.data() + t * value_width;
    for (Index i = 0; i < value_width; ++i) column[i] += self[t] * value[i];
  }
  return {mean, spread};
}

MeanField::MeanField(const Transformer& model, const std::vector<Passage>& passages,
                     std::uint64_t seed)
    : seed_(seed), pass_(model, passages.size(), static_cast<std::size_t>(model.heads())) {
  if (passages.empty()) throw InvalidArgument("passages", "number at least one");
  sinks_ = SinkKeys::of(passages.front());
  pass_.embed(passages);
}

std::vector<MatrixXf> MeanField::states(const LayerWeights& weights) const {
  std::vector<MatrixXf> states;
  for (std::size_t k = 0; k < pass_.tokens.size(); ++k) {
    states.push_back(pass_.states(weights, k));
  }
  return states;
}

void MeanField::read_head(const HeadStates& tokens, const LayerRules& rules,
                          const RotaryTurns& turns) {
  const KeyValueLaw law = key_value_law(tokens, sinks_);
  const Index width = law.value_means.rows(), length = law.value_means.cols();
  const auto content = static_cast<std::uint64_t>(length - sinks_.leading - sinks_.trailing);
  const std::uint64_t stream = kStream + static_cast<std::uint64_t>(layer() * rules.heads + head());
  std::vector<MatrixXf>& all_reads = pass_.read;
  for (std::size_t k = 0; k < all_reads.size(); ++k) {
    all_reads[k].resize(rules.heads * width,
                        length);  // of another size in the layer before, perhaps
    const MeanFieldReads reads = mean_field_reads(law, tokens, k, turns, rules);
    for (Index t = 0; t < length; ++t) {
      const std::uint64_t drawn =
          random_bits(seed_, stream,
                      k * static_cast<std::uint64_t>(length) + static_cast<std::uint64_t>(t)) %
          (content * all_reads.size());
      const Index place = sinks_.leading + static_cast<Index>(drawn % content);
      const double* const value = tokens.values[drawn / content].data() + place * width;
      const double* const centre = law.value_means.data() + place * width;
      const double* const mean = reads.mean.data() + t * width;
      const double spread = reads.spread[t];
      float* const out = all_reads[k].data() + t * all_reads[k].rows() + head() * width;
      for (Index i = 0; i < width; ++i) {
        out[i] = static_cast<float>(mean[i] + spread * (value[i] - centre[i]));
      }
    }
  }
  pass_.end_units();
}

MeanFieldLevel::MeanFieldLevel(std::shared_ptr<const Transformer> model,
                               const PredictionPassages& passages,
                               const PredictionSettings& settings)
    : model_(std::move(model)),
      passages_(passages.statistics),
      rows_(*model_, passages_, settings) {}

Index MeanFieldLevel::steps_wanted() const {
  const auto passages = static_cast<Index>(passages_.size());
  return model_->all_heads() + model_->layers_with_heads().back() * passages;  // before the last
}

double MeanFieldLevel::work_per_step() const {
  if (!population_ || !population_->heads_done()) return rows_.work();
  return 3 * passage_work(rows_.length(), model_->width()) / 4;
}

void MeanFieldLevel::do_step(std::vector<HeadPrediction>& heads) {
  if (!population_) population_.emplace(*model_, passages_, rows_.settings().seed);
  if (!population_->heads_done()) return do_head(heads);
  weights_ = {};
  states_.clear();
  population_->finish_passage();
}

void MeanFieldLevel::do_head(std::vector<HeadPrediction>& heads) {
  const int layer = population_->layer(), head = population_->head();
  if (head == 0) {
    weights_ = model_->read_heads(layer);
    rows_.enter(model_->rules(layer));
    states_ = population_->states(weights_);
  }
  HeadStates states;
  for (const HeadTokens& tokens : head_tokens(weights_, rows_.rules(), head, states_)) {
    states.add(tokens);
  }
  HeadPrediction& prediction = heads[static_cast<std::size_t>(model_->heads_before(layer) + head)];
  prediction.at(Level::mean_field) = rows_.over_keys(states, rows_.queries(states));
  prediction.in(Metric::mean_field) = head_in_metric(states, rows_.sinks(), rows_.largest_turn());
  if (layer < model_->layers_with_heads().back()) {
    population_->read_head(states, rows_.rules(), rows_.turns());
  } else {
    population_->skip_head();
  }
}

}  // namespace eigenscope
