// The queries of which the levels predict rows of attention, the same for all heads and levels.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "attention/softmax.h"
#include "inference/transformer.h"
#include "prediction/levels.h"
#include "prediction/token_statistics.h"
#include "support/random.h"

namespace eigenscope {

struct PredictionSettings {
  Eigen::Index queries = 512;  ///< sampled for each layer; parameter "queries"
  std::uint64_t seed = 1;
};

/// States of a layer, d x T for each passage.
using States = std::vector<Eigen::MatrixXf>;

/// Query j of a layer and the numbers drawn for its row are stream j of the seed.
class DrawnRows {
 public:
  /// Rows of a model's first layer. Passages have one length. Throws InvalidArgument ("queries").
  DrawnRows(const Transformer& model, const std::vector<Passage>& passages,
            const PredictionSettings& settings);
  /// Rows of a layer with these rules, whose `passages` have `length` tokens each. Throws likewise.
  DrawnRows(const LayerRules& rules, Eigen::Index length, const SinkKeys& sinks,
            Eigen::Index passages, const PredictionSettings& settings);
  /// The rows are then of a layer with these rules.
  void enter(const LayerRules& rules);

  const PredictionSettings& settings() const { return settings_; }
  Eigen::Index length() const { return length_; }
  const SinkKeys& sinks() const { return sinks_; }
  const LayerRules& rules() const { return rules_; }
  const RotaryTurns& turns() const { return turns_; }
  /// The largest factor by which rotary positions multiply logits.
  double largest_turn() const { return std::max(1.0, rules_.rotary.logit_factor); }

  /// The drawn queries of a head; all levels have the same.
  std::vector<HeadQuery> queries(const HeadStates& from) const;
  /// Calls draw_row(j, its place, N(0, 1) numbers of the keys that it sees) for each query j that sees at least
  /// two.
  template <class Draw>
  void each(const std::vector<HeadQuery>& queries, const Draw& draw_row) const {
    std::vector<float> normal(static_cast<std::size_t>(length_) + 1);
    for (std::size_t j = 0; j < queries.size(); ++j) {
      const Eigen::Index query = queries[j].position;
      const KeyRange seen = rules_.seen(query, length_);
      if (seen.count < 2) continue;
      draw(static_cast<Eigen::Index>(j), normal);
      draw_row(j, RowPlace{query, seen, length_},
               std::span<const float>(normal).subspan(static_cast<std::size_t>(seen.first),
                                                      static_cast<std::size_t>(seen.count)));
    }
  }
  /// Measures of the rows of level 8 (real_logits): `queries`, drawn from `states`, over keys of `states` at the same
  /// positions.
  HeadMeasures over_keys(const HeadStates& states, const std::vector<HeadQuery>& queries) const;
  /// Caps the logits in place as the layer does.
  void cap(Eigen::VectorXd& logits) const;
  /// About how many multiply-adds a head's rows cost on one level.
  double work() const;

 private:
  /// The N(0, 1) numbers of a query: one for each key, and one that draws the query itself.
  void draw(Eigen::Index query, std::vector<float>& normal) const {
    NormalStream(settings_.seed, static_cast<std::uint64_t>(query)).fill(normal);
  }

  PredictionSettings settings_;
  LayerRules rules_;
  Eigen::Index length_;
  SinkKeys sinks_;
  std::vector<Eigen::Index> places_;  // of the drawn queries: passage T + position
  RotaryTurns turns_;
};

}  // namespace eigenscope
