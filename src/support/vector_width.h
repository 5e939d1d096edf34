// Loops in the widest vectors that the processor has; the library itself is compiled for any x86-64. Expressions of
// Eigen have the vectors of the compilation, so that these loops go through pointers.
#pragma once

#include <cstddef>
#include <type_traits>

namespace eigenscope {

// A function compiled for wider vectors only uses them in what is inlined into it.
#define EIGENSCOPE_INLINE inline __attribute__((always_inline))
/// Inlines a lambda; stands behind its parameters.
#define EIGENSCOPE_INLINE_LAMBDA __attribute__((always_inline))

/// Bits of the widest vectors to use: 512 with AVX-512, 256 with AVX2, else 128, which WebAssembly has.
int vector_bits();

#ifdef __x86_64__
template <class Work>
__attribute__((target("avx2"))) void in_256_bits(const Work& work) {
  work();
}
template <class Work>
__attribute__((target("avx512f"))) void in_512_bits(const Work& work) {
  work();
}
#endif

/// Bytes of a vector, as a constant of its type.
template <std::size_t count>
using VectorBytes = std::integral_constant<std::size_t, count>;

/// Calls work(VectorBytes<n>()), an EIGENSCOPE_INLINE_LAMBDA, compiled for vectors of n = vector_bits()/8 bytes.
template <class Work>
void with_widest_vectors(const Work& work) {
#ifdef __x86_64__
  const int bits = vector_bits();
  if (bits == 512) return in_512_bits([&]() EIGENSCOPE_INLINE_LAMBDA { work(VectorBytes<64>()); });
  if (bits == 256) return in_256_bits([&]() EIGENSCOPE_INLINE_LAMBDA { work(VectorBytes<32>()); });
#endif
  work(VectorBytes<16>());
}

/// Calls work() that does not need to know the width, compiled for the widest vectors. Loops of independent entries and
/// lane_sum give the same bits with vectors of any width.
template <class Work>
void in_widest_vectors(const Work& work) {
  with_widest_vectors([&](auto) EIGENSCOPE_INLINE_LAMBDA { work(); });
}

}  // namespace eigenscope
