// Loops in the widest vectors that the processor has; the library itself is compiled for any x86-64.
#pragma once

namespace eigenscope {

// A function compiled for wider vectors only uses them in what is inlined into it.
#define EIGENSCOPE_INLINE inline __attribute__((always_inline))
/// The same for a lambda, behind its parameters.
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

/// Calls work(), an EIGENSCOPE_INLINE_LAMBDA, compiled for vectors of vector_bits(). Loops of independent entries
/// and lane_sum give the same bits with vectors of any width.
template <class Work>
void in_widest_vectors(const Work& work) {
#ifdef __x86_64__
  const int bits = vector_bits();
  if (bits == 512) return in_512_bits(work);
  if (bits == 256) return in_256_bits(work);
#endif
  work();
}

}  // namespace eigenscope
