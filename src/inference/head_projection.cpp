#include "inference/head_projection.h"

#include <utility>

namespace eigenscope {

using Eigen::Index;
using Eigen::MatrixXf;

int HeadPlaces::heads() const {
  return static_cast<int>(projection == Projection::query ? grid.heads : grid.key_heads);
}

Index HeadPlaces::first(int head) const {
  const auto group = projection == Projection::query ? 1 : grid.group();
  return static_cast<Index>(
      first_output(layout, projection, grid, static_cast<std::uint64_t>(head) * group));
}

HeadProjection::HeadProjection(const StoredLinear& map, const HeadPlaces& places, float scale,
                               Index most_weights)
    : stored_(map), places_(places), scale_(scale) {
  // Outputs that lie apart in the file are read with all others.
  const bool apart = places.layout == HeadLayout::kConv1D;
  const auto width = static_cast<Index>(places.grid.head_width);
  const Index outputs = heads() * width;
  if (!apart && outputs * inputs() > most_weights) return;
  if (places.layout == HeadLayout::kSeparate) {
    kept_ = map.read();
  } else {
    const Linear all = apart ? map.read() : Linear();
    kept_.weight.resize(outputs, inputs());
    if (map.bias().size() > 0) kept_.bias.resize(outputs);
    for (int head = 0; head < heads(); ++head) {
      auto rows = kept_.weight.middleRows(head * width, width);
      if (apart) {
        rows = all.weight.middleRows(places.first(head), width);
      } else {
        rows = map.part(places.first(head), width).read().weight;
      }
      if (kept_.bias.size() == 0) continue;
      kept_.bias.segment(head * width, width) = map.bias().segment(places.first(head), width);
    }
  }
  kept_.weight *= scale;
  kept_.bias *= scale;
}

Linear HeadProjection::head(int head) const {
  const auto width = static_cast<Index>(places_.grid.head_width);
  if (const Linear* const in_memory = all()) {
    Linear own{in_memory->weight.middleRows(head * width, width), {}};
    if (in_memory->bias.size() > 0) own.bias = in_memory->bias.segment(head * width, width);
    return own;
  }
  Linear own = stored_.part(places_.first(head), width).read();
  own.weight *= scale_;
  own.bias *= scale_;
  return own;
}

}  // namespace eigenscope
