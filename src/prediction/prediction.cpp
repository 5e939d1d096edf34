#include "prediction/prediction.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inference/forward_pass.h"
#include "prediction/head_metrics.h"
#include "prediction/mean_field.h"
#include "prediction/statistics_levels.h"
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

/// The text that is measured: the one that predictions are compared with, that of the ceiling, or another one.
enum class MeasuredText { compared, ceiling, transfer };

/// Measured attention of the heads on passages. A step is about a passage through a layer.
class TextMeasurement final : public PredictionPart {
 public:
  /// `passages` must not be empty.
  TextMeasurement(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                  MeasuredText measured);

  Eigen::Index steps_wanted() const override;
  double work_per_step() const override;

 private:
  /// A head on one passage, or on all of them.
  struct HeadOnText {
    HeadMeter meter;
    MeasuredLogits logits = {0, 0};  ///< components: sum over all passages
  };

  void do_step(std::vector<HeadPrediction>& heads) override;
  /// The next passages through the heads of a layer.
  void run_passages(std::vector<HeadPrediction>& heads);
  void enter(const HeadOnText& measured, HeadPrediction& head) const;

  std::shared_ptr<const Transformer> model_;
  std::vector<Passage> passages_;
  MeasuredText measured_;
  std::optional<ForwardPass> pass_;  // embeds the passages in the first step
  std::vector<HeadOnText> heads_;    // of a layer
};

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
  const auto before = static_cast<std::size_t>(model_->heads_before(pass_->layer()));
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
    enter(heads_[number], heads[before + number]);
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

}  // namespace

Prediction::Prediction(const std::shared_ptr<const Transformer>& model,
                       const PredictionPassages& passages, const PredictionSettings& settings,
                       PredictionPartition partition) {
  check_passages(passages);
  model->check_plain_logits("a prediction");
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
    for (const int layer : model->layers_with_heads()) {
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
