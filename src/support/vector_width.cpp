#include "support/vector_width.h"

namespace eigenscope {

int vector_bits() {
// EIGENSCOPE_128_BITS builds with the width of WebAssembly, for comparisons with it.
#if defined(__x86_64__) && !defined(EIGENSCOPE_128_BITS)
  if (__builtin_cpu_supports("avx512f")) return 512;
  if (__builtin_cpu_supports("avx2")) return 256;
#endif
  return 128;
}

}  // namespace eigenscope
