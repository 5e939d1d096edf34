#include "labs/scenes.h"

#include <algorithm>
#include <numeric>

#include "support/random.h"

namespace eigenscope {

std::vector<Scene> draw_scenes(std::size_t count, std::uint64_t seed, std::uint64_t stream) {
  constexpr std::uint64_t kDraws = kAttributes * kObjects + 3;  // of a scene
  std::vector<Scene> scenes(count);
  for (std::size_t k = 0; k < count; ++k) {
    std::uint64_t counter = k * kDraws;
    const auto below = [&](int bound) {
      const auto count = static_cast<std::uint64_t>(bound);
      return static_cast<int>(random_below(count, seed, stream, counter++));
    };
    Scene& scene = scenes[k];
    for (int a = 0; a < kAttributes; ++a) {
      std::array<int, kValues> values;
      std::iota(values.begin(), values.end(), a * kValues);
      for (int i = 0; i < kObjects; ++i) {  // Fisher and Yates
        std::swap(values[static_cast<std::size_t>(i)],
                  values[static_cast<std::size_t>(i + below(kValues - i))]);
        scene.features[static_cast<std::size_t>(i)][static_cast<std::size_t>(a)] =
            values[static_cast<std::size_t>(i)];
      }
    }
    scene.asked = below(kAttributes);
    const int given = (scene.asked + 1 + below(kAttributes - 1)) % kAttributes;
    scene.target = below(kObjects);
    const auto& own = scene.features[static_cast<std::size_t>(scene.target)];
    scene.given = own[static_cast<std::size_t>(given)];
    scene.answer = own[static_cast<std::size_t>(scene.asked)];
    const auto asked = [&](const auto& object) {
      return object[static_cast<std::size_t>(scene.asked)];
    };
    const auto lowest =
        std::min_element(scene.features.begin(), scene.features.end(),
                         [&](const auto& a, const auto& b) { return asked(a) < asked(b); });
    scene.lowest = static_cast<int>(lowest - scene.features.begin());
  }
  return scenes;
}

}  // namespace eigenscope
