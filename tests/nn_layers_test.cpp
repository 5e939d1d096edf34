// Every layer against central differences, and the product of matrices against Eigen's.
#include <cmath>

#include "attention/softmax.h"
#include "catch.h"
#include "central_differences.h"
#include "nn/attention.h"
#include "nn/mlp.h"
#include "nn/norm.h"
#include "nn/rotary.h"
#include "nn/tokens.h"
#include "support/gemm.h"
#include "support/vector_math.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using eigenscope::testing::gradient_error;

namespace {

constexpr double kAllowed = 1e-6;

// The loss sum of C Y: C is the gradient that the layer is given.
double weighed(const MatrixXd& c, const MatrixXd& y) { return c.cwiseProduct(y).sum(); }

VectorXd softmax_by_exp(const VectorXd& logits) {
  const VectorXd weights = logits.array().exp();
  return weights / weights.sum();
}

}  // namespace

TEST_CASE("products equal Eigen's for every shape, transposed and added") {
  for (const Index rows : {1, 3, 8, 9, 17}) {
    for (const Index columns : {1, 4, 7}) {
      for (const Index inner : {0, 1, 5, 513}) {
        const MatrixXd a = random_matrix(rows, inner, 1), b = random_matrix(inner, columns, 2);
        const MatrixXd at = a.transpose(), bt = b.transpose();
        MatrixXd c = random_matrix(rows, columns, 3);
        const MatrixXd expected = c + a * b;
        multiply(rows, columns, inner, factor(at.data(), inner).transposed(),
                 factor(bt.data(), columns).transposed(), c.data(), rows, true);
        CHECK((c - expected).norm() < 1e-12 * (1 + expected.norm()));
        multiply(rows, columns, inner, factor(a.data(), rows), factor(b.data(), inner), c.data(),
                 rows);
        CHECK((c - a * b).norm() < 1e-12 * (1 + expected.norm()));
        const Eigen::MatrixXf as = a.cast<float>(), bs = b.cast<float>();
        Eigen::MatrixXf cs = Eigen::MatrixXf::Constant(rows, columns, 7);
        multiply(rows, columns, inner, factor(as.data(), rows), factor(bs.data(), inner), cs.data(),
                 rows);
        CHECK((cs.cast<double>() - a * b).norm() < 1e-5 * (1 + expected.norm()));
      }
    }
  }
}

TEST_CASE("the vectorisable tanh is tanh") {
  for (double x = -20; x < 20; x += 0.0173) {
    CHECK_THAT(vector_tanh(x), WithinAbs(std::tanh(x), 5e-16));
    CHECK_THAT(vector_tanh(static_cast<float>(x)), WithinAbs(std::tanh(x), 3e-7));
  }
}

TEST_CASE("the vectorisable normal distribution function is erfc's") {
  for (double x = -14; x < 14; x += 0.00731) {
    const double expected = 0.5 * std::erfc(-x * std::sqrt(0.5));
    const auto own = static_cast<float>(x);
    CHECK_THAT(normal_cdf(x), WithinRel(expected, 1e-12));
    CHECK_THAT(normal_cdf(own), WithinAbs(expected, 4e-7));
    if (x > -13)
      CHECK_THAT(normal_cdf(own), WithinRel(0.5 * std::erfc(-own * std::sqrt(0.5)), 6e-6));
  }
}

TEST_CASE("linear layer: gradients") {
  MatrixXd w = random_matrix(5, 4, 1), b = random_matrix(5, 1, 2), x = random_matrix(4, 7, 3);
  const MatrixXd c = random_matrix(5, 7, 4);
  MatrixXd y(5, 7);
  const auto loss = [&] {
    linear_forward(w.data(), b.data(), x, y);
    return weighed(c, y);
  };
  MatrixXd dw = MatrixXd::Zero(5, 4), db = MatrixXd::Zero(5, 1), dx(4, 7);
  linear_backward(w.data(), x, c, &dx, dw.data(), db.data());
  CHECK(gradient_error(loss, w, dw) < kAllowed);
  CHECK(gradient_error(loss, b, db) < kAllowed);
  CHECK(gradient_error(loss, x, dx) < kAllowed);
}

TEST_CASE("LayerNorm: gradients, and its law") {
  MatrixXd g = random_matrix(11, 1, 1), b = random_matrix(11, 1, 2), x = random_matrix(11, 6, 3);
  const MatrixXd c = random_matrix(11, 6, 4);
  MatrixXd y(11, 6), statistics(2, 6);
  const auto loss = [&] {
    layer_norm_forward(g.data(), b.data(), x, y, statistics);
    return weighed(c, y);
  };
  loss();
  for (Index t = 0; t < 6; ++t) {
    const VectorXd z = (y.col(t) - b).cwiseQuotient(g);
    CHECK_THAT(z.sum(), WithinAbs(0, 1e-12));
    CHECK_THAT(z.squaredNorm() / 11, WithinAbs(1, 1e-4));
  }
  MatrixXd dg = MatrixXd::Zero(11, 1), db = MatrixXd::Zero(11, 1), dx = c;
  layer_norm_backward(g.data(), x, statistics, dx, dg.data(), db.data());
  CHECK(gradient_error(loss, g, dg) < kAllowed);
  CHECK(gradient_error(loss, b, db) < kAllowed);
  CHECK(gradient_error(loss, x, dx) < kAllowed);
}

