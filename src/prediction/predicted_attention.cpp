#include "prediction/predicted_attention.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "attention/softmax.h"
#include "prediction/levels.h"
#include "support/argsort.h"
#include "support/error.h"
#include "support/random.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXd;

constexpr double kMostBytes = 1 << 30;

}  // namespace

PredictedAttention::PredictedAttention(std::shared_ptr<const Transformer> model,
                                       std::vector<Passage> passages, Level level,
                                       std::vector<HeadPlace> heads, std::uint64_t seed)
    : level_(level),
      heads_(std::move(heads)),
      seed_(seed),
      pass_(std::move(model), std::move(passages), LayerEnd::heads),
      states_(pass_.passages().size()) {
  pass_.model().check_plain_logits("a prediction");
  if (level < Level::spectrum || level >= Level::keys) {
    throw InvalidArgument("ablation_level", "be an integer from 1 to 7",
                          "found " + std::to_string(static_cast<int>(level)));
  }
  const Passage& first = pass_.passages().front();
  const Index length = first.length();
  for (const Passage& passage : pass_.passages()) {
    if (passage.leading != first.leading || passage.trailing != first.trailing) {
      throw InvalidArgument("ablation",
                            "be another one for passages that differ in their special tokens");
    }
    if (passage.length() == length) continue;
    throw InvalidArgument(
        "ablation", "be another one for passages of several lengths",
        "found " + std::to_string(length) + " and " + std::to_string(passage.length()) + " tokens");
  }
  const double bytes = static_cast<double>(length) * static_cast<double>(length) *
                       static_cast<double>(pass_.passages().size() * heads_.size() * sizeof(float));
  if (bytes > kMostBytes) {
    throw InvalidArgument(
        "ablation", "be another one for attention of more than 1 GiB",
        "found " + std::to_string(static_cast<Index>(bytes / (1 << 20))) + " MiB");
  }
  std::vector<double> layers;
  for (const HeadPlace& head : heads_) layers.push_back(head.layer);
  std::vector<HeadPlace> by_layer;
  for (const std::size_t place : argsort(layers)) by_layer.push_back(heads_[place]);
  heads_ = std::move(by_layer);
}

Index PredictedAttention::steps_wanted() const {
  return pass_.steps_wanted() + static_cast<Index>(heads_.size());
}

bool PredictedAttention::advance(double work) {
  for (double left = work; left >= 0 && !done();) {
    const int wanted = heads_[predicted_].layer;
    const std::size_t passages = pass_.passages().size();
    const bool has_states = pass_.layer() == wanted && pass_.passage() == passages;
    if (has_states || pass_.done()) {
      left -= predict(predicted_++);
      continue;
    }
    PassageVisitors visitors;
    if (pass_.layer() == wanted) {
      visitors.states = [this](std::size_t passage, const MatrixXf& states) {
        states_[passage] = states;
      };
    }
    left -= pass_.advance(visitors);
  }
  return done();
}

double PredictedAttention::predict(std::size_t number) {
  const auto& [layer, head] = heads_[number];
  const Transformer& model = pass_.model();
  const LayerRules& rules = model.rules(layer);
  const SinkKeys sinks = SinkKeys::of(pass_.passages().front());
  if (number == 0 || heads_[number - 1].layer != layer) {
    layer_weights_ = model.read_heads(layer);
    correlations_ = correlations_of(layer_weights_, states_, sinks);
  }
  HeadStates states;
  std::optional<float> learned_sink;
  for (const HeadTokens& tokens : head_tokens(layer_weights_, rules, head, states_)) {
    states.add(tokens);
    learned_sink = tokens.sink;
  }
  const Index length = states_.front().cols();
  const RotaryTurns turns(rules.rotary, length);
  const HeadPredictor predictor(states, sinks, correlations_, turns,
                                folded_projections(layer_weights_, rules, head));
  std::vector<MatrixXf>& matrices = weights_.emplace_back();
  std::vector<float> normal;
  for (std::size_t passage = 0; passage < states_.size(); ++passage) {
    MatrixXf& matrix = matrices.emplace_back(MatrixXf::Zero(length, length));
    for (Index position = 0; position < length; ++position) {
      const HeadQuery query{states.queries[passage].col(position),
                            states.keys[passage].col(position), position};
      const KeyRange seen = rules.seen(position, length);
      const auto count = static_cast<std::size_t>(seen.count);
      normal.resize(count * kDraws);
      NormalStream(seed_,
                   static_cast<std::uint64_t>(static_cast<Index>(passage) * length + position))
          .fill(normal);
      const RowLaw law = predictor.law(level_, query);
      VectorXd row = VectorXd::Zero(seen.count);
      for (std::size_t draw = 0; draw < kDraws; ++draw) {
        VectorXd logits = logits_of(law, seen, {normal.data() + draw * count, count});
        cap_logits(rules.attention_cap,
                   std::span<double>(logits.data(), static_cast<std::size_t>(logits.size())));
        const VectorXd weights = softmax(logits, 1);
        row += learned_sink
                   ? share_beside(*learned_sink, logits.maxCoeff(), weights.maxCoeff()) * weights
                   : weights;
      }
      matrix.col(position).segment(seen.first, seen.count) = (row / kDraws).cast<float>();
    }
  }
  const auto tokens = static_cast<double>(states_.size()) * static_cast<double>(length);
  const auto width = static_cast<double>(rules.head_width);
  return tokens * (width * width + static_cast<double>(length) * (width + 10 * kDraws));
}

const MatrixXf& PredictedAttention::weights(std::size_t passage, const HeadPlace& head) const {
  const auto match = std::find(heads_.begin(), heads_.end(), head);
  return weights_[static_cast<std::size_t>(match - heads_.begin())][passage];
}

}  // namespace eigenscope
