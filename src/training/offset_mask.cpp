#include "training/offset_mask.h"

#include "nn/activation.h"
#include "support/random.h"

namespace eigenscope {

using Eigen::Index;

float keep_probability(const Model<float>& model, Index distance) {
  return sigmoid(model.parameters()[model.layout().offset_mask + distance]);
}

std::vector<char> draw_kept(const Model<float>& model, Index batch, std::uint64_t seed,
                            std::uint64_t step) {
  constexpr std::uint64_t kKeptStream = std::uint64_t{1} << 48;
  std::vector<char> kept;
  if (model.layout().offset_mask < 0) return kept;
  const ModelSettings& settings = model.settings();
  for (Index sequence = 0; sequence < batch; ++sequence) {
    for (Index distance = 0; distance < settings.length; ++distance) {
      const std::uint64_t draw = step * static_cast<std::uint64_t>(batch * settings.length) +
                                 static_cast<std::uint64_t>(kept.size());
      const bool drawn = random_unit(seed, kKeptStream, draw) <
                         static_cast<double>(keep_probability(model, distance));
      kept.push_back(drawn && distance != settings.dropped_distance);
    }
  }
  return kept;
}

double entries_at(const ModelSettings& settings, Index distance) {
  const auto length = static_cast<double>(settings.length);
  const double once = (length - static_cast<double>(distance)) / length;
  return settings.visible() == Entries::upper || distance == 0 ? once : 2 * once;
}

void add_entry_penalty(double penalty, Model<float>& model) {
  if (model.layout().offset_mask < 0) return;
  for (Index distance = 0; distance < model.settings().length; ++distance) {
    const float probability = keep_probability(model, distance);
    model.gradient()[model.layout().offset_mask + distance] +=
        static_cast<float>(penalty * entries_at(model.settings(), distance)) * probability *
        (1 - probability);
  }
}

}  // namespace eigenscope
