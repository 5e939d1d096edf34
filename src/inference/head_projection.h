// The map that makes the queries, keys or values of a layer.
#pragma once

#include <Eigen/Core>

#include "checkpoint/family.h"
#include "inference/linear.h"

namespace eigenscope {

/// Places of the heads of a projection among the outputs of the linear map that holds them.
struct HeadPlaces {
  Projection projection = Projection::query;
  HeadLayout layout = {};
  HeadGrid grid = {};
  /// Widths in latent attention: the coordinates of a head that rotary positions turn, its other coordinates, and its
  /// values. The map of queries has the turned coordinates of a head last; the map of keys and values, which reads the
  /// compressed tokens, has the other coordinates of a head and then its values.
  Eigen::Index turned = 0, compressed = 0, values = 0;

  /// Query heads, or key heads, which values share.
  int heads() const;
  /// The first output of head `head`, from 0 to heads() - 1, in the map.
  Eigen::Index first(int head) const;
  /// The outputs of a head in the map.
  Eigen::Index outputs() const;
  /// The map of a head from `linear`, which has its outputs. In latent attention the turned coordinates become the
  /// first ones; those of keys are the last `turned` inputs, which values do not read.
  Linear arranged(Linear linear) const;

 private:
  bool latent() const { return layout == HeadLayout::kLatent; }
};

/// The queries, keys or values of a layer: its heads one below the other, of d_h outputs each, or d_v of values. In
/// memory, or read from the file one by one.
class HeadProjection {
 public:
  static constexpr Eigen::Index kMostWeights = Eigen::Index{1} << 23;  ///< 32 MiB

  HeadProjection() = default;
  /// The heads at `places` in `map`, times `scale`.
  HeadProjection(const Linear& map, const HeadPlaces& places, float scale);
  /// Projects by a map in a file, whose weights are held in memory where they are at most `most_weights`. Throws
  /// FormatError as StoredLinear::read.
  HeadProjection(const StoredLinear& map, const HeadPlaces& places, float scale,
                 Eigen::Index most_weights = kMostWeights);

  int heads() const { return places_.heads(); }
  /// Width of the tokens that it reads.
  Eigen::Index inputs() const { return inputs_; }
  /// The map of all heads; null where it is not in memory.
  const Linear* all() const { return kept_.weight.size() > 0 ? &kept_ : nullptr; }
  /// The map of head number `head`, d_h x inputs, or d_v x inputs. Throws FormatError as StoredLinear::read.
  Linear head(int head) const;

 private:
  /// Takes all heads into memory; `part` gives `count` outputs of the map from `first` on.
  template <class Part>
  void keep(const Part& part);

  StoredLinear stored_;
  Eigen::Index inputs_ = 0;
  HeadPlaces places_;
  float scale_ = 1;
  Linear kept_;
};

}  // namespace eigenscope
