// The W_QK of a checkpoint's heads, as inputs and results of operations.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "checkpoint/head_reader.h"
#include "contract/input.h"
#include "contract/result.h"

namespace eigenscope {

/// Fields fold_gains, offset and average, which select the W_QK of a head.
struct QueryKeyInput {
  std::size_t fold_gains = 0;
  Eigen::Index offset = 0;
  bool average = false;

  /// An average is over the offsets in sequences of `length` tokens.
  HeadSettings settings(Eigen::Index length) const;
};
void describe(InputFields& f, QueryKeyInput& in);

/// Place, traces, moments and theory of a head.
void describe(ResultFields& out, const HeadReport& head);

}  // namespace eigenscope
