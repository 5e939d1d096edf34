#include "prediction/drawn_rows.h"

#include <algorithm>

#include "support/parameter.h"
#include "support/widened.h"

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::MatrixXf;
using Eigen::VectorXd;

DrawnRows::DrawnRows(const TextModel& model, const std::vector<Passage>& passages,
                     const PredictionSettings& settings)
    : settings_(settings),
      rules_(model.rules()),
      width_(model.width()),
      length_(passages.front().length()),
      sinks_(SinkKeys::of(passages.front())),
      turns_(rules_.rotary, length_) {
  checked("queries", static_cast<double>(settings.queries));
  const auto all = static_cast<Index>(passages.size()) * length_;
  std::vector<float> normal(static_cast<std::size_t>(length_) + 1);
  for (Index j = 0; j < settings.queries; ++j) {
    draw(j, normal);
    places_.push_back(uniform_index(normal.back(), all));
  }
}

HeadProjections DrawnRows::projections(const LayerWeights& weights, int head) const {
  const Index width = rules_.head_width, first = head * width, key = rules_.key_head(head) * width;
  const auto bias = [&](const Linear& of, Index begin) -> VectorXd {
    if (of.bias.size() == 0) return VectorXd::Zero(width);
    return of.bias.segment(begin, width).cast<double>();
  };
  return {weights.query.weight.middleRows(first, width).cast<double>(), bias(weights.query, first),
          weights.key.weight.middleRows(key, width).cast<double>(),
          turns_.is_none() ? VectorXd() : bias(weights.key, key), &turns_};
}

std::vector<HeadQuery> DrawnRows::queries(const States& from, const HeadProjections& head) const {
  constexpr std::size_t kAtOnce = 256;  // so many states are held in double precision
  std::vector<HeadQuery> found;
  for (std::size_t begin = 0; begin < places_.size(); begin += kAtOnce) {
    const auto places =
        std::span(places_).subspan(begin).first(std::min(kAtOnce, places_.size() - begin));
    MatrixXd states(width_, static_cast<Index>(places.size()));
    std::vector<Index> positions;
    for (const Index place : places) {
      const MatrixXf& passage = from[static_cast<std::size_t>(place / length_)];
      widen(&passage(0, place % length_), passage.rows(),
            &states(0, static_cast<Index>(positions.size())));
      positions.push_back(place % length_);
    }
    for (HeadQuery& query : queries_of(head, states, positions)) found.push_back(std::move(query));
  }
  return found;
}

HeadMeasures DrawnRows::over_keys(const States& states, const HeadProjections& head,
                                  const std::vector<HeadQuery>& queries) const {
  const std::vector<MatrixXd> keys = keys_of(head, states);
  HeadMeter meter;
  each(queries, [&](std::size_t j, std::span<const float> normal) {
    const VectorXd logits = real_logits(head, keys, queries[j], places_[j] / length_, normal);
    meter.add_row(logits, softmax(logits, 1), queries[j].position, sinks_, length_);
  });
  return meter.measures();
}

double DrawnRows::work() const {
  const auto head_width = static_cast<double>(rules_.head_width);
  const auto width = static_cast<double>(width_), length = static_cast<double>(length_);
  // A row's law, then as much for drawing and softmax as some twenty products a key.
  const double row = head_width * (width + head_width + length) + 20 * length;
  return static_cast<double>(settings_.queries) * row;
}

}  // namespace eigenscope
