#include "prediction/mean_field.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/softmax.h"
#include "inference/forward_pass.h"
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

constexpr std::uint64_t kStream = 0x6d65616e66696c64;  // of its own: "meanfild"

MatrixXd mean_of(const std::vector<MatrixXd>& matrices) {
  MatrixXd sum = matrices.front();
  for (std::size_t k = 1; k < matrices.size(); ++k) sum += matrices[k];
  return sum / static_cast<double>(matrices.size());
}

}  // namespace

KeyValueLaw key_value_law(const std::vector<MatrixXd>& keys, const std::vector<MatrixXd>& values,
                          const SinkKeys& sinks) {
  const Index width = keys.front().rows(), length = keys.front().cols();
  const Index content = length - sinks.leading - sinks.trailing;
  KeyValueLaw law{smoothed_by_position(mean_of(keys), sinks),
                  smoothed_by_position(mean_of(values), sinks), MatrixXd::Zero(width, width),
                  MatrixXd::Zero(width, width), sinks};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    const MatrixXd key = (keys[k] - law.key_means).middleCols(sinks.leading, content);
    const MatrixXd value = (values[k] - law.value_means).middleCols(sinks.leading, content);
    const MatrixXd transposed = key.transpose();
    law.key_covariance += times(key, transposed);
    law.cross_covariance += times(value, transposed);
  }
  const double count = static_cast<double>(content) * static_cast<double>(keys.size());
  law.key_covariance /= count;
  law.cross_covariance /= count;
  return law;
}

MeanFieldRead mean_field_read(const KeyValueLaw& law, const MatrixXd& query, const VectorXd& key,
                              const VectorXd& value, Index position, bool causal) {
  const Index length = law.key_means.cols(), visible = causal ? position + 1 : length;
  const Index begin = std::min(law.sinks.leading, visible);
  const Index end = std::max(begin, std::min(length - law.sinks.trailing, visible));
  const bool own_is_content = position >= begin && position < end;
  const Index others = end - begin - (own_is_content ? 1 : 0);
  const double frozen = 2 * std::log(static_cast<double>(std::max<Index>(1, others)));
  const Index width = query.rows();
  const bool turned = query.cols() > 1;
  const auto seen = [&](Index t) { return query.data() + (turned ? t * width : 0); };
  const MatrixXd product = times(law.key_covariance, query);
  struct ContentKey {
    double capped;  // variance of its logit, up to where a row freezes
    double square;  // E e^(2 q.k) over (E e^(q.k))^2
    double share;   // of C_vk q that it adds to its value
  };
  const auto content_key = [&](Index t) -> ContentKey {
    const double* const along = product.data() + (turned ? t * width : 0);
    const double variance = std::max(0.0, inner_product(along, seen(t), width));
    const double capped = std::min(variance, frozen);
    return {capped, std::exp(capped), variance > frozen ? std::sqrt(frozen / variance) : 1};
  };
  const ContentKey alike = content_key(0);  // all that are not turned
  const MatrixXd products = turned ? MatrixXd() : transposed_times(law.key_means, query);
  VectorXd row(visible);
  double* const logits = row.data();
  const double* const means = law.key_means.data();
  for (Index t = 0; t < visible; ++t) {
    logits[t] = turned ? inner_product(seen(t), means + t * width, width) : products.data()[t];
  }
  for (Index t = begin; t < end; ++t) {
    logits[t] += (turned ? content_key(t) : alike).capped / 2;
  }
  logits[position] = inner_product(seen(position), key.data(), width);
  VectorXd weights = softmax(row, 1);
  const double own = weights[position];
  weights[position] = 0;
  double all = 0, square = 0, shares = 0;
  VectorXd pull = VectorXd::Zero(width);  // what content keys pull the read along, before C_vk
  double* const pulled = pull.data();
  const double* const weight = weights.data();
  for (Index t = begin; t < end; ++t) {
    const ContentKey as_content = turned ? content_key(t) : alike;
    all += weight[t];
    square += weight[t] * weight[t] * as_content.square;
    const double share = weight[t] * as_content.share;
    shares += share;
    const double* const along = seen(t);
    for (Index i = 0; turned && i < width; ++i) pulled[i] += share * along[i];
  }
  if (!turned) pull = shares * query;
  VectorXd mean = times(law.value_means.leftCols(visible), weights);
  mean += own * value;
  mean += times(law.cross_covariance, pull);
  return {mean, std::min(all, std::sqrt(square))};  // one key cannot take more than all
}

