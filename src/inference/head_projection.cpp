#include "inference/head_projection.h"

#include <cstdint>
#include <utility>

namespace eigenscope {

using Eigen::Index;

int HeadPlaces::heads() const {
  return static_cast<int>(projection == Projection::query ? grid.heads : grid.key_heads);
}

Index HeadPlaces::first(int head) const {
  if (latent()) {
    if (projection == Projection::query) return head * (compressed + turned);
    return head * (compressed + values) + (projection == Projection::value ? compressed : 0);
  }
  const auto group = projection == Projection::query ? 1 : grid.group();
  return static_cast<Index>(
      first_output(layout, projection, grid, static_cast<std::uint64_t>(head) * group));
}

Index HeadPlaces::outputs() const {
  if (!latent()) return static_cast<Index>(grid.head_width);
  if (projection == Projection::query) return compressed + turned;
  return projection == Projection::key ? compressed : values;
}

Linear HeadPlaces::arranged(Linear linear) const {
  if (!latent()) return linear;
  const Eigen::MatrixXf& weight = linear.weight;
  Eigen::MatrixXf all;
  if (projection == Projection::query) {
    all.resize(weight.rows(), weight.cols());
    all << weight.bottomRows(turned), weight.topRows(compressed);
  } else {
    const Index before = projection == Projection::key ? turned : 0;
    all.setZero(before + weight.rows(), weight.cols() + turned);
    all.topRightCorner(before, turned).setIdentity();
    all.bottomLeftCorner(weight.rows(), weight.cols()) = weight;
  }
  return {std::move(all), {}};
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
  if (heads() * places.outputs() * inputs_ > most_weights) return;
  keep([&](Index first, Index count) { return map.part(first, count).read(); });
}

template <class Part>
void HeadProjection::keep(const Part& part) {
  const Index width = places_.outputs();
  const bool is_gated =
      places_.layout == HeadLayout::kGated && places_.projection == Projection::query;
  const bool apart = places_.layout == HeadLayout::kInterleaved ||
                     places_.layout == HeadLayout::kLatent || is_gated;
  if (!apart) {
    kept_ = part(places_.first(0), heads() * width);
  } else {
    for (int head = 0; head < heads(); ++head) {
      const Linear linear = places_.arranged(part(places_.first(head), width));
      const Index rows = linear.weight.rows();
      if (head == 0) kept_.weight.resize(heads() * rows, linear.weight.cols());
      kept_.weight.middleRows(head * rows, rows) = linear.weight;
      if (head == 0 && linear.bias.size() > 0) kept_.bias.resize(heads() * rows);
      if (linear.bias.size() > 0) kept_.bias.segment(head * rows, rows) = linear.bias;
    }
  }
  kept_.weight *= scale_;
  kept_.bias *= scale_;
}

Linear HeadProjection::head(int head) const {
  if (const Linear* const in_memory = all()) {
    const Index width = in_memory->weight.rows() / heads();
    Linear linear{in_memory->weight.middleRows(head * width, width), {}};
    if (in_memory->bias.size() > 0) linear.bias = in_memory->bias.segment(head * width, width);
    return linear;
  }
  Linear linear = places_.arranged(stored_.part(places_.first(head), places_.outputs()).read());
  linear.weight *= scale_;
  linear.bias *= scale_;
  return linear;
}

}  // namespace eigenscope
