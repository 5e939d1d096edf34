// Reinterprets the bits of a number as another type.
#pragma once

#include <cstring>

#include "support/vector_width.h"

namespace eigenscope {

/// The object of type To with the bits of `from`: std::bit_cast, which the standard library of older
/// Emscriptens does not have.
template <class To, class From>
EIGENSCOPE_INLINE To bits_as(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

}  // namespace eigenscope
