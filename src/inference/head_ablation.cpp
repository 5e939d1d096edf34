#include "inference/head_ablation.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "support/error.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;
using Eigen::VectorXf;

void ablate(Ablation ablation, const LayerRules& rules, Eigen::Ref<MatrixXf> weights) {
  weights.setZero();
  if (ablation == Ablation::zero) return;
  for (Index query = 0; query < weights.cols(); ++query) {
    const KeyRange seen = rules.seen(query, weights.rows());
    if (ablation == Ablation::mean) {
      weights.col(query)
          .segment(seen.first, seen.count)
          .setConstant(1 / static_cast<float>(seen.count));
    } else {
      weights(seen.contains(query - 1) ? query - 1 : query, query) = 1;
    }
  }
}

std::optional<HeadPlace> head_place_of(std::string_view text) {
  HeadPlace place;
  const char* const end = text.data() + text.size();
  const auto layer = std::from_chars(text.data(), end, place.layer);
  if (layer.ec != std::errc() || layer.ptr == end || *layer.ptr != '.') return std::nullopt;
  const auto head = std::from_chars(layer.ptr + 1, end, place.head);
  const bool is_place =
      head.ec == std::errc() && head.ptr == end && place.layer >= 0 && place.head >= 0;
  return is_place ? std::optional(place) : std::nullopt;
}

HeadAblation::HeadAblation(std::shared_ptr<const Transformer> model, std::vector<Passage> passages,
                           Ablation ablation, std::vector<std::vector<HeadPlace>> sets,
                           std::optional<int> mask, PredictedWeights predicted,
                           TrainedTokens trained)
    : model_(std::move(model)),
      passages_(std::move(passages)),
      ablation_(ablation),
      predicted_(std::move(predicted)),
      trained_(std::move(trained)),
      sets_(std::move(sets)),
      reader_(model_, mask) {
  for (const std::vector<HeadPlace>& set : sets_) {
    for (const auto& [layer, head] : set) {
      const bool has_layer = layer < model_->layers();
      if (has_layer && head < model_->rules(layer).heads) continue;
      if (has_layer && !model_->has_heads(layer)) {
        throw InvalidArgument("ablate", "name layers that have heads",
                              "layer " + std::to_string(layer) + " has none");
      }
      throw InvalidArgument("ablate",
                            "name heads from 0.0 to " + std::to_string(model_->layers() - 1) + "." +
                                std::to_string(model_->heads() - 1) + " as layer.head",
                            "found " + std::to_string(layer) + "." + std::to_string(head));
    }
  }
}

void HeadAblation::start_round() {
  Index tokens = 0;
  for (const Passage& passage : passages_) tokens += passage.length();
  const Index most = std::max<Index>(1, kMostEntries / (tokens * model_->width()));
  round_ = std::min(variants() - outcomes_.size(), static_cast<std::size_t>(most));
  std::vector<Passage> all;
  for (std::size_t k = known(); k < round_; ++k) {
    all.insert(all.end(), passages_.begin(), passages_.end());
  }
  pass_.reset();
  if (!all.empty()) pass_.emplace(model_, std::move(all));
}

bool HeadAblation::is_off(std::size_t variant, const HeadPlace& head) const {
  if (variant == 0) return false;
  const std::vector<HeadPlace>& set = sets_[variant - 1];
  return std::find(set.begin(), set.end(), head) != set.end();
}

double HeadAblation::run_layers() {
  const int layer = pass_->layer();
  PassageVisitors visitors;
  visitors.edit = [this, layer](std::size_t at) {
    const std::size_t variant = outcomes_.size() + known() + at / passages_.size();
    AttentionEdit edit;
    if (variant > 0) {
      const std::size_t passage = at % passages_.size();
      edit.weights = [this, layer, variant, passage](int head, Eigen::Ref<MatrixXf> weights) {
        if (!is_off(variant, {layer, head})) return;
        if (ablation_ == Ablation::predicted) {
          weights = predicted_(passage, {layer, head});
        } else {
          ablate(ablation_, model_->rules(layer), weights);
        }
      };
    }
    return edit;
  };
  return pass_->advance(visitors);
}

void HeadAblation::start_reading() {
  std::vector<Passage> all;
  std::vector<MatrixXf> tokens;
  std::vector<bool> predicted;
  const std::size_t before = known() * passages_.size();
  for (std::size_t at = 0; at < round_ * passages_.size(); ++at) {
    all.push_back(passages_[at % passages_.size()]);
    tokens.push_back(at < before ? trained_(at) : pass_->tokens(at - before));
    const std::size_t variant = outcomes_.size() + at / passages_.size();
    predicted.push_back(variant < 2 && (at + 1) % passages_.size() == 0);
  }
  reader_.start(all, tokens, predicted);
  is_reading_ = true;
}

bool HeadAblation::advance(double work) {
  for (double left = work; left >= 0 && !done();) {
    if (round_ == 0) start_round();
    if (pass_ && !pass_->done()) {
      left -= run_layers();
      continue;
    }
    if (!is_reading_) start_reading();
    if (!reader_.done()) left -= reader_.advance();
    if (!reader_.done()) continue;
    const std::vector<Outcome>& outcomes = reader_.outcomes();
    for (auto first = outcomes.begin(); first != outcomes.end(); first += std::ssize(passages_)) {
      outcomes_.emplace_back(first, first + std::ssize(passages_));
    }
    is_reading_ = false;
    round_ = 0;
  }
  return done();
}

Index HeadAblation::steps_done() const {
  const auto round = static_cast<double>(round_ * passages_.size());
  const Index before = outcomes_.empty() ? 0
                                         : static_cast<Index>(outcomes_.size() * passages_.size()) *
                                                   (model_->layers() + 1) -
                                               steps_known();
  const double read = is_reading_ ? reader_.progress() * round : 0;
  return before + (pass_ && round_ > 0 ? pass_->steps_done() : 0) + static_cast<Index>(read);
}

Index HeadAblation::steps_wanted() const {
  return static_cast<Index>(variants() * passages_.size()) * (model_->layers() + 1) - steps_known();
}

Index HeadAblation::steps_known() const {
  return trained_ ? static_cast<Index>(passages_.size()) * model_->layers() : 0;
}

OutcomeKind HeadAblation::kind() const {
  if (!model_->has_output()) return OutcomeKind::embedding;
  return model_->causal() ? OutcomeKind::next_token : OutcomeKind::masked_token;
}

double HeadAblation::loss_of(std::size_t variant) const {
  double sum = 0, targets = 0;
  for (const Outcome& outcome : outcomes_[variant]) {
    sum += outcome.loss;
    targets += static_cast<double>(outcome.targets);
  }
  return sum / targets;
}

double HeadAblation::output_change(std::size_t k) const {
  double sum = 0;
  for (std::size_t passage = 0; passage < passages_.size(); ++passage) {
    const VectorXd &a = outcomes_[0][passage].mean_token, &b = outcomes_[k + 1][passage].mean_token;
    sum += 1 - a.dot(b) / (a.norm() * b.norm());
  }
  return sum / static_cast<double>(passages_.size());
}

VectorXf HeadAblation::predicted(std::size_t variant) const {
  return variant < outcomes_.size() ? outcomes_[variant].back().log_probabilities : VectorXf();
}

}  // namespace eigenscope
