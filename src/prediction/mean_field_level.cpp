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
  if (!population_ || !population_->heads_done()) return rows_.work();
  return 3 * passage_work(rows_.length(), model_->width()) / 4;
}

void MeanFieldLevel::do_step(std::vector<HeadPrediction>& heads) {
  if (!population_) population_.emplace(*model_, passages_, rows_.settings().seed);
  if (!population_->heads_done()) return do_head(heads);
  weights_ = {};
  states_.clear();
  population_->finish_passage();
}

void MeanFieldLevel::do_head(std::vector<HeadPrediction>& heads) {
  const int layer = population_->layer(), head = population_->head();
  if (head == 0) {
    weights_ = model_->read_heads(layer);
    rows_.enter(model_->rules(layer));
    states_ = population_->states(weights_);
  }
  HeadStates states;
  for (const HeadTokens& tokens : head_tokens(weights_, rows_.rules(), head, states_)) {
    states.add(tokens);
  }
  HeadPrediction& prediction = heads[static_cast<std::size_t>(layer * model_->heads() + head)];
  prediction.at(Level::mean_field) = rows_.over_keys(states, rows_.queries(states));
  prediction.in(Metric::mean_field) = head_in_metric(states, rows_.sinks(), rows_.largest_turn());
  if (layer + 1 < model_->layers()) {
    population_->read_head(states, rows_.rules(), rows_.turns());
  } else {
    population_->skip_head();
  }
}

}  // namespace eigenscope
