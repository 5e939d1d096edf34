#include "prediction/text_measurement.h"

#include <utility>

namespace eigenscope {

using Eigen::Index;

TextMeasurement::TextMeasurement(std::shared_ptr<const TextModel> model,
                                 const PredictionPassages& passages)
    : model_(std::move(model)),
      passages_(passages.measured),
      measured_count_(passages.measured.size()),
      measured_(model_->rules(), SinkKeys::of(passages_.front())),
      ceiling_(measured_) {
  passages_.insert(passages_.end(), passages.ceiling.begin(), passages.ceiling.end());
}

Index TextMeasurement::steps_wanted() const {
  return model_->layers() * static_cast<Index>(passages_.size());
}

double TextMeasurement::work_per_step() const {
  return passage_work(passages_.front().length(), model_->width());
}

void TextMeasurement::step(std::vector<HeadPrediction>& heads) {
  if (!pass_) pass_.emplace(model_, passages_, LayerEnd::heads);
  const std::size_t passage = pass_->passage();
  const int layer = pass_->layer();
  if (passage == 0) {
    measured_.reset();
    ceiling_.reset();
  }
  (passage < measured_count_ ? measured_ : ceiling_).add(pass_->advance());
  if (passage + 1 == passages_.size()) enter(heads, layer);
}

void TextMeasurement::enter(std::vector<HeadPrediction>& heads, int layer) const {
  const auto all = static_cast<std::size_t>(model_->heads());
  for (std::size_t number = 0; number < all; ++number) {
    HeadPrediction& head = heads[static_cast<std::size_t>(layer) * all + number];
    head.measured = measured_[number].measures();
    head.measured_by_distance = measured_[number].by_distance();
    if (measured_count_ < passages_.size()) head.ceiling = ceiling_[number].measures();
  }
}

}  // namespace eigenscope
