// A family that the user describes, for a checkpoint of an unrecognized architecture.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "checkpoint/family.h"
#include "support/choice.h"

namespace eigenscope {

/// Which tensors are queries and keys. A pattern is the whole name of a weight with "{n}" once, where
/// the number of the layer stands.
struct Mapping {
  std::string query;  ///< or the weight of all, where they are fused
  std::string key;    ///< empty where they are fused
  std::string gain;   ///< of the norm before them; empty for none
  HeadLayout layout = HeadLayout::kSeparate;
};

inline constexpr std::array kLayoutNames{
    Choice{"separate", "a tensor each"}, Choice{"conv1d", "fused, inputs first (Conv1D)"},
    Choice{"fused", "fused: queries, keys, values"}, Choice{"interleaved", "fused, head by head"}};

/// A row of the table made of a mapping; its names are exact, without a prefix. It lives as long as
/// the pointer. Throws InvalidArgument ("map_query", "map_key", "map_gain") for a pattern without one
/// "{n}", and a key pattern missing beside separate queries or given with fused ones.
std::shared_ptr<const Family> family_of(const Mapping& mapping);

}  // namespace eigenscope