MeanField::MeanField(const TextModel& model, const std::vector<Passage>& passages,
                     std::uint64_t seed)
    : rules_(model.rules()), seed_(seed) {
  if (passages.empty()) throw InvalidArgument("passages", "there must be at least one");
  sinks_ = SinkKeys::of(passages.front());
  for (const Passage& passage : passages) tokens_.push_back(model.embed(passage.ids));
  turns_ = RotaryTurns(rules_.rotary, tokens_.front().cols());
}

std::vector<MatrixXf> MeanField::states(const LayerWeights& weights) const {
  std::vector<MatrixXf> states;
  for (const MatrixXf& tokens : tokens_) states.push_back(states_of(weights, rules_, tokens));
  return states;
}

/// Queries over sqrt(d_h), keys and values of one head, by passage.
struct MeanField::HeadTokens {
  std::vector<MatrixXd> queries, keys, values;
};

void MeanField::read_head(const HeadTokens& tokens, Index head,
                          std::vector<MatrixXf>& reads) const {
  const auto& [queries, keys, values] = tokens;
  const KeyValueLaw law = key_value_law(keys, values, sinks_);
  const Index width = law.key_means.rows(), length = law.key_means.cols();
  const auto content = static_cast<std::uint64_t>(length - sinks_.leading - sinks_.trailing);
  const std::uint64_t stream = kStream + layer_ * static_cast<std::uint64_t>(rules_.heads) +
                               static_cast<std::uint64_t>(head);
  for (std::size_t k = 0; k < reads.size(); ++k) {
    for (Index t = 0; t < length; ++t) {
      const MeanFieldRead read =
          mean_field_read(law, turns_.seen(queries[k].col(t), t, length), keys[k].col(t),
                          values[k].col(t), t, rules_.causal);
      const std::uint64_t drawn =
          random_bits(seed_, stream,
                      k * static_cast<std::uint64_t>(length) + static_cast<std::uint64_t>(t)) %
          (content * reads.size());
      const Index place = sinks_.leading + static_cast<Index>(drawn % content);
      const VectorXd deviation = values[drawn / content].col(place) - law.value_means.col(place);
      reads[k].col(t).segment(head * width, width) =
          (read.mean + read.spread * deviation).cast<float>();
    }
  }
}

void MeanField::advance(const LayerWeights& weights) {
  const std::vector<MatrixXf> inputs = states(weights);
  std::vector<MatrixXf> queries, keys, values, reads;
  for (const MatrixXf& x : inputs) {
    queries.push_back(weights.query(x));
    keys.push_back(weights.key(x));
    values.push_back(weights.value(x));
    reads.emplace_back(queries.back().rows(), x.cols());
  }
  const Index width = rules_.head_width;
  const auto rows_of = [&](const MatrixXf& all, Index head) -> MatrixXd {
    return all.middleRows(head * width, width).cast<double>();
  };
  for (int head = 0; head < rules_.heads; ++head) {
    HeadTokens tokens;
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      tokens.queries.push_back(rows_of(queries[k], head) / std::sqrt(static_cast<double>(width)));
      tokens.keys.push_back(rows_of(keys[k], rules_.key_head(head)));
      tokens.values.push_back(rows_of(values[k], rules_.key_head(head)));
    }
    read_head(tokens, head, reads);
  }
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    finish_layer(weights, rules_, reads[k], tokens_[k]);
    check_tokens(tokens_[k], static_cast<int>(layer_));
  }
  ++layer_;
}

}  // namespace eigenscope
