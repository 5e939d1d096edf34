// Errors for trained heads whose traces are out of the range of the theory.
#pragma once

#include <string>

#include "support/error.h"

namespace eigenscope {

/// Returns compute(). Throws FormatError naming the head `name` where `compute` throws InvalidArgument, as
/// propagate() does for traces out of range.
template <class Compute>
auto within_theory(const std::string& name, const Compute& compute) {
  try {
    return compute();
  } catch (const InvalidArgument& refusal) {
    throw FormatError(
        name, std::string("its traces are out of the range of the theory: ") + refusal.what());
  }
}

}  // namespace eigenscope
