#include "support/gemm.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "support/lanes.h"
#include "support/vector_width.h"

namespace eigenscope {
namespace {

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
constexpr Index kInnerBlock = 512;  // a panel of A or B stays in the first-level cache

Index panels(Index count, Index each) { return (count + each - 1) / each; }

// Cuts `count` rows of a factor into panels of `Each` and stores these column by column; rows that the
// last panel lacks are zero.
template <Index Each, class Scalar>
void pack(Index count, Index inner, Factor<Scalar> from, std::vector<Scalar>& packed) {
  // It only grows: a vector that shrinks and grows again sets to zero what is overwritten here.
  const auto size = static_cast<std::size_t>(panels(count, Each) * Each * inner);
  if (packed.size() < size) packed.resize(size);
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
    Vector own[Registers::kColumns][Registers::kVectors] = {};
    for (Index x = 0; x < inner; ++x) {
      Vector column[Registers::kVectors];
      // One by one: gcc copies an array in halves through memory, which a load of 256 bits waits for.
      for (Index v = 0; v < Registers::kVectors; ++v) {
        std::memcpy(&column[v], a + v * Registers::kLanes, sizeof column[v]);
      }
      for (Index j = 0; j < Registers::kColumns; ++j) {
        for (Index v = 0; v < Registers::kVectors; ++v) own[j][v] += column[v] * b[j];
      }
      a += Registers::kRows;
      b += Registers::kColumns;
    }
    std::memcpy(sums, own, sizeof own);
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

// C from the panels of one block, `a` and `b`.
template <std::size_t Bytes, class Scalar, class Sum>
EIGENSCOPE_INLINE void multiply_block(const Product<Scalar, Sum>& p, Index depth, const Scalar* a,
                                      const Scalar* b, bool add) {
  constexpr Index kRows = Tile<Scalar, Bytes>::kRows, kColumns = Tile<Scalar, Bytes>::kColumns;
  for (Index column = 0; column < p.columns; column += kColumns) {
    const Index end = p.wanted == Entries::all ? p.rows : std::min(p.rows, column + kColumns);
    for (Index row = 0; row < end; row += kRows) {
      Kernel<Scalar, Bytes> tile;
      tile.accumulate(depth, a + row * depth, b + column * depth);
      tile.store(std::min(kRows, p.rows - row), std::min(kColumns, p.columns - column),
                 p.c + row + column * p.leading, p.leading, add);
    }
  }
}

// The panels of the two factors that were last asked for, of one block of the inner index.
template <class Scalar>
class Panels {
 public:
  void start_block(Index first, Index depth) {
    first_ = first;
    depth_ = depth;
    for (Held& held : held_) held.count = 0;
  }

  // Rows of `factor` in panels of `Each`.
  template <Index Each>
  const Scalar* of(Factor<Scalar> factor, Index count) {
    for (std::size_t k = 0; k < held_.size(); ++k) {
      const Held& held = held_[k];
      if (held.each == Each && held.count == count && held.factor == factor) return latest(k);
    }
    Held& held = held_[older_];
    held.each = Each;
    held.count = count;
    held.factor = factor;
    factor.data += first_ * factor.column_step;
    pack<Each>(count, depth_, factor, held.values);
    return latest(older_);
  }

 private:
  struct Held {
    Index each = 0, count = 0;
    Factor<Scalar> factor = {};
    std::vector<Scalar> values = {};
  };

  const Scalar* latest(std::size_t k) {
    older_ = 1 - k;
    return held_[k].values.data();
  }

  std::array<Held, 2> held_;
  std::size_t older_ = 0;
  Index first_ = 0, depth_ = 0;
};

template <std::size_t Bytes, class Scalar, class Sum>
EIGENSCOPE_INLINE void multiply_with(Index inner, std::span<const Product<Scalar, Sum>> products) {
  constexpr Index kRows = Tile<Scalar, Bytes>::kRows, kColumns = Tile<Scalar, Bytes>::kColumns;
  // Its memory is kept from call to call, for a step makes hundreds of them.
  thread_local Panels<Scalar> panels;
  for (Index start = 0; start < inner; start += kInnerBlock) {
    const Index depth = std::min(kInnerBlock, inner - start);
    panels.start_block(start, depth);
    for (const Product<Scalar, Sum>& p : products) {
      const Scalar* const a = panels.template of<kRows>(p.a, p.rows);
      const Scalar* const b = panels.template of<kColumns>(p.b.transposed(), p.columns);
      multiply_block<Bytes>(p, depth, a, b, p.add || start > 0);
    }
  }
}

// A b into `product`, zero before; A is rows x inner, column-major with columns `leading` apart.
void add_times_vector(Index rows, Index inner, const double* a, Index leading, const double* b,
                      double* product) {
  for (Index x = 0; x < inner; ++x) {
    const double* const column = a + x * leading;
    const double factor = b[x];
    for (Index i = 0; i < rows; ++i) product[i] += column[i] * factor;
  }
}

// A^T b into `product`; A is inner x columns, column-major without gaps.
void transposed_times_vector(Index columns, Index inner, const double* a, const double* b,
                             double* product) {
  for (Index k = 0; k < columns; ++k) product[k] = inner_product(a + k * inner, b, inner);
}

}  // namespace

double inner_product(const double* a, const double* b, Index count) {
  return lane_sum<double>(count, [&](Index i) { return a[i] * b[i]; });
}

template <class Scalar, class Sum>
void multiply(Index inner, std::span<const Product<Scalar, Sum>> products) {
  if (inner == 0) {  // sums without terms, which no block below would write
    for (const Product<Scalar, Sum>& p : products) {
      if (p.add) continue;
      for (Index column = 0; column < p.columns; ++column) {
        std::fill_n(p.c + column * p.leading, p.rows, Sum(0));
      }
    }
    return;
  }
#ifdef __x86_64__
  const int bits = vector_bits();
  if (bits == 512) {
    return in_512_bits([&]() EIGENSCOPE_INLINE_LAMBDA { multiply_with<64>(inner, products); });
  }
  if (bits == 256) {
    return in_256_bits([&]() EIGENSCOPE_INLINE_LAMBDA { multiply_with<32>(inner, products); });
  }
#endif
  multiply_with<16>(inner, products);
}

template void multiply(Index, std::span<const Product<float>>);
template void multiply(Index, std::span<const Product<double>>);
template void multiply(Index, std::span<const Product<float, double>>);

Eigen::MatrixXd times(const Eigen::Ref<const Eigen::MatrixXd>& a, const Eigen::MatrixXd& b,
                      Entries of_b) {
  Eigen::MatrixXd product(a.rows(), b.cols());
  if (b.cols() == 1) {  // packing would take longer than the product
    product.setZero();
    add_times_vector(a.rows(), a.cols(), a.data(), a.outerStride(), b.data(), product.data());
    return product;
  }
  const auto left = factor(a.data(), a.outerStride()), right = factor(b.data(), b.rows());
  if (of_b == Entries::upper) {
    multiply_upper(a.rows(), b.cols(), b.rows(), left, right, product.data(), product.rows());
  } else {
    multiply(a.rows(), b.cols(), b.rows(), left, right, product.data(), product.rows());
  }
  return product;
}

Eigen::MatrixXd transposed_times(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b,
                                 Entries wanted) {
  Eigen::MatrixXd product(a.cols(), b.cols());
  if (b.cols() == 1) {
    transposed_times_vector(a.cols(), a.rows(), a.data(), b.data(), product.data());
    return product;
  }
  const Product<double> all{a.cols(),
                            b.cols(),
                            factor(a.data(), a.rows()).transposed(),
                            factor(b.data(), b.rows()),
                            product.data(),
                            product.rows(),
                            /*add=*/false,
                            wanted};
  multiply<double, double>(a.rows(), {&all, 1});
  if (wanted == Entries::upper) product.triangularView<Eigen::StrictlyLower>().setZero();
  return product;
}

}  // namespace eigenscope
