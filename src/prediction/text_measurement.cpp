#include "prediction/text_measurement.h"

#include <utility>

namespace eigenscope {

using Eigen::Index;

TextMeasurement::TextMeasurement(std::shared_ptr<const TextModel> model,
                                 std::vector<Passage> passages, Measured measured)
    : model_(std::move(model)), passages_(std::move(passages)), measured_(measured) {}

Index TextMeasurement::steps_wanted() const {
  return model_->layers() * static_cast<Index>(passages_.size());
}

double TextMeasurement::work_per_step() const {
  return passage_work(passages_.front().length(), model_->width());
}

void TextMeasurement::do_step(std::vector<HeadPrediction>& heads) {
  if (!pass_) pass_.emplace(model_, passages_, LayerEnd::heads);
  const std::size_t passage = pass_->passage();
  const auto layer = static_cast<std::size_t>(pass_->layer());
  const auto all = static_cast<std::size_t>(model_->heads());
  const AttentionTrace trace = pass_->advance();
  if (passage == 0) meters_.assign(all, HeadMeter());
  const SinkKeys sinks = SinkKeys::of(passages_.front());
  for (std::size_t number = 0; number < all; ++number) {
    meters_[number].add(trace.logits[number], trace.weights[number], model_->rules().causal, sinks);
  }
  if (passage + 1 < passages_.size()) return;
  for (std::size_t number = 0; number < all; ++number) {
    HeadPrediction& head = heads[layer * all + number];
    const HeadMeter& meter = meters_[number];
    if (measured_ == Measured::ceiling) {
      head.add_ceiling(meter);
    } else {
      head.measured = meter.measures();
      head.measured_by_distance = meter.by_distance();
    }
  }
}

}  // namespace eigenscope
