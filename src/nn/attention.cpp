#include "nn/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "attention/softmax.h"
#include "nn/attention_offsets.h"
#include "support/lanes.h"
#include "support/random.h"
#include "support/vector_math.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// A head's rows of a sequence's columns.
template <class Scalar>
const Scalar* part(const Matrix<Scalar>& matrix, Index row, Index column) {
  return matrix.data() + row + column * matrix.rows();
}
template <class Scalar>
Scalar* part(Matrix<Scalar>& matrix, Index row, Index column) {
  return matrix.data() + row + column * matrix.rows();
}

// The first `keys` of a column of logits, already scaled, become weights that add up to 1.
template <class Scalar>
void softmax_in_place(Scalar* column, Index keys, Scalar scale) {
  // A negative factor turns the order around.
  const Scalar largest =
      scale < 0 ? *std::min_element(column, column + keys) : lane_largest(column, keys);
  in_widest_vectors([=]() EIGENSCOPE_INLINE_LAMBDA {
    for (Index i = 0; i < keys; ++i) column[i] = exp_nonpositive((column[i] - largest) * scale);
    const Scalar total = lane_sum<Scalar>(keys, [&](Index i) { return column[i]; });
    const Scalar inverse = 1 / total;
    for (Index i = 0; i < keys; ++i) column[i] *= inverse;
  });
}

template <class Scalar>
Scalar root_of(Index width) {
  return std::sqrt(static_cast<Scalar>(width));
}

// The logits that queries see, rounded to so many significant bits: by Veltkamp's splitting.
template <class Scalar>
void round_logits(int bits, const AttentionShape& shape, Eigen::Map<Matrix<Scalar>> logits) {
  const Scalar split = std::ldexp(Scalar(1), std::numeric_limits<Scalar>::digits - bits) + 1;
  for (Index query = 0; query < logits.cols(); ++query) {
    Scalar* const column = logits.data() + query * logits.rows();
    for (Index key = 0; key < shape.keys(query); ++key) {
      const Scalar large = split * column[key];
      column[key] = large - (large - column[key]);
    }
  }
}

// Queries, keys and values of a head of a sequence in the fused matrix.
template <class Scalar>
HeadInput<Scalar> head_input(const AttentionShape& shape, const Matrix<Scalar>& fused, Index head,
                             Index column) {
  const auto rows = [&](Index first) { return factor(part(fused, first, column), fused.rows()); };
  return {rows(head * shape.head_width),
          rows(shape.key_row(head)),
          rows(shape.value_row(head)),
          shape.head_width,
          shape.head_width,
          shape.length};
}

// softmax_columns for causal queries that see only the keys of their places.
template <class Scalar>
void softmax_places(Scalar scale, std::span<const TokenPlace> places,
                    Eigen::Map<Matrix<Scalar>> logits) {
  const Index length = logits.rows();
  for (Index query = 0; query < length; ++query) {
    const TokenPlace& place = places[static_cast<std::size_t>(query)];
    Scalar* const column = logits.data() + query * length;
    if (place.shared < place.first) {
      std::fill(column + place.shared, column + place.first, kHiddenLogit<Scalar>);
    }
    softmax_in_place(column, query + 1, scale * static_cast<Scalar>(place.factor));
    std::fill(column + query + 1, column + length, Scalar(0));
  }
}

// One row of weights on a single key (or on equal ones): O = V p without the products by 0.
template <class Scalar>
void read_chosen(const HeadInput<Scalar>& head, Index keys, const Scalar* weights, Scalar* out) {
  std::fill_n(out, head.value_width, Scalar(0));
  for (Index key = 0; key < keys; ++key) {
    if (weights[key] == 0) continue;
    const Scalar* const value = head.value.data + key * head.value.column_step;
    for (Index i = 0; i < head.value_width; ++i) out[i] += weights[key] * value[i];
  }
}

// All weight on a key that depends on the row's number alone.
template <class Scalar>
void random_key_in_place(Scalar* column, Index keys, Index row) {
  constexpr std::uint64_t kSeed = 1, kStream = std::uint64_t{1} << 43;
  const std::uint64_t draw = random_bits(kSeed, kStream, static_cast<std::uint64_t>(row));
  std::fill_n(column, keys, Scalar(0));
  column[draw % static_cast<std::uint64_t>(keys)] = 1;
}

