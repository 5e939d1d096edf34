// Scenes of a few objects with a question about one of them, for visual question answering without images.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "nn/embedding.h"

namespace eigenscope {

inline constexpr int kAttributes = 3;  ///< colour, shape, place
inline constexpr int kValues = 8;      ///< of each attribute
inline constexpr int kObjects = 6;     ///< of a scene
/// Pairs of an attribute and a value: number kValues attribute + value.
inline constexpr int kFeatures = kAttributes * kValues;

/// "What is the value of `asked` of the object with the feature `given`?" No two objects of a scene share a
/// feature, so that one object, the target, is meant.
struct Scene {
  std::array<std::array<int, kAttributes>, kObjects> features;  ///< of each object, by attribute
  int asked;                                                    ///< attribute
  TokenId given;   ///< feature of the target, of another attribute
  TokenId answer;  ///< feature of the target, of the attribute asked
  int target;      ///< object
  int lowest;      ///< object with the lowest value of the attribute asked
};

/// Independent scenes, uniform over all; scene k is the same for every `count`.
std::vector<Scene> draw_scenes(std::size_t count, std::uint64_t seed, std::uint64_t stream);

}  // namespace eigenscope
