// Which keys a query may see.
#pragma once

#include <Eigen/Core>
#include <string_view>

namespace eigenscope {

enum class MaskKind {
  full,    ///< every key
  causal,  ///< keys up to the query
  window,  ///< the last `window` keys up to the query
  blocks,  ///< keys up to the query in its own block; the queries of the last block see all before
};

/// A mask over a sequence of any length. Every query sees itself.
struct Mask {
  MaskKind kind = MaskKind::full;
  Eigen::Index window = 8;  ///< tokens, only for `window`; wider than the sequence means causal
  Eigen::Index blocks =
      4;  ///< only for `blocks`: equal parts of the sequence, the last may be longer

  /// Whether the query at position `query` sees the key at `key`, both from 0, in a sequence of
  /// `length` tokens.
  bool sees(Eigen::Index query, Eigen::Index key, Eigen::Index length) const;
};

/// Throws InvalidArgument ("mask") that lists the names: full, causal, window, blocks.
MaskKind mask_of_name(std::string_view name);

}  // namespace eigenscope