// attend_head for the readings that choose a key. `first` is the number of the first row.
template <class Scalar>
void choose_keys(const HeadInput<Scalar>& head, const HeadReading<Scalar>& reading, Scalar scale,
                 Entries visible, Index first, Scalar* weights, Scalar* out, Index leading) {
  const Index length = head.length;
  head_logits(head, visible, weights);
  for (Index query = 0; query < length; ++query) {
    Scalar* const column = weights + query * length;
    const Index keys = visible == Entries::upper ? query + 1 : length;
    if (reading.retrieval == Retrieval::hard) {
      hard_softmax_in_place(column, keys, scale * reading.factor);
    } else {
      random_key_in_place(column, keys, first + query);
    }
    std::fill(column + keys, column + length, Scalar(0));
    read_chosen(head, keys, column, out + query * leading);
  }
}

// The gradient of a prior's term by T x T weights, added to theirs.
template <class Scalar>
void add_prior_slopes(const KeyPrior& prior, Index length, const Scalar* weights,
                      Scalar* by_weight) {
  constexpr Scalar kLeast = 1e-30f;  // below it the query does not see the key, or 1/p overflows
  for (Index query = prior.distance; query < length; ++query) {
    const Index at = query * length + query - prior.distance;
    if (weights[at] > kLeast) by_weight[at] -= static_cast<Scalar>(prior.weight) / weights[at];
  }
}

}  // namespace

template <class Scalar>
void softmax_column(Scalar scale, KeyRange seen, Index length, Scalar* logits) {
  std::fill(logits, logits + seen.first, Scalar(0));
  softmax_in_place(logits + seen.first, seen.count, scale);
  std::fill(logits + seen.end(), logits + length, Scalar(0));
}

template <class Scalar>
void softmax_columns(Scalar scale, Entries visible, Eigen::Map<Matrix<Scalar>> logits) {
  const Index length = logits.rows();
  for (Index query = 0; query < logits.cols(); ++query) {
    const Index keys = visible == Entries::upper ? query + 1 : length;
    softmax_column(scale, {0, keys}, length, logits.data() + query * length);
  }
}

template <class Scalar>
void attention_forward(const AttentionShape& shape, const Matrix<Scalar>& fused,
                       std::span<const HeadReading<Scalar>> readings, Matrix<Scalar>& weights,
                       Matrix<Scalar>& out, std::span<const TokenPlace> places,
                       const OffsetTerms<Scalar>& offsets) {
  const Scalar scale = 1 / root_of<Scalar>(shape.head_width);
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    const Index column = sequence * shape.length;
    for (Index head = 0; head < shape.heads; ++head) {
      const HeadReading<Scalar>& reading = readings[static_cast<std::size_t>(head)];
      const HeadInput<Scalar> in = head_input(shape, fused, head, column);
      const Index first = shape.weights_column(sequence, head);
      Scalar* const head_out = part(out, head * shape.head_width, column);
      const auto softmax = [&](Eigen::Map<Matrix<Scalar>> logits) {
        if (reading.bits > 0) round_logits(reading.bits, shape, logits);
        if (offsets.longest > 0) {
          const OffsetLogits<Scalar> terms(shape, offsets, sequence, head);
          terms.add(scale, reading.factor, logits);
          softmax_columns(Scalar(1), shape.visible, logits);
          terms.clear_unseeing(logits);
        } else if (places.empty()) {
          softmax_columns(scale * reading.factor, shape.visible, logits);
        } else {
          const auto of_sequence = places.subspan(static_cast<std::size_t>(column),
                                                  static_cast<std::size_t>(shape.length));
          softmax_places(scale * reading.factor, of_sequence, logits);
        }
      };
      if (reading.retrieval == Retrieval::soft) {
        attend_head(in, shape.visible, softmax, part(weights, 0, first), head_out, out.rows());
      } else {
        choose_keys(in, reading, scale, shape.visible, first, part(weights, 0, first), head_out,
                    out.rows());
      }
    }
  }
}