TEST_CASE("activations: values and gradients, also far out") {
  const auto expected = [](Activation kind, double x) {
    if (kind == Activation::relu) return std::max(0.0, x);
    if (kind == Activation::relu_squared) return x < 0 ? 0 : x * x;
    if (kind == Activation::gelu) return x * 0.5 * std::erfc(-x / std::sqrt(2.0));
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
  };
  for (const Activation kind :
       {Activation::gelu, Activation::gelu_new, Activation::relu, Activation::relu_squared}) {
    MatrixXd x = 3 * random_matrix(5, 9, 1);
    const MatrixXd c = random_matrix(5, 9, 2);
    MatrixXd y(5, 9), dx = c;
    const auto loss = [&] {
      activation_forward(kind, x, y);
      return weighed(c, y);
    };
    activation_backward(kind, x, dx);
    CHECK(gradient_error(loss, x, dx) < kAllowed);
    loss();
    for (Index i = 0; i < x.size(); ++i) {
      CHECK_THAT(y.data()[i], WithinAbs(expected(kind, x.data()[i]), 1e-14));
    }
    Eigen::MatrixXf in_place = x.cast<float>();
    activation_forward(kind, in_place, in_place);
    const double rounding = kind == Activation::relu_squared ? 1e-5 : 2e-6;  // of larger values
    CHECK((in_place.cast<double>() - y).cwiseAbs().maxCoeff() < rounding);
    MatrixXd far(2, 1), value(2, 1);
    far << -500, 500;
    activation_forward(kind, far, value);
    CHECK(value(0) == 0);
    CHECK(value(1) == expected(kind, 500));
  }
}

TEST_CASE("MLP: gradients, with and without biases") {
  for (const bool biased : {true, false}) {
    MatrixXd up = random_matrix(7, 3, 1), down = random_matrix(3, 7, 2);
    MatrixXd up_bias = random_matrix(7, 1, 3), down_bias = random_matrix(3, 1, 4);
    MatrixXd x = random_matrix(3, 5, 5);
    const MatrixXd c = random_matrix(3, 5, 6);
    const MlpWeights<double> mlp{up.data(), biased ? up_bias.data() : nullptr, down.data(),
                                 biased ? down_bias.data() : nullptr, Activation::gelu};
    MatrixXd in(7, 5), active(7, 5), y(3, 5);
    const auto loss = [&] {
      mlp_forward(mlp, x, in, active, y);
      return weighed(c, y);
    };
    loss();
    const MatrixXd expected = y;
    mlp_forward(mlp, x, in, in, y);
    CHECK(y == expected);
    loss();
    MatrixXd dup = MatrixXd::Zero(7, 3), ddown = MatrixXd::Zero(3, 7), din(7, 5), dx(3, 5);
    MatrixXd dup_bias = MatrixXd::Zero(7, 1), ddown_bias = MatrixXd::Zero(3, 1);
    mlp_backward(mlp, x, in, active, c, din, dx,
                 {dup.data(), dup_bias.data(), ddown.data(), ddown_bias.data()});
    CHECK(gradient_error(loss, up, dup) < kAllowed);
    CHECK(gradient_error(loss, down, ddown) < kAllowed);
    CHECK(gradient_error(loss, x, dx) < kAllowed);
    if (!biased) continue;
    CHECK(gradient_error(loss, up_bias, dup_bias) < kAllowed);
    CHECK(gradient_error(loss, down_bias, ddown_bias) < kAllowed);
  }
}

