#include "prediction/text_measurement.h"

#include <algorithm>
#include <utility>

#include "prediction/head_metrics.h"

namespace eigenscope {

using Eigen::Index;

TextMeasurement::TextMeasurement(std::shared_ptr<const TextModel> model,
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
  const std::size_t passage = pass_->passage();
  const int layer = pass_->layer();
  const auto all = static_cast<std::size_t>(model_->heads());
  if (passage == 0) {
    meters_.assign(all, HeadMeter());
    logits_.assign(all, {0, 0});
  }
  if (measured_ == MeasuredText::compared) add_components();
  const AttentionTrace trace = pass_->advance();
  const SinkKeys sinks = SinkKeys::of(passages_.front());
  for (std::size_t number = 0; number < all; ++number) {
    meters_[number].add(trace.logits[number], trace.weights[number], model_->rules(layer), sinks);
    double& largest = logits_[number].largest;
    largest = std::max(largest, static_cast<double>(trace.logits[number].cwiseAbs().maxCoeff()));
  }
  if (passage + 1 < passages_.size()) return;
  for (std::size_t number = 0; number < all; ++number) {
    HeadPrediction& head = heads[static_cast<std::size_t>(layer) * all + number];
    const HeadMeter& meter = meters_[number];
    switch (measured_) {
      case MeasuredText::ceiling:
        head.add_ceiling(meter);
        break;
      case MeasuredText::transfer:
        head.transfer = meter.measures();
        break;
      case MeasuredText::compared:
        head.measured = meter.measures();
        head.measured_by_distance = meter.by_distance();
        head.measured_logits = logits_[number];
        head.measured_logits.components /= static_cast<double>(passages_.size());
    }
  }
}

void TextMeasurement::add_components() {
  const LayerWeights& weights = pass_->weights();
  const LayerRules& rules = model_->rules(pass_->layer());
  const Eigen::MatrixXf states = states_of(weights, pass_->tokens(pass_->passage()));
  const SinkKeys sinks = SinkKeys::of(passages_.front());
  for (std::size_t number = 0; number < logits_.size(); ++number) {
    HeadStates own;
    own.add(head_tokens(weights, rules, static_cast<int>(number), states));
    logits_[number].components +=
        static_cast<double>(weighted_spectrum(content_products(own, sinks)).components());
  }
}

}  // namespace eigenscope