template <class Scalar>
void fixed_attention_forward(const AttentionShape& shape, const Matrix<Scalar>& fused, bool self,
                             Matrix<Scalar>& weights, Matrix<Scalar>& out) {
  weights.setZero();
  out.setZero();
  if (!self) return;
  for (Index column = 0; column < weights.cols(); ++column) {
    weights(column % shape.length, column) = 1;
  }
  for (Index column = 0; column < out.cols(); ++column) {
    for (Index head = 0; head < shape.heads; ++head) {
      std::copy_n(part(fused, shape.value_row(head), column), shape.head_width,
                  part(out, head * shape.head_width, column));
    }
  }
}

template <class Scalar>
void attention_backward(const AttentionShape& shape, const Matrix<Scalar>& fused,
                        const Matrix<Scalar>& weights, bool hard, const Matrix<Scalar>& dout,
                        Matrix<Scalar>& dfused, const OffsetTerms<Scalar>& offsets,
                        const OffsetSlopes<Scalar>& slopes, const KeyPrior& prior) {
  const Index length = shape.length, width = shape.head_width, leading = fused.rows();
  const Scalar scale = 1 / root_of<Scalar>(width);
  std::vector<Scalar> buffer(static_cast<std::size_t>(length * length));
  Scalar* const ds = buffer.data();
  Matrix<Scalar> soft;
  if (hard) soft.resize(length, length);
  dfused.bottomRows(2 * shape.groups * width).setZero();  // groups add theirs up
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    const Index column = sequence * length;
    for (Index head = 0; head < shape.heads; ++head) {
      const HeadInput<Scalar> in = head_input(shape, fused, head, column);
      const auto upstream = factor(part(dout, head * width, column), dout.rows());
      const Scalar* const p = part(weights, 0, shape.weights_column(sequence, head));
      if (hard) {
        head_logits(in, shape.visible, soft.data());
        softmax_columns(scale, shape.visible,
                        Eigen::Map<Matrix<Scalar>>(soft.data(), length, length));
      }
      const Scalar* const s = hard ? soft.data() : p;
      const Product<Scalar> by_weight{length, length, in.value.transposed(), upstream,
                                      ds,     length, /*add=*/false,         shape.visible};
      multiply<Scalar, Scalar>(width, {&by_weight, 1});
      multiply(width, length, length, upstream, factor(p, length).transposed(),
               part(dfused, shape.value_row(head), column), leading, true);
      if (prior.weight > 0) add_prior_slopes(prior, length, p, ds);
      if (offsets.longest > 0) {
        const OffsetLogits<Scalar> terms(shape, offsets, sequence, head);
        terms.add_slopes(in, p, ds, slopes);
      }
      for (Index t = 0; t < length; ++t) {
        Scalar* const d = ds + t * length;
        const Scalar* const weight = s + t * length;
        const Index keys = shape.keys(t);
        const Scalar mean = lane_sum<Scalar>(keys, [&](Index i) { return weight[i] * d[i]; });
        for (Index i = 0; i < keys; ++i) d[i] = scale * weight[i] * (d[i] - mean);
        std::fill(d + keys, d + length, Scalar(0));
      }
      multiply_seen(shape.visible, width, length, in.key, factor<Scalar>(ds, length),
                    part(dfused, head * width, column), leading);
      multiply(width, length, length, in.query, factor<Scalar>(ds, length).transposed(),
               part(dfused, shape.key_row(head), column), leading, true);
    }
  }
}

#define EIGENSCOPE_ATTENTION(Scalar)                                                              \
  template void attention_forward(                                                                \
      const AttentionShape&, const Matrix<Scalar>&, std::span<const HeadReading<Scalar>>,         \
      Matrix<Scalar>&, Matrix<Scalar>&, std::span<const TokenPlace>, const OffsetTerms<Scalar>&); \
  template void fixed_attention_forward(const AttentionShape&, const Matrix<Scalar>&, bool,       \
                                        Matrix<Scalar>&, Matrix<Scalar>&);                        \
  template void attention_backward(const AttentionShape&, const Matrix<Scalar>&,                  \
                                   const Matrix<Scalar>&, bool, const Matrix<Scalar>&,            \
                                   Matrix<Scalar>&, const OffsetTerms<Scalar>&,                   \
                                   const OffsetSlopes<Scalar>&, const KeyPrior&);                 \
  template void softmax_columns(Scalar, Entries, Eigen::Map<Matrix<Scalar>>);
EIGENSCOPE_ATTENTION(float)
EIGENSCOPE_ATTENTION(double)
template void softmax_column(float, KeyRange, Index, float*);

}  // namespace eigenscope
