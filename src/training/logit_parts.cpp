#include "training/logit_parts.h"

#include <cmath>
#include <vector>

#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;

template <class Scalar>
using Fused = Matrix<Scalar>;

// fused() of attention's input taken apart; as keys `position` has the biases, as queries it has not.
template <class Scalar>
struct Parts {
  Fused<Scalar> content, position, bias, sink;
};

template <class Scalar>
Parts<Scalar> parts_of(const Model<Scalar>& model, Index layer) {
  const AttentionShape& shape = model.shape();
  const Matrix<Scalar>& x = model.attention_input(layer);
  const Index d = x.rows(), length = shape.length;
  Matrix<Scalar> mean = Matrix<Scalar>::Zero(d, length);
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    mean += x.middleCols(sequence * length, length) / static_cast<Scalar>(shape.batch);
  }
  if (length > 1) {
    // Only as a key: the row of the first query, which has one key, is left out.
    Matrix<Scalar> others = Matrix<Scalar>::Zero(d, 1);
    for (Index t = 1; t < length; ++t) others += mean.col(t) / static_cast<Scalar>(length - 1);
    mean.col(0) = others;
  }
  Matrix<Scalar> content = x, position(d, x.cols()), sink = Matrix<Scalar>::Zero(d, x.cols());
  for (Index sequence = 0; sequence < shape.batch; ++sequence) {
    const Index first = sequence * length;
    position.middleCols(first, length) = mean;
    content.middleCols(first, length) -= mean;
    sink.col(first) = content.col(first);
    content.col(first).setZero();
  }
  return {model.fused_part(layer, &content, false), model.fused_part(layer, &position, false),
          model.fused_part(layer, nullptr, true), model.fused_part(layer, &sink, false)};
}

// Product of a head's rows of two fused matrices for one sequence: T x T, column = query.
template <class Scalar>
class Sequence {
 public:
  Sequence(const AttentionShape& shape, Index sequence, Index head)
      : shape_(shape),
        column_(sequence * shape.length),
        query_(head * shape.head_width),
        key_(shape.key_row(head)) {}

  Matrix<Scalar> logits(const Fused<Scalar>& fused) const {
    Matrix<Scalar> out(shape_.length, shape_.length);
    multiply(shape_.length, shape_.length, shape_.head_width,
             factor(at(fused, key_), fused.rows()).transposed(),
             factor(at(fused, query_), fused.rows()), out.data(), shape_.length);
    return out;
  }
  // Sum over the keys of their vector times a weight, for each query: d_h x T.
  Matrix<Scalar> gathered(const Fused<Scalar>& fused, const Matrix<Scalar>& weights) const {
    Matrix<Scalar> out(shape_.head_width, shape_.length);
    multiply(shape_.head_width, shape_.length, shape_.length, factor(at(fused, key_), fused.rows()),
             factor(weights.data(), shape_.length), out.data(), shape_.head_width);
    return out;
  }
  double dot(const Fused<Scalar>& fused, const Matrix<Scalar>& gathered, Index query) const {
    const Scalar* const q = at(fused, query_) + query * fused.rows();
    double sum = 0;
    for (Index i = 0; i < shape_.head_width; ++i) {
      sum += static_cast<double>(q[i]) * static_cast<double>(gathered(i, query));
    }
    return sum;
  }

 private:
  const Scalar* at(const Fused<Scalar>& fused, Index row) const {
    return fused.data() + row + column_ * fused.rows();
  }
  const AttentionShape& shape_;
  Index column_, query_, key_;
};

// Takes from each column its mean over the keys that the query sees, and sets the rest to 0.
template <class Scalar>
void centre(const AttentionShape& shape, Matrix<Scalar>& logits) {
  for (Index t = 0; t < logits.cols(); ++t) {
    const Index keys = shape.keys(t);
    Scalar mean = 0;
    for (Index k = 0; k < keys; ++k) mean += logits(k, t) / static_cast<Scalar>(keys);
    for (Index k = 0; k < keys; ++k) logits(k, t) -= mean;
    for (Index k = keys; k < logits.rows(); ++k) logits(k, t) = 0;
  }
}

template <class Scalar>
void add_sequence(const Model<Scalar>& model, Index layer, const Parts<Scalar>& parts,
                  const Sequence<Scalar>& place, LogitStatistics& sums) {
  const AttentionShape& shape = model.shape();
  const auto width = static_cast<double>(shape.head_width);
  Matrix<Scalar> logits = place.logits(model.fused(layer));
  centre(shape, logits);
  const Matrix<Scalar> content = place.gathered(parts.content, logits);
  Matrix<Scalar> position = place.gathered(parts.position, logits);
  position += place.gathered(parts.bias, logits);
  const Matrix<Scalar> sink = place.gathered(parts.sink, logits);
  for (Index t = 1; t < shape.length; ++t) {
    const Index keys = shape.keys(t);
    const double share = 1 / (width * static_cast<double>(keys));
    double variance = 0;
    for (Index k = 0; k < keys; ++k) {
      variance += static_cast<double>(logits(k, t)) * static_cast<double>(logits(k, t));
    }
    sums.variance += share * variance;
    sums.parts[0] += share * place.dot(parts.content, content, t);
    sums.parts[1] +=
        share * (place.dot(parts.content, position, t) + place.dot(parts.position, content, t));
    sums.parts[2] += share * place.dot(parts.position, position, t);
    sums.parts[3] +=
        share * (place.dot(parts.bias, content, t) + place.dot(parts.bias, position, t));
    sums.parts[4] += share * (place.dot(parts.content, sink, t) +
                              place.dot(parts.position, sink, t) + place.dot(parts.bias, sink, t));
    // The logits are centred over the keys: the others add up to minus the diagonal one.
    sums.self_excess += static_cast<double>(logits(t, t)) / std::sqrt(width) *
                        (1 + 1 / static_cast<double>(keys - 1));
  }
}

}  // namespace

template <class Scalar>
std::vector<LogitStatistics> logit_statistics(const Model<Scalar>& model, Index layer) {
  const AttentionShape& shape = model.shape();
  const Parts<Scalar> parts = parts_of(model, layer);
  const auto rows = static_cast<double>(shape.batch * (shape.length - 1));
  std::vector<LogitStatistics> all;
  for (Index head = 0; head < shape.heads; ++head) {
    LogitStatistics sums;
    for (Index sequence = 0; sequence < shape.batch; ++sequence) {
      add_sequence(model, layer, parts, Sequence<Scalar>(shape, sequence, head), sums);
    }
    sums.variance /= rows;
    sums.self_excess /= rows;
    for (double& part : sums.parts) part /= rows;
    all.push_back(sums);
  }
  return all;
}

template std::vector<LogitStatistics> logit_statistics(const Model<float>&, Index);
template std::vector<LogitStatistics> logit_statistics(const Model<double>&, Index);

}  // namespace eigenscope
