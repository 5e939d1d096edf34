// Attention masks: the keys that each query sees.
#pragma once

#include <Eigen/Core>
#include <array>

#include "attention/key_range.h"
#include "support/choice.h"

namespace eigenscope {

enum class MaskKind {
  full,    ///< every key
  causal,  ///< keys up to the query
  window,  ///< the last `window` keys up to the query
  blocks,  ///< contexts encoded in parallel (arXiv:2412.16545): after the prefix, which all see, the
  ///< sequence falls into blocks, whose queries see the keys of their block up to themselves; the
  ///< queries of the last block see all keys before them
};

inline constexpr std::array kMaskNames{Choice{"full", "full"}, Choice{"causal", "causal"},
                                       Choice{"window", "window"}, Choice{"blocks", "blocks"}};

/// A mask over a sequence of any length. Every query sees itself.
struct Mask {
  MaskKind kind = MaskKind::full;
  Eigen::Index window = 8;  ///< tokens, only for `window`; wider than the sequence means causal
  Eigen::Index blocks = 4;  ///< only for `blocks`: equal parts, the last takes what remains
  Eigen::Index prefix = 0;  ///< only for `blocks`: tokens at the start that every query sees
  Eigen::Index selected =
      256;  ///< only for `blocks`: earlier blocks that a query of the last block
            ///< reads, those that would get the largest weights

  /// The keys that the query at position `query` (from 0) sees in a sequence of `length` tokens: at
  /// most two ranges, in order, the second possibly empty.
  std::array<KeyRange, 2> visible(Eigen::Index query, Eigen::Index length) const;
  /// Whether no query sees a key after itself.
  bool looks_back() const { return kind != MaskKind::full; }
  /// Block of a position, of `length`; -1 for the prefix, 0 without blocks.
  Eigen::Index block_of(Eigen::Index position, Eigen::Index length) const;
  /// Whether the query reads only some of the earlier blocks it sees, by their weights.
  bool selects(Eigen::Index query, Eigen::Index length) const;
};

}  // namespace eigenscope
