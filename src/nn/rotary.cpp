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

template <class Scalar>
void rotate_positions(const AttentionShape& shape, int direction, Matrix<Scalar>& fused) {
  const Index count = shape.head_width / 2;
  const Rotary rotary{RotaryPairs::kHalves, 2 * count};
  for (Index t = 0; t < shape.length; ++t) {
    for (Index pair = 0; pair < count; ++pair) {
      const double angle = static_cast<double>(t) * angle_of(rotary, pair);
      const auto cosine = static_cast<Scalar>(std::cos(angle));
      const auto sine = static_cast<Scalar>(direction * std::sin(angle));
      const auto [first, second] = rotary_places(rotary.pairs, pair, count);
      for (Index sequence = 0; sequence < shape.batch; ++sequence) {
        for (Index head = 0; head < shape.heads + shape.groups; ++head) {
          Scalar* const own = &fused(head * shape.head_width, sequence * shape.length + t);
          turn_pair(cosine, sine, own[first], own[second]);
        }
      }
    }
  }
}

template void rotate_positions(const AttentionShape&, int, Matrix<float>&);
template void rotate_positions(const AttentionShape&, int, Matrix<double>&);

}  // namespace eigenscope
