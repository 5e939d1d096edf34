#include "prediction/mean_field_level.h"

#include <utility>

namespace eigenscope {

using Eigen::Index;

MeanFieldLevel::MeanFieldLevel(std::shared_ptr<const Transformer> model,
                               const PredictionPassages& passages,
                               const PredictionSettings& settings)
    : model_(std::move(model)),
      passages_(passages.statistics),
      rows_(*model_, passages_, settings) {}

Index MeanFieldLevel::steps_wanted() const {
  const auto passages = static_cast<Index>(passages_.size());
  return model_->layers() * (model_->heads() + passages) - passages;  // the last is not finished
}

double MeanFieldLevel::work_per_step() const {
  if (head_ < model_->heads()) return rows_.work();
  return 3 * passage_work(rows_.length(), model_->width()) / 4;
}

void MeanFieldLevel::do_step(std::vector<HeadPrediction>& heads) {
  if (head_ < model_->heads()) {
    if (head_ == 0) {
      if (!population_) population_.emplace(*model_, passages_, rows_.settings().seed);
      weights_ = model_->read_heads(layer_);
      rows_.enter(model_->rules(layer_));
      states_ = population_->states(weights_);
    }
    HeadStates own;
    for (const HeadTokens& tokens : head_tokens(weights_, rows_.rules(), head_, states_)) {
      own.add(tokens);
    }
    HeadPrediction& head = heads[static_cast<std::size_t>(layer_ * model_->heads() + head_)];
    head.at(Level::mean_field) = rows_.over_keys(own, rows_.queries(own));
    head.in(Metric::mean_field) = head_in_metric(own, rows_.sinks(), rows_.largest_turn());
    if (layer_ + 1 < model_->layers()) {
      population_->read_head(head_, own, rows_.rules(), rows_.turns());
    }
    ++head_;
  } else {
    weights_ = {};
    states_.clear();
    const auto passages = static_cast<double>(passages_.size());
    population_->finish(static_cast<double>(finished_ + 1) / passages);
    if (++finished_ < passages_.size()) return;
    finished_ = 0;
    ++layer_;
    head_ = 0;
  }
}

}  // namespace eigenscope
