#include "training/projections.h"

namespace eigenscope {

using Eigen::Index;

std::vector<ProjectionPlace> projections_of(const ModelSettings& settings,
                                            const ParameterLayout& layout) {
  const Index d = settings.width, fused = settings.fused_width();
  const Index keys = settings.groups() * settings.head_width();
  std::vector<ProjectionPlace> all;
  for (const LayerOffsets& layer : layout.layers) {
    all.push_back({layer.fused, d, d, fused});
    all.push_back({layer.fused + d, keys, d, fused});
    all.push_back({layer.fused + d + keys, keys, d, fused});
    all.push_back({layer.projection, d, d, d});
    if (layer.up < 0) continue;
    all.push_back({layer.up, settings.hidden(), d, settings.hidden()});
    if (layer.gate >= 0) all.push_back({layer.gate, settings.hidden(), d, settings.hidden()});
    all.push_back({layer.down, d, settings.hidden(), d});
  }
  return all;
}

namespace {

// The first `rows` of queries, keys and values in every layer.
void scale_rows(Index rows, const ModelSettings& settings, const ParameterLayout& layout,
                float factor, Vector<float>& numbers) {
  const Index fused = settings.fused_width();
  for (const LayerOffsets& layer : layout.layers) {
    for (Index j = 0; j < settings.width; ++j) {
      numbers.segment(layer.fused + j * fused, rows) *= factor;
    }
    numbers.segment(layer.fused_bias, rows) *= factor;
  }
}

}  // namespace

void scale_queries(const ModelSettings& settings, const ParameterLayout& layout, float factor,
                   Vector<float>& numbers) {
  scale_rows(settings.width, settings, layout, factor, numbers);
}

void scale_queries_and_keys(const ModelSettings& settings, const ParameterLayout& layout,
                            float factor, Vector<float>& numbers) {
  const Index rows = settings.width + settings.groups() * settings.head_width();
  scale_rows(rows, settings, layout, factor, numbers);
}

}  // namespace eigenscope
