// Attention: of one head on one sequence, and of all heads of a batch with its gradient. Stacks of
// random blocks, trained models and checkpoints that read text all run attend_head. Kinds of softmax,
// masks and the measures of a row of weights are in the folder attention.
#pragma once

#include <span>

#include "attention/key_range.h"
#include "nn/tensor.h"
#include "support/gemm.h"

namespace eigenscope {

/// Queries, keys (both width x T) and values (value_width x T) of one head on one sequence of T tokens,
/// each a block of a larger matrix.
template <class Scalar>
struct HeadInput {
  Factor<Scalar> query, key, value;
  Eigen::Index width, value_width, length;
};

/// C = A P, width x T, for T x T weights P that are 0 for the keys that a query does not see.
template <class Scalar>
void multiply_seen(Entries visible, Eigen::Index width, Eigen::Index length, Factor<Scalar> a,
                   Factor<Scalar> p, Scalar* c, Eigen::Index leading) {
  if (visible == Entries::upper) {
    multiply_upper(width, length, length, a, p, c, leading);
  } else {
    multiply(width, length, length, a, p, c, leading);
  }
}

/// K^T Q, T x T (row = key, column = query). With `visible` upper a query sees no key after itself: the logits
/// of those keys are not defined.
template <class Scalar>
void head_logits(const HeadInput<Scalar>& head, Entries visible, Scalar* logits) {
  const Product<Scalar> product{head.length, head.length, head.key.transposed(), head.query,
                                logits,      head.length, /*add=*/false,         visible};
  multiply<Scalar, Scalar>(head.width, {&product, 1});
}

/// O = V P with weights P made of the logits, both T x T. `softmax` is called once with a map of the logits,
/// which it turns into the weights in place; it must leave weights of 0 for the keys that a query does not
/// see. O is value_width x T, its columns `leading` apart.
template <class Scalar, class Softmax>
void attend_head(const HeadInput<Scalar>& head, Entries visible, const Softmax& softmax,
                 Scalar* weights, Scalar* out, Eigen::Index leading) {
  const Eigen::Index length = head.length;
  head_logits(head, visible, weights);
  softmax(Eigen::Map<Matrix<Scalar>>(weights, length, length));
  multiply_seen(visible, head.value_width, length, head.value, factor<Scalar>(weights, length), out,
                leading);
}

/// The exact softmax of each column of T x T logits times `scale`, in place, over the keys that the
/// query sees; other weights become 0.
template <class Scalar>
void softmax_columns(Scalar scale, Entries visible, Eigen::Map<Matrix<Scalar>> logits);
/// softmax_columns of one column of `length` logits whose query sees the keys `seen`.
template <class Scalar>
void softmax_column(Scalar scale, KeyRange seen, Eigen::Index length, Scalar* logits);

/// Places of queries, keys and values in one fused matrix, (H + 2 G) d_h x B T: H heads of queries, then
/// G of keys, then G of values.
struct AttentionShape {
  Eigen::Index heads = 1, groups = 1, head_width = 1, length = 1, batch = 1;
  Entries visible = Entries::upper;  ///< which keys (rows) a query (column) sees: causal, or all

