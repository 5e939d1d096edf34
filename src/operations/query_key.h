// The W_QK of a checkpoint's heads, as inputs and results of operations.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "checkpoint/head_reader.h"
#include "contract/input.h"
#include "contract/result.h"

namespace eigenscope {

/// fold_gains, offset, average: which W_QK of a head is meant.
struct QueryKeyInput {
  std::size_t fold_gains = 0;
  Eigen::Index offset = 0;
  bool average = false;

  /// `length`: that of the sequences over whose offsets is averaged, in tokens.
  HeadSettings settings(Eigen::Index length) const;
};
void describe(InputFields& f, QueryKeyInput& in);

/// Place, traces, moments and theory of a head.
void describe(ResultFields& out, const HeadReport& head);

}  // namespace eigenscope
