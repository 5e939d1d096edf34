#include "prediction/text_measurement.h"

#include <algorithm>
#include <utility>

#include "prediction/head_metrics.h"

namespace eigenscope {

using Eigen::Index;

TextMeasurement::TextMeasurement(std::shared_ptr<const Transformer> model,
                                 std::vector<Passage> passages, MeasuredText measured)
    : model_(std::move(model)), passages_(std::move(passages)), measured_(measured) {}

Index TextMeasurement::steps_wanted() const {
  return model_->layers() * static_cast<Index>(passages_.size());
}

double TextMeasurement::work_per_step() const {
  return passage_work(passages_.front().length(), model_->width());
}

void TextMeasurement::do_step(std::vector<HeadPrediction>& heads) {
  if (!pass_) pass_.emplace(model_, passages_, LayerEnd::heads);
  while (!pass_->done() && pass_->steps_done() <= steps_done()) {
    if (pass_->passage() < passages_.size()) {
      run_passages(heads);
    } else {
      pass_->advance();
    }
  }
}

void TextMeasurement::run_passages(std::vector<HeadPrediction>& heads) {
  const std::size_t first = pass_->passage(), end = first + pass_->passages_of_step();
  const auto layer = static_cast<std::size_t>(pass_->layer());
  const auto all = static_cast<std::size_t>(model_->heads());
  std::vector<std::vector<HeadOnText>> found(end - first, std::vector<HeadOnText>(all));
  const LayerWeights& weights = pass_->weights();
  const LayerRules& rules = model_->rules(pass_->layer());
  const SinkKeys keys = SinkKeys::of(passages_.front());
  PassageVisitors visitors;
  visitors.head = [&](std::size_t passage, int head, const HeadTrace& trace) {
    HeadOnText& own = found[passage - first][static_cast<std::size_t>(head)];
    own.meter.add(trace.logits, trace.weights, rules, keys);
    own.logits.largest = static_cast<double>(trace.logits.cwiseAbs().maxCoeff());
  };
  if (measured_ == MeasuredText::compared) {
    visitors.edit = [&](std::size_t passage) {
      return AttentionEdit{.tokens = [&, passage](const HeadTokens& tokens) {
        for (std::size_t head = 0; head < all; ++head) {
          HeadStates own;
          own.add(head_among(tokens, weights, rules, static_cast<int>(head)));
          found[passage - first][head].logits.components =
              static_cast<double>(weighted_spectrum(content_products(own, keys)).components());
        }
      }};
    };
  }
  pass_->advance(visitors);
  if (first == 0) heads_.assign(all, {});
  for (const std::vector<HeadOnText>& passage : found) {
    for (std::size_t head = 0; head < all; ++head) {
      heads_[head].meter += passage[head].meter;
      MeasuredLogits& logits = heads_[head].logits;
      logits.largest = std::max(logits.largest, passage[head].logits.largest);
      logits.components += passage[head].logits.components;
    }
  }
  if (end < passages_.size()) return;
  for (std::size_t number = 0; number < all; ++number)
    enter(heads_[number], heads[layer * all + number]);
}

void TextMeasurement::enter(const HeadOnText& found, HeadPrediction& head) const {
  switch (measured_) {
    case MeasuredText::ceiling:
      head.add_ceiling(found.meter);
      break;
    case MeasuredText::transfer:
      head.transfer = found.meter.measures();
      break;
    case MeasuredText::compared:
      head.measured = found.meter.measures();
      head.measured_by_distance = found.meter.by_distance();
      head.measured_logits = found.logits;
      head.measured_logits.components /= static_cast<double>(passages_.size());
  }
}

}  // namespace eigenscope