  Eigen::Index fused() const { return (heads + 2 * groups) * head_width; }
  Eigen::Index key_row(Eigen::Index head) const {
    return (heads + head * groups / heads) * head_width;
  }
  Eigen::Index value_row(Eigen::Index head) const { return key_row(head) + groups * head_width; }
  /// First of the T columns of the attention of a sequence and head.
  Eigen::Index weights_column(Eigen::Index sequence, Eigen::Index head) const {
    return (sequence * heads + head) * length;
  }
  /// Number of keys that a query sees, which are the first ones.
  Eigen::Index keys(Eigen::Index query) const {
    return visible == Entries::upper ? query + 1 : length;
  }
};

/// The keys that a query of a head reads.
enum class Retrieval {
  soft,    ///< all, by the softmax of their logits
  hard,    ///< the key of the largest logit; equal ones share the weight (arXiv:2009.14658)
  random,  ///< control: one of the visible keys, drawn at random
};

/// The map from a head's logits to its attention weights.
template <class Scalar>
struct HeadReading {
  Retrieval retrieval = Retrieval::soft;
  Scalar factor = 1;  ///< factor of the logits; with 0 soft weights are uniform
  int bits =
      0;  ///< significant bits of the logits of soft weights, up to kMostLogitBits; 0 for all
};
/// Largest HeadReading::bits: one less than a single-precision number has.
inline constexpr int kMostLogitBits = 23;

/// Position of a token and the keys that its query sees, when contexts are encoded in parallel.
struct TokenPlace {
  Eigen::Index position = 0;  ///< position for the rotary angles
  /// The query sees the keys of its sequence below `shared` and those from `first` to itself.
  Eigen::Index shared = 0, first = 0;
  double factor = 1;  ///< positive factor of the logits
};

/// Terms of the logits that depend on the offset between query and key alone, for sequences of up to L tokens.
template <class Scalar>
struct OffsetTerms {
  Eigen::Index longest = 0;  ///< L; 0 for no terms
  /// Added to the logits after division by sqrt(d_h), H columns: for the key k of the query q in row
  /// L - 1 + k - q of L rows with causal attention, of 2 L - 1 otherwise. Null for none.
  const Scalar* bias = nullptr;
  /// Whether queries see the keys at distance |q - k|: L entries for all sequences, or L x B.
  /// Empty where all are seen. A query that sees no key has weights of 0.
  std::span<const char> kept = {};

  Eigen::Index rows(Entries visible) const {
    return visible == Entries::upper ? longest : 2 * longest - 1;
  }
};

/// Gradients by OffsetTerms, to which attention_backward adds.
template <class Scalar>
struct OffsetSlopes {
  Scalar* bias = nullptr;  ///< laid out as OffsetTerms::bias; null for none
  /// For each distance the loss with the keys at this distance minus the loss without them, linearized in the outputs
  /// of the heads, one key of a row at a time, and summed over rows. Null for none.
  Scalar* kept = nullptr;
};

/// A prior on attention weights as a term of the loss: all of it is on the key `distance` tokens before the query,
/// so the divergence of a row's weights P from it, KL(prior || P), is -log P of this key.
struct KeyPrior {
  Eigen::Index distance = 0;
  double weight = 0;  ///< factor of each row's divergence in the loss; 0 for no term
};

/// O = V P for every sequence and head, P the softmax of K^T Q / sqrt(d_h) over the visible keys, or what
/// the H `readings` make of these logits. Fused (H + 2 G) d_h x B T, O H d_h x B T, P T x B H T (column =
/// query; zero for other keys). `places`, if not empty, are those of the B T tokens; attention must be
/// causal, all readings soft with a positive factor, and `offsets` none. With `offsets` all readings must be
/// soft; their factor is that of the logits with the bias.
template <class Scalar>
void attention_forward(const AttentionShape& shape, const Matrix<Scalar>& fused,
                       std::span<const HeadReading<Scalar>> readings, Matrix<Scalar>& weights,
                       Matrix<Scalar>& out, std::span<const TokenPlace> places = {},
                       const OffsetTerms<Scalar>& offsets = {});
/// attention_forward with fixed weights: each token has weight 1 on itself with `self`; otherwise all weights and O are
/// 0.
template <class Scalar>
void fixed_attention_forward(const AttentionShape& shape, const Matrix<Scalar>& fused, bool self,
                             Matrix<Scalar>& weights, Matrix<Scalar>& out);
/// Computes dFused, of the shape of `fused`, for readings with factor 1: the exact softmax, hard weights, or fixed
/// weights (whose queries and keys have a gradient of 0). With `hard` the gradient goes from the weights to the logits
/// as through the softmax of the logits, which is computed again (straight-through). `offsets` are those of the forward
/// pass. The loss has the term of `prior` beside what gave dO, for the queries that see its key; not with `hard`.
template <class Scalar>
void attention_backward(const AttentionShape& shape, const Matrix<Scalar>& fused,
                        const Matrix<Scalar>& weights, bool hard, const Matrix<Scalar>& dout,
                        Matrix<Scalar>& dfused, const OffsetTerms<Scalar>& offsets = {},
                        const OffsetSlopes<Scalar>& slopes = {}, const KeyPrior& prior = {});

}  // namespace eigenscope
