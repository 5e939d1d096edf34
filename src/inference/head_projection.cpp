#include "inference/head_projection.h"

#include <cstdint>

namespace eigenscope {

using Eigen::Index;

int HeadPlaces::heads() const {
  return static_cast<int>(projection == Projection::query ? grid.heads : grid.key_heads);
}

Index HeadPlaces::first(int head) const {
  const auto group = projection == Projection::query ? 1 : grid.group();
  return static_cast<Index>(
      first_output(layout, projection, grid, static_cast<std::uint64_t>(head) * group));
}

HeadProjection::HeadProjection(const Linear& map, const HeadPlaces& places, float scale)
    : inputs_(map.weight.cols()), places_(places), scale_(scale) {
  keep([&](Index first, Index count) {
    Linear part{map.weight.middleRows(first, count), {}};
    if (map.bias.size() > 0) part.bias = map.bias.segment(first, count);
    return part;
  });
}

HeadProjection::HeadProjection(const StoredLinear& map, const HeadPlaces& places, float scale,
                               Index most_weights)
    : stored_(map), inputs_(map.inputs()), places_(places), scale_(scale) {
  if (heads() * width() * inputs_ > most_weights) return;
  keep([&](Index first, Index count) { return map.part(first, count).read(); });
}

template <class Part>
void HeadProjection::keep(const Part& part) {
  const Index outputs = heads() * width();
  if (places_.layout != HeadLayout::kInterleaved) {
    kept_ = part(places_.first(0), outputs);
  } else {
    kept_.weight.resize(outputs, inputs_);
    for (int head = 0; head < heads(); ++head) {
      const Linear own = part(places_.first(head), width());
      kept_.weight.middleRows(head * width(), width()) = own.weight;
      if (head == 0 && own.bias.size() > 0) kept_.bias.resize(outputs);
      if (own.bias.size() > 0) kept_.bias.segment(head * width(), width()) = own.bias;
    }
  }
  kept_.weight *= scale_;
  kept_.bias *= scale_;
}

Linear HeadProjection::head(int head) const {
  if (const Linear* const in_memory = all()) {
    Linear own{in_memory->weight.middleRows(head * width(), width()), {}};
    if (in_memory->bias.size() > 0) own.bias = in_memory->bias.segment(head * width(), width());
    return own;
  }
  Linear own = stored_.part(places_.first(head), width()).read();
  own.weight *= scale_;
  own.bias *= scale_;
  return own;
}

}  // namespace eigenscope