TEST_CASE("attention of one head equals plain loops, causal and full") {
  constexpr Index kLength = 37, kWidth = 3, kValues = 2;  // longer than a block of a product
  const MatrixXd query = random_matrix(kWidth, kLength, 1), key = random_matrix(kWidth, kLength, 2),
                 value = random_matrix(5, kLength, 3);
  for (const Entries visible : {Entries::upper, Entries::all}) {
    for (const double scale : {0.7, -0.7}) {
      const HeadInput<double> input{factor(query.data(), kWidth),
                                    factor(key.data(), kWidth),
                                    factor(value.data() + 1, 5),
                                    kWidth,
                                    kValues,
                                    kLength};
      MatrixXd weights(kLength, kLength), out = MatrixXd::Zero(4, kLength);
      const auto softmax = [&](Eigen::Map<MatrixXd> logits) {
        softmax_columns(scale, visible, logits);
      };
      attend_head(input, visible, softmax, weights.data(), out.data() + 1, 4);
      for (Index t = 0; t < kLength; ++t) {
        const Index keys = visible == Entries::upper ? t + 1 : kLength;
        const VectorXd logits = scale * key.leftCols(keys).transpose() * query.col(t);
        VectorXd expected = VectorXd::Zero(kLength);
        expected.head(keys) = softmax_by_exp(logits);
        CHECK((weights.col(t) - expected).cwiseAbs().maxCoeff() < 1e-14);
        const VectorXd read = value.middleRows(1, kValues) * expected;
        CHECK((out.col(t).segment(1, kValues) - read).norm() < 1e-13);
        CHECK(out(0, t) == 0);
        CHECK(out(3, t) == 0);
      }
    }
  }
}

TEST_CASE("attention: gradients, with and without grouped keys and rotary positions") {
  for (const auto& [groups, rotary] : {std::pair<Index, bool>{1, false},
                                       {2, false},
                                       {4, false},
                                       {1, true},
                                       {2, true},
                                       {4, true}}) {
    CAPTURE(groups, rotary);
    const AttentionShape shape{4, groups, 2, 5, 3};
    const RotaryTurns turns({rotary ? RotaryPairs::kHalves : RotaryPairs::kNone, 2}, shape.length);
    const auto rotate = [&](int direction, MatrixXd& states) {
      turns.turn_batch(shape, direction, states);
    };
    const Index tokens = shape.length * shape.batch;
    MatrixXd fused = random_matrix(shape.fused(), tokens, 1);
    const MatrixXd c = random_matrix(8, tokens, 2);
    MatrixXd weights(5, 5 * 3 * 4), out(8, tokens), dfused(shape.fused(), tokens);
    const std::vector<HeadReading<double>> readings(4);
    const auto loss = [&] {
      MatrixXd turned = fused;
      rotate(1, turned);
      attention_forward<double>(shape, turned, readings, weights, out);
      return weighed(c, out);
    };
    loss();
    MatrixXd turned = fused;
    rotate(1, turned);
    CHECK((turned == fused) == !rotary);
    attention_backward(shape, turned, weights, /*hard=*/false, c, dfused);
    rotate(-1, dfused);
    CHECK(gradient_error(loss, fused, dfused) < kAllowed);
    rotate(-1, turned);
    CHECK((turned - fused).norm() < 1e-12);
  }
}

TEST_CASE("rotary logits depend on the distance alone") {
  const AttentionShape shape{1, 1, 4, 6, 1};
  MatrixXd fused = random_matrix(12, 1, 1).replicate(1, 6);
  RotaryTurns({RotaryPairs::kHalves, 4}, shape.length).turn_batch(shape, 1, fused);
  const MatrixXd logits = fused.middleRows(4, 4).transpose() * fused.topRows(4);
  for (Index i = 1; i < 6; ++i) {
    for (Index j = 1; j < 6; ++j) CHECK_THAT(logits(i, j), WithinAbs(logits(i - 1, j - 1), 1e-12));
  }
}

TEST_CASE("embedding: gradients") {
  const std::vector<TokenId> tokens{2, 0, 2, 1, 1, 2};
  MatrixXd e = random_matrix(4, 3, 1), p = random_matrix(4, 3, 2);
  const MatrixXd c = random_matrix(4, 6, 3);
  MatrixXd x(4, 6);
  const auto loss = [&] {
    embedding_forward<double>(tokens, 3, e.data(), p.data(), x);
    return weighed(c, x);
  };
  MatrixXd de = MatrixXd::Zero(4, 3), dp = MatrixXd::Zero(4, 3);
  embedding_backward(tokens, 3, c, de.data(), dp.data());
  CHECK(gradient_error(loss, e, de) < kAllowed);
  CHECK(gradient_error(loss, p, dp) < kAllowed);
}

TEST_CASE("cross-entropy: value and gradient, and no overflow") {
  MatrixXd logits = random_matrix(5, 4, 1);
  const std::vector<TokenId> targets{0, 4, 2, 2};
  const auto loss = [&] {
    MatrixXd copy = logits;
    return cross_entropy(targets, false, copy);
  };
  double expected = 0;
  for (Index t = 0; t < 4; ++t) {
    expected -= std::log(std::exp(logits(targets[static_cast<std::size_t>(t)], t)) /
                         logits.col(t).array().exp().sum());
  }
  CHECK_THAT(loss(), WithinRel(expected / 4, 1e-12));
  MatrixXd gradient = logits;
  cross_entropy(targets, true, gradient);
  CHECK(gradient_error(loss, logits, gradient) < kAllowed);
  logits *= 1e300;
  CHECK(std::isfinite(loss()));
}
