#include "prediction/prediction.h"

#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "prediction/mean_field_level.h"
#include "prediction/statistics_levels.h"
#include "prediction/text_measurement.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Index kFewestContent = 4;

/// Refuses passages that differ in what their statistics or measurements need alike.
void check_passages(const PredictionPassages& passages) {
  if (passages.statistics.empty()) {
    throw InvalidArgument("passages", "number at least one for the statistics");
  }
  const Passage& first = passages.statistics.front();
  for (const auto* group :
       {&passages.statistics, &passages.measured, &passages.ceiling, &passages.transfer}) {
    for (const Passage& other : *group) {
      if (other.length() != first.length() || other.leading != first.leading ||
          other.trailing != first.trailing) {
        throw InvalidArgument("passages", "have the same length and special tokens");
      }
    }
  }
  const SinkKeys sinks = SinkKeys::of(first);
  if (first.length() < sinks.leading + sinks.trailing + kFewestContent) {
    throw InvalidArgument("length", "be at least " + std::to_string(kFewestContent) +
                                        " tokens beside the special ones");
  }
}

}  // namespace

Prediction::Prediction(const std::shared_ptr<const Transformer>& model,
                       const PredictionPassages& passages, const PredictionSettings& settings,
                       PredictionPartition partition) {
  check_passages(passages);
  const auto measure = [&](auto begin, auto end, MeasuredText measured) {
    if (begin == end) return;
    add(std::make_unique<TextMeasurement>(model, std::vector<Passage>(begin, end), measured));
  };
  const std::vector<Passage>& ceiling = passages.ceiling;
  const auto middle = ceiling.begin() + std::ssize(ceiling) / 2;
  if (partition != PredictionPartition::others) {
    add(std::make_unique<StatisticsLevels>(model, passages, settings));
    measure(ceiling.begin(), middle, MeasuredText::ceiling);
  } else {
    for (int layer = 0; layer < model->layers(); ++layer) {
      for (int head = 0; head < model->heads(); ++head) heads_.emplace_back(layer, head);
    }
  }
  if (partition == PredictionPartition::levels) return;
  add(std::make_unique<MeanFieldLevel>(model, passages, settings));
  measure(passages.measured.begin(), passages.measured.end(), MeasuredText::compared);
  measure(middle, ceiling.end(), MeasuredText::ceiling);
  measure(passages.transfer.begin(), passages.transfer.end(), MeasuredText::transfer);
}

void Prediction::add(std::unique_ptr<PredictionPart> part) {
  wanted_ += part->steps_wanted();
  parts_.push_back(std::move(part));
}

bool Prediction::advance(Index steps) {
  for (; steps > 0 && !done(); --steps) {
    PredictionPart& part = *parts_.front();
    part.step(heads_);
    if (!part.done()) continue;
    ended_ += part.steps_done();
    parts_.pop_front();
  }
  return done();
}

Index Prediction::steps_done() const {
  return done() ? ended_ : ended_ + parts_.front()->steps_done();
}

double Prediction::work_per_step() const { return done() ? 1 : parts_.front()->work_per_step(); }

std::vector<HeadPrediction> joined(std::vector<HeadPrediction> levels,
                                   std::vector<HeadPrediction> others) {
  if (levels.size() != others.size()) {
    throw InvalidArgument("partitions", "be of the same heads");
  }
  for (std::size_t i = 0; i < levels.size(); ++i) {
    HeadPrediction &head = levels[i], &other = others[i];
    head.at(Level::mean_field) = other.at(Level::mean_field);
    head.add_ceiling(other.ceiling_rows);
    head.in(Metric::mean_field) = std::move(other.in(Metric::mean_field));
    head.transfer = other.transfer;
    head.measured = other.measured;
    head.measured_logits = other.measured_logits;
    head.measured_by_distance.swap(other.measured_by_distance);
  }
  return levels;
}

}  // namespace eigenscope
