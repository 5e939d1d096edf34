#include "nn/rotary.h"

#include <cmath>

namespace eigenscope {

using Eigen::Index;

double angle_of(const Rotary& rotary, Index pair) {
  const double exponent = -2.0 * static_cast<double>(pair) / static_cast<double>(rotary.turned);
  const double plain = std::pow(rotary.base, exponent);
  return rotary.angle_scale.empty() ? plain
                                    : plain * rotary.angle_scale[static_cast<std::size_t>(pair)];
}

RotaryTurns::RotaryTurns(const Rotary& rotary, Index length)
    : pairs_(rotary.pairs), factor_(rotary.logit_factor) {
  if (pairs_ == RotaryPairs::kNone || rotary.turned < 2) return;
  cosine_.resize(rotary.turned / 2, length);
  sine_.resize(rotary.turned / 2, length);
  for (Index pair = 0; pair < cosine_.rows(); ++pair) {
    const double angle = angle_of(rotary, pair);
    for (Index t = 0; t < length; ++t) {
      cosine_(pair, t) = std::cos(static_cast<double>(t) * angle);
      sine_(pair, t) = std::sin(static_cast<double>(t) * angle);
    }
  }
}

template <class Column>
void RotaryTurns::turn_column(Index position, Column&& column) const {
  using Scalar = typename std::decay_t<Column>::Scalar;
  const Index pairs = cosine_.rows(), place = std::abs(position);
  for (Index pair = 0; pair < pairs; ++pair) {
    const auto [first, second] = rotary_places(pairs_, pair, pairs);
    const auto cosine = static_cast<Scalar>(cosine_(pair, place));
    const auto sine = static_cast<Scalar>(position < 0 ? -sine_(pair, place) : sine_(pair, place));
    const Scalar x = column[first], y = column[second];
    column[first] = cosine * x - sine * y;
    column[second] = sine * x + cosine * y;
  }
}

void RotaryTurns::turn(Index position, Eigen::Ref<Eigen::MatrixXd> states) const {
  for (Index i = 0; i < states.cols(); ++i) turn_column(position, states.col(i));
}

void RotaryTurns::turn_columns(Index head_width, Index first, Index step, double factor,
                               Eigen::MatrixXf& columns) const {
  if (is_none()) return;
  for (Index t = 0; t < columns.cols(); ++t) {
    for (Index row = 0; row < columns.rows(); row += head_width) {
      auto head = columns.col(t).segment(row, head_width);
      turn_column(first + step * t, head);
      head.head(2 * cosine_.rows()) *= static_cast<float>(factor);
    }
  }
}

void RotaryTurns::turn_keys(Index head_width, Eigen::MatrixXf& keys) const {
  turn_columns(head_width, 0, 1, 1, keys);
}
void RotaryTurns::turn_queries(Index head_width, Eigen::MatrixXf& queries) const {
  turn_columns(head_width, 0, 1, factor_, queries);
}
void RotaryTurns::turn_keys(Index head_width, Index position, Eigen::MatrixXf& keys) const {
  turn_columns(head_width, position, 0, 1, keys);
}
void RotaryTurns::turn_queries(Index head_width, Index position, Eigen::MatrixXf& queries) const {
  turn_columns(head_width, position, 0, factor_, queries);
}

template <class Scalar>
void RotaryTurns::turn_batch(const AttentionShape& shape, int direction, Matrix<Scalar>& fused,
                             std::span<const TokenPlace> places) const {
  if (is_none()) return;
  const Index rows = (shape.heads + shape.groups) * shape.head_width;
  for (Index column = 0; column < fused.cols(); ++column) {
    const Index position =
        places.empty() ? column % shape.length : places[static_cast<std::size_t>(column)].position;
    for (Index row = 0; row < rows; row += shape.head_width) {
      turn_column(direction * position, fused.col(column).segment(row, shape.head_width));
    }
  }
}

template void RotaryTurns::turn_batch(const AttentionShape&, int, Matrix<float>&,
                                      std::span<const TokenPlace>) const;
template void RotaryTurns::turn_batch(const AttentionShape&, int, Matrix<double>&,
                                      std::span<const TokenPlace>) const;

Eigen::MatrixXd RotaryTurns::rotated_for_keys(const Eigen::VectorXd& query, Index position,
                                              Index keys) const {
  if (is_none()) return query;
  Eigen::MatrixXd turned = query.replicate(1, keys);
  turned.topRows(2 * cosine_.rows()) *= factor_;
  for (Index t = 0; t < keys; ++t) turn_column(position - t, turned.col(t));
  return turned;
}

}  // namespace eigenscope
