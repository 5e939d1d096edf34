#include "inference/text_attention.h"

#include <utility>

namespace eigenscope {

using Eigen::Index;

TextAttention::TextAttention(std::shared_ptr<const TextModel> model, std::vector<Passage> passages,
                             bool keep_weights)
    : pass_(std::move(model), std::move(passages)), keep_weights_(keep_weights) {}

bool TextAttention::advance(double work) {
  const auto width = static_cast<double>(model().width());
  for (double left = work; left >= 0 && !pass_.done();) {
    const auto length = static_cast<double>(passages()[pass_.passage()].length());
    left -= length * width * (12 * width + 2 * length);
    run_passage();
  }
  if (pass_.done() && !running_.empty()) weights_ = std::exchange(running_, {});
  return pass_.done();
}

void TextAttention::run_passage() {
  const int layer = pass_.layer();
  const std::size_t passage = pass_.passage();
  if (passage == 0) {
    meters_.assign(static_cast<std::size_t>(model().heads()), {});
    inductions_.assign(meters_.size(), {});
    outliers_ = {};
  }
  const SinkKeys sinks = SinkKeys::of(passages()[passage]);
  AttentionTrace trace = pass_.advance();
  outliers_.add(trace.residual);
  for (std::size_t head = 0; head < meters_.size(); ++head) {
    meters_[head].add(trace.logits[head], trace.weights[head], model().rules(layer), sinks);
    inductions_[head].add(trace.weights[head], passages()[passage].ids);
    if (!keep_weights_) continue;
    running_.push_back({passage, layer, static_cast<Index>(head), std::move(trace.weights[head])});
  }
  if (pass_.done() || pass_.layer() != layer) finish_layer(layer);
}

void TextAttention::finish_layer(int layer) {
  const OutlierFeature outlier = outliers_.outlier();
  layers_.push_back({layer, outlier});
  for (std::size_t head = 0; head < meters_.size(); ++head) {
    heads_.push_back({layer, static_cast<Index>(head), meters_[head].measures(),
                      inductions_[head].score(), outlier.ratio});
  }
}

}  // namespace eigenscope
