#include "support/gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace eigenscope {
namespace {

using Eigen::Index;

// A function compiled for wider vectors only uses them in what is inlined into it.
#define EIGENSCOPE_INLINE inline __attribute__((always_inline))

// The tile of C that is held in registers: two vectors of `Bytes` by four columns, which leaves room
// for the factors among the 16 registers of SSE.
template <class Scalar, std::size_t Bytes>
struct Tile {
  typedef Scalar Vector __attribute__((vector_size(Bytes)));
  static constexpr Index kLanes = Bytes / sizeof(Scalar);
  static constexpr Index kRows = 2 * kLanes, kColumns = 4;
};
constexpr Index kInnerBlock = 512;  // a panel of A or B stays in the first-level cache

Index panels(Index count, Index each) { return (count + each - 1) / each; }

// Cuts `count` rows of a factor into panels of `Each` and stores these column by column; rows that the
// last panel lacks are zero.
template <Index Each, class Scalar>
void pack(Index count, Index inner, Factor<Scalar> from, std::vector<Scalar>& packed) {
  packed.resize(static_cast<std::size_t>(panels(count, Each) * Each * inner));
  Scalar* out = packed.data();
  for (Index first = 0; first < count; first += Each) {
    const Scalar* in = from.data + first * from.row_step;
    const Index rows = std::min(Each, count - first);
    if (rows == Each && from.row_step == 1) {
      for (Index x = 0; x < inner; ++x) {
        std::memcpy(out + x * Each, in + x * from.column_step, Each * sizeof(Scalar));
      }
    } else if (rows == Each) {
      // A cache line of each row at a time: rows that lie a power of two apart fall into one set.
      constexpr Index kLine = 64 / sizeof(Scalar);
      for (Index begin = 0; begin < inner; begin += kLine) {
        const Index end = std::min(begin + kLine, inner);
        for (Index i = 0; i < Each; ++i) {
          for (Index x = begin; x < end; ++x) {
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

template <class Scalar, std::size_t Bytes>
struct Kernel {
  using Registers = Tile<Scalar, Bytes>;
  using Vector = typename Registers::Vector;
  Vector low[Registers::kColumns], high[Registers::kColumns];

  EIGENSCOPE_INLINE void accumulate(Index inner, const Scalar* a, const Scalar* b) {
    // Named accumulators: as arrays they would be kept in memory by some compilers.
    Vector l0{}, l1{}, l2{}, l3{}, h0{}, h1{}, h2{}, h3{};
    for (Index x = 0; x < inner; ++x) {
      Vector first, second;
      std::memcpy(&first, a, sizeof first);
      std::memcpy(&second, a + Registers::kLanes, sizeof second);
      l0 += first * b[0], h0 += second * b[0];
      l1 += first * b[1], h1 += second * b[1];
      l2 += first * b[2], h2 += second * b[2];
      l3 += first * b[3], h3 += second * b[3];
      a += Registers::kRows;
      b += Registers::kColumns;
    }
    low[0] = l0, low[1] = l1, low[2] = l2, low[3] = l3;
    high[0] = h0, high[1] = h1, high[2] = h2, high[3] = h3;
  }

  // Writes the tile's first `rows` x `columns` entries to C.
  EIGENSCOPE_INLINE void store(Index rows, Index columns, Scalar* c, Index leading,
                               bool add) const {
    for (Index j = 0; j < columns; ++j, c += leading) {
      Scalar sums[Registers::kRows];
      std::memcpy(sums, &low[j], sizeof low[j]);
      std::memcpy(sums + Registers::kLanes, &high[j], sizeof high[j]);
      if (add) {
        for (Index i = 0; i < rows; ++i) c[i] += sums[i];
      } else {
        std::copy_n(sums, rows, c);
      }
    }
  }
};

template <std::size_t Bytes, class Scalar>
EIGENSCOPE_INLINE void multiply_with(Index rows, Index columns, Index inner, Factor<Scalar> a,
                                     Factor<Scalar> b, Scalar* c, Index leading, bool add) {
  constexpr Index kRows = Tile<Scalar, Bytes>::kRows, kColumns = Tile<Scalar, Bytes>::kColumns;
  // Kept from call to call, for a step makes hundreds of them.
  thread_local std::vector<Scalar> packed_a, packed_b;
  for (Index start = 0; start < inner; start += kInnerBlock) {
    const Index depth = std::min(kInnerBlock, inner - start);
    pack<kRows>(rows, depth, {a.data + start * a.column_step, a.row_step, a.column_step}, packed_a);
    pack<kColumns>(
        columns, depth,
        Factor<Scalar>{b.data + start * b.row_step, b.row_step, b.column_step}.transposed(),
        packed_b);
    for (Index column = 0; column < columns; column += kColumns) {
      for (Index row = 0; row < rows; row += kRows) {
        Kernel<Scalar, Bytes> tile;
        tile.accumulate(depth, packed_a.data() + row * depth, packed_b.data() + column * depth);
        tile.store(std::min(kRows, rows - row), std::min(kColumns, columns - column),
                   c + row + column * leading, leading, add || start > 0);
      }
    }
  }
}

// Whether to go beyond 128 bits, which a comparison with WebAssembly has to do without.
#if defined(__x86_64__) && !defined(EIGENSCOPE_128_BITS)
#define EIGENSCOPE_WIDE
#endif

#ifdef EIGENSCOPE_WIDE
__attribute__((target("avx2"))) void multiply_256(Index rows, Index columns, Index inner,
                                                  Factor<double> a, Factor<double> b, double* c,
                                                  Index leading, bool add) {
  multiply_with<32>(rows, columns, inner, a, b, c, leading, add);
}

__attribute__((target("avx512f"))) void multiply_512(Index rows, Index columns, Index inner,
                                                     Factor<double> a, Factor<double> b, double* c,
                                                     Index leading, bool add) {
  multiply_with<64>(rows, columns, inner, a, b, c, leading, add);
}
#endif

// Calls fill(first column, columns, rows) for blocks of columns that go down to the diagonal, or for all
// columns at once.
template <class Fill>
void for_blocks(Index rows, Index columns, Entries entries, Fill fill) {
  constexpr Index kBlock = 32;
  if (entries == Entries::all) return fill(0, columns, rows);
  for (Index start = 0; start < columns; start += kBlock) {
    const Index count = std::min(kBlock, columns - start);
    fill(start, count, std::min(start + count, rows));
  }
}

}  // namespace

template <>
void multiply(Index rows, Index columns, Index inner, Factor<float> a, Factor<float> b, float* c,
              Index leading, bool add) {
  multiply_with<16>(rows, columns, inner, a, b, c, leading, add);
}

template <>
void multiply(Index rows, Index columns, Index inner, Factor<double> a, Factor<double> b, double* c,
              Index leading, bool add) {
#ifdef EIGENSCOPE_WIDE
  if (__builtin_cpu_supports("avx512f")) {
    return multiply_512(rows, columns, inner, a, b, c, leading, add);
  }
  if (__builtin_cpu_supports("avx2")) {
    return multiply_256(rows, columns, inner, a, b, c, leading, add);
  }
#endif
  multiply_with<16>(rows, columns, inner, a, b, c, leading, add);
}

Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::MatrixXd& b,
                      Entries of_b) {
  Eigen::MatrixXd product(a.rows(), b.cols());
  for_blocks(b.rows(), b.cols(), of_b, [&](Index start, Index columns, Index inner) {
    multiply(a.rows(), columns, inner, factor(a.data(), a.outerStride()),
             factor(b.col(start).data(), b.rows()), product.col(start).data(), product.rows());
  });
  return product;
}

Eigen::MatrixXd transposed_times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                 Entries wanted) {
  Eigen::MatrixXd product(a.cols(), b.cols());
  for_blocks(a.cols(), b.cols(), wanted, [&](Index start, Index columns, Index rows) {
    multiply(rows, columns, a.rows(), factor(a.data(), a.rows()).transposed(),
             factor(b.col(start).data(), b.rows()), product.col(start).data(), product.rows());
  });
  if (wanted == Entries::upper) product.triangularView<Eigen::StrictlyLower>().setZero();
  return product;
}

}  // namespace eigenscope
