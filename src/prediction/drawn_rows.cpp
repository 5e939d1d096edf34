#include "prediction/drawn_rows.h"

#include "support/shared_parameters.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::VectorXd;

DrawnRows::DrawnRows(const Transformer& model, const std::vector<Passage>& passages,
                     const PredictionSettings& settings)
    : DrawnRows(model.rules(0), passages.front().length(), SinkKeys::of(passages.front()),
                std::ssize(passages), settings) {}

DrawnRows::DrawnRows(const LayerRules& rules, Index length, const SinkKeys& sinks, Index passages,
                     const PredictionSettings& settings)
    : settings_(settings),
      rules_(rules),
      length_(length),
      sinks_(sinks),
      turns_(rules_.rotary, length_) {
  checked(shared::kQueries, static_cast<double>(settings.queries));
  const Index all = passages * length_;
  std::vector<float> normal(static_cast<std::size_t>(length_) + 1);
  for (Index j = 0; j < settings.queries; ++j) {
    draw(j, normal);
    places_.push_back(uniform_index(normal.back(), all));
  }
}

void DrawnRows::enter(const LayerRules& rules) {
  if (rules.rotary != rules_.rotary) turns_ = RotaryTurns(rules.rotary, length_);
  rules_ = rules;
}

std::vector<HeadQuery> DrawnRows::queries(const HeadStates& from) const {
  std::vector<HeadQuery> drawn;
  for (const Index place : places_) {
    const auto passage = static_cast<std::size_t>(place / length_);
    const Index position = place % length_;
    drawn.push_back(
        {from.queries[passage].col(position), from.keys[passage].col(position), position});
  }
  return drawn;
}

HeadMeasures DrawnRows::over_keys(const HeadStates& states,
                                  const std::vector<HeadQuery>& queries) const {
  HeadMeter meter;
  each(queries, [&](std::size_t j, const RowPlace& place, std::span<const float> normal) {
    VectorXd logits =
        real_logits(turns_, states, queries[j], places_[j] / length_, place.seen, normal);
    cap(logits);
    meter.add_row(logits, softmax(logits, 1), place, sinks_);
  });
  return meter.measures();
}

void DrawnRows::cap(VectorXd& logits) const {
  cap_logits<double>(rules_.attention_cap,
                     {logits.data(), static_cast<std::size_t>(logits.size())});
}

double DrawnRows::work() const {
  const auto head_width = static_cast<double>(rules_.head_width);
  const auto length = static_cast<double>(length_);
  // A row's law, then as much for drawing and softmax as some twenty products a key.
  const double row = head_width * (head_width + length) + 20 * length;
  return static_cast<double>(settings_.queries) * row;
}

}  // namespace eigenscope
