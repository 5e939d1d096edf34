// Errors for trained heads whose traces are out of the range of the theory.
#pragma once

#include <string>

#include "support/error.h"

namespace eigenscope {

/// Why the theory has no numbers for a head: propagate() refuses its traces.
inline std::string out_of_theory(const InvalidArgument& refusal) {
  return std::string("its traces are out of the range of the theory: ") + refusal.what();
}

/// Returns compute(). Throws FormatError naming the head `name` where `compute` throws InvalidArgument, as
/// propagate() does for traces out of range.
template <class Compute>
auto within_theory(const std::string& name, const Compute& compute) {
  try {
    return compute();
  } catch (const InvalidArgument& refusal) {
    throw FormatError(name, out_of_theory(refusal));
  }
}

}  // namespace eigenscope
