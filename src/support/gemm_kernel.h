// The innermost loops of products of matrices: panels of the factors, and a tile of the product in registers.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstring>
#include <vector>

#include "support/gemm.h"
#include "support/vector_width.h"

namespace eigenscope::gemm {

using Eigen::Index;

// The tile of C that is held in registers. SSE, AVX2 and the engines of WebAssembly have 16, of which two
// vectors by four columns leave room for the factors. AVX-512 has 32; there one vector by sixteen columns
// comes within a tenth of what fused multiply-adds could do, two by four within a third (measured on Zen 4).
template <class Scalar, std::size_t Bytes>
struct Tile {
  typedef Scalar Vector __attribute__((vector_size(Bytes)));
  static constexpr Index kVectors = Bytes == 64 ? 1 : 2, kColumns = Bytes == 64 ? 16 : 4;
  static constexpr Index kLanes = Bytes / sizeof(Scalar), kRows = kVectors * kLanes;
};
inline constexpr Index kInnerBlock = 512;  // a panel of A or B stays in the first-level cache

inline Index panels(Index count, Index each) { return (count + each - 1) / each; }

// Four rows of four numbers each, transposed.
template <class Scalar>
EIGENSCOPE_INLINE void transpose_four(const Scalar* in, Index in_step, Scalar* out,
                                      Index out_step) {
  typedef Scalar Four __attribute__((vector_size(4 * sizeof(Scalar))));
  Four a, b, c, d;
  std::memcpy(&a, in, sizeof a);
  std::memcpy(&b, in + in_step, sizeof b);
  std::memcpy(&c, in + 2 * in_step, sizeof c);
  std::memcpy(&d, in + 3 * in_step, sizeof d);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5),
             cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four ab_end = __builtin_shufflevector(a, b, 2, 6, 3, 7),
             cd_end = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[4] = {__builtin_shufflevector(ab, cd, 0, 1, 4, 5),
                        __builtin_shufflevector(ab, cd, 2, 3, 6, 7),
                        __builtin_shufflevector(ab_end, cd_end, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_end, cd_end, 2, 3, 6, 7)};
  for (Index i = 0; i < 4; ++i) std::memcpy(out + i * out_step, &rows[i], sizeof rows[i]);
}

// Cuts `count` rows of a factor into panels of `Each` and stores these column by column; rows that the
// last panel lacks are zero.
template <Index Each, class Scalar>
void pack(Index count, Index inner, Factor<Scalar> from, std::vector<Scalar>& packed) {
  // It only grows: a vector that shrinks and grows again sets to zero what is overwritten here.
  const auto size = static_cast<std::size_t>(panels(count, Each) * Each * inner);
  if (packed.size() < size) packed.resize(size);
  Scalar* out = packed.data();
  constexpr Index kLine = 64 / sizeof(Scalar);
  Index first = 0;
  if (from.row_step == 1) {
    // Several lines of each column at a time: columns that lie a power of two apart fall into one set of a cache.
    constexpr Index kPanels = std::max<Index>(1, 4 * kLine / Each);
    for (; first + kPanels * Each <= count;
         first += kPanels * Each, out += kPanels * Each * inner) {
      for (Index x = 0; x < inner; ++x) {
        const Scalar* const in = from.data + first + x * from.column_step;
        for (Index panel = 0; panel < kPanels; ++panel) {
          std::memcpy(out + (panel * inner + x) * Each, in + panel * Each, Each * sizeof(Scalar));
        }
      }
    }
  }
  for (; first < count; first += Each) {
    const Scalar* in = from.data + first * from.row_step;
    const Index rows = std::min(Each, count - first);
    if (rows == Each && from.row_step == 1) {
      for (Index x = 0; x < inner; ++x) {
        std::memcpy(out + x * Each, in + x * from.column_step, Each * sizeof(Scalar));
      }
    } else if (rows == Each) {
      // A cache line of each row at a time, for the same reason.
      for (Index begin = 0; begin < inner; begin += kLine) {
        const Index end = std::min(begin + kLine, inner);
        const Index fours = from.column_step == 1 ? begin + (end - begin) / 4 * 4 : begin;
        for (Index i = 0; i < Each; i += 4) {
          for (Index x = begin; x < fours; x += 4) {
            transpose_four(in + i * from.row_step + x, from.row_step, out + x * Each + i, Each);
          }
        }
        for (Index i = 0; i < Each; ++i) {
          for (Index x = fours; x < end; ++x) {
            out[x * Each + i] = in[i * from.row_step + x * from.column_step];
          }
        }
      }
    } else {
      for (Index x = 0; x < inner; ++x) {
        for (Index i = 0; i < Each; ++i) {
          out[x * Each + i] = i < rows ? in[i * from.row_step + x * from.column_step] : Scalar(0);
        }
      }
    }
    out += Each * inner;
  }
}

// The first `rows` of a column of a tile, to C.
template <class Scalar, class Sum>
EIGENSCOPE_INLINE void put(const Scalar* column, Index rows, Sum* c, bool add) {
  for (Index i = 0; i < rows; ++i) c[i] = add ? c[i] + column[i] : Sum(column[i]);
}

template <class Scalar, std::size_t Bytes>
struct Kernel {
  using Registers = Tile<Scalar, Bytes>;
  using Vector = typename Registers::Vector;
  Vector sums[Registers::kColumns][Registers::kVectors];

  EIGENSCOPE_INLINE void accumulate(Index inner, const Scalar* a, const Scalar* b) {
    Vector totals[Registers::kColumns][Registers::kVectors] = {};
    for (Index x = 0; x < inner; ++x) {
      Vector column[Registers::kVectors];
      // One vector at a time: gcc copies an array in halves through memory, and a 256-bit load then waits for both.
      for (Index v = 0; v < Registers::kVectors; ++v) {
        std::memcpy(&column[v], a + v * Registers::kLanes, sizeof column[v]);
      }
      for (Index j = 0; j < Registers::kColumns; ++j) {
        for (Index v = 0; v < Registers::kVectors; ++v) totals[j][v] += column[v] * b[j];
      }
      a += Registers::kRows;
      b += Registers::kColumns;
    }
    std::memcpy(sums, totals, sizeof totals);
  }

  // Writes the tile's first `rows` x `columns` entries to C.
  template <class Sum>
  EIGENSCOPE_INLINE void store(Index rows, Index columns, Sum* c, Index leading, bool add) const {
    for (Index j = 0; j < columns; ++j, c += leading) {
      Scalar column[Registers::kRows];
      std::memcpy(column, sums[j], sizeof column);
      // A whole tile by a number of rows that the compiler knows: most are.
      if (rows == Registers::kRows) {
        put(column, Registers::kRows, c, add);
      } else {
        put(column, rows, c, add);
      }
    }
  }
};

}  // namespace eigenscope::gemm
