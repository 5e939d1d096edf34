#include "inference/text_attention.h"

#include <iterator>
#include <utility>

namespace eigenscope {
namespace {

using Eigen::Index;

/// Inserts a weight into the `most` largest, in their order; of equal ones the first stays before.
void insert(std::vector<LargestWeight>& listed, const LargestWeight& weight, std::size_t most) {
  if (weight.weight == 0) return;
  listed.push_back(weight);
  for (std::size_t at = listed.size() - 1; at > 0; --at) {
    if (!(listed[at].weight > listed[at - 1].weight)) break;
    std::swap(listed[at], listed[at - 1]);
  }
  if (listed.size() > most) listed.pop_back();
}

}  // namespace

void PatternMeter::Mean::add(double weight) {
  sum += weight;
  queries += 1;
}

PatternMeter::Mean& PatternMeter::Mean::operator+=(const Mean& other) {
  sum += other.sum;
  queries += other.queries;
  return *this;
}

void PatternMeter::add(const Eigen::MatrixXf& weights, std::span<const int> ids,
                       bool learned_sinks) {
  double sum = 1;  // of the weights of the present query
  const auto weight = [&](std::size_t key, std::size_t query) {
    return static_cast<double>(weights(static_cast<Index>(key), static_cast<Index>(query))) / sum;
  };
  for (std::size_t query = 1; query < ids.size(); ++query) {
    if (learned_sinks) {
      sum = weights.col(static_cast<Index>(query)).cast<double>().sum();
      if (sum == 0) continue;
    }
    previous_.add(weight(query - 1, query));
    double duplicate = 0;
    std::size_t after = 0;  // the latest earlier token of the same id, and one; 0 for none
    for (std::size_t key = 0; key < query; ++key) {
      if (ids[key] != ids[query]) continue;
      duplicate += weight(key, query);
      after = key + 1;
    }
    if (after == 0) continue;
    duplicate_.add(duplicate);
    if (after < query) induction_.add(weight(after, query));
  }
}

PatternMeter& PatternMeter::operator+=(const PatternMeter& other) {
  previous_ += other.previous_;
  duplicate_ += other.duplicate_;
  induction_ += other.induction_;
  return *this;
}

PatternScores PatternMeter::scores() const {
  return {previous_.value(), duplicate_.value(), induction_.value()};
}

TextAttention::TextAttention(std::shared_ptr<const Transformer> model,
                             std::vector<Passage> passages, bool keep_weights, Index listed,
                             LayerEnd to)
    : pass_(std::move(model), std::move(passages), to),
      keep_weights_(keep_weights),
      listed_(static_cast<std::size_t>(listed)) {}

LargestWeight largest_weight(const Eigen::MatrixXf& weights, const SinkKeys& sinks) {
  LargestWeight largest;
  for (Index query = 0; query < weights.cols(); ++query) {
    for (Index key = sinks.leading; key < weights.rows() - sinks.trailing; ++key) {
      if (key == query || !(weights(key, query) > largest.weight)) continue;
      largest.query = query;
      largest.key = key;
      largest.weight = weights(key, query);
    }
  }
  return largest;
}

bool TextAttention::advance(double work) {
  for (double left = work; left >= 0 && !pass_.done();) {
    left -= pass_.passage() < passages().size() ? run_passages() : pass_.advance();
  }
  return pass_.done();
}

double TextAttention::run_passages() {
  const int layer = pass_.layer();
  const std::size_t first = pass_.passage(), end = first + pass_.passages_of_step();
  const auto all = static_cast<std::size_t>(model().heads());
  // By passage, from `first` on: several passages run at once.
  std::vector<std::vector<HeadOnPassage>> by_passage(end - first, std::vector<HeadOnPassage>(all));
  const LayerRules& rules = model().rules(layer);
  PassageVisitors visitors;
  visitors.head = [&](std::size_t passage, int head, const HeadTrace& trace) {
    HeadOnPassage& on_passage = by_passage[passage - first][static_cast<std::size_t>(head)];
    const SinkKeys sinks = SinkKeys::of(passages()[passage]);
    on_passage.meter.add(trace.logits, trace.weights, rules, sinks);
    on_passage.patterns.add(trace.weights, passages()[passage].ids, rules.learned_sinks);
    if (keep_weights_) on_passage.weights = trace.weights;
    if (listed_ == 0) return;
    LargestWeight& largest = on_passage.largest.emplace_back(largest_weight(trace.weights, sinks));
    largest.layer = layer;
    largest.head = head;
    largest.passage = passage;
  };
  const double work = pass_.advance(visitors);
  if (first == 0) {
    heads_of_layer_.assign(all, {});
    outliers_ = {};
  }
  for (std::size_t passage = first; passage < end; ++passage) {
    outliers_.add(pass_.tokens(passage));
    for (std::size_t head = 0; head < all; ++head) {
      HeadOnPassage& on_passage = by_passage[passage - first][head];
      heads_of_layer_[head].meter += on_passage.meter;
      heads_of_layer_[head].patterns += on_passage.patterns;
      for (const LargestWeight& largest : on_passage.largest) {
        insert(heads_of_layer_[head].largest, largest, listed_);
      }
      if (!keep_weights_) continue;
      running_.push_back({passage, layer, static_cast<Index>(head), std::move(on_passage.weights)});
    }
  }
  if (end == passages().size()) finish_layer(layer);
  return work;
}

void TextAttention::finish_layer(int layer) {
  std::move(running_.begin(), running_.end(), std::back_inserter(weights_));
  running_.clear();
  const OutlierFeature outlier = outliers_.outlier();
  layers_.push_back({layer, outlier});
  for (HeadOnPassage& head : heads_of_layer_) {
    heads_.push_back({layer, &head - heads_of_layer_.data(), head.meter.measures(),
                      head.patterns.scores(), outlier.ratio});
    std::move(head.largest.begin(), head.largest.end(), std::back_inserter(largest_weights_));
  }
}

}  // namespace eigenscope
