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
  std::vector<std::vector<HeadOnText>> by_passage(end - first, std::vector<HeadOnText>(all));
  const LayerWeights& weights = pass_->weights();
  const LayerRules& rules = model_->rules(pass_->layer());
  const SinkKeys keys = SinkKeys::of(passages_.front());
  PassageVisitors visitors;
  visitors.head = [&](std::size_t passage, int head, const HeadTrace& trace) {
    HeadOnText& on_text = by_passage[passage - first][static_cast<std::size_t>(head)];
    on_text.meter.add(trace.logits, trace.weights, rules, keys);
    on_text.logits.largest = static_cast<double>(trace.logits.cwiseAbs().maxCoeff());
  };
  if (measured_ == MeasuredText::compared) {
    visitors.edit = [&](std::size_t passage) {
      return AttentionEdit{.tokens = [&, passage](const HeadTokens& tokens) {
        for (std::size_t head = 0; head < all; ++head) {
          HeadStates states;
          states.add(head_among(tokens, weights, rules, static_cast<int>(head)));
          by_passage[passage - first][head].logits.components =
              static_cast<double>(weighted_spectrum(content_products(states, keys)).components());
        }
      }};
    };
  }
  pass_->advance(visitors);
  if (first == 0) heads_.assign(all, {});
  for (const std::vector<HeadOnText>& passage : by_passage) {
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

void TextMeasurement::enter(const HeadOnText& measured, HeadPrediction& head) const {
  switch (measured_) {
    case MeasuredText::ceiling:
      head.add_ceiling(measured.meter);
      break;
    case MeasuredText::transfer:
      head.transfer = measured.meter.measures();
      break;
    case MeasuredText::compared:
      head.measured = measured.meter.measures();
      head.measured_by_distance = measured.meter.by_distance();
      head.measured_logits = measured.logits;
      head.measured_logits.components /= static_cast<double>(passages_.size());
  }
}

}  // namespace eigenscope
