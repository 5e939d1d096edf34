#include "collapse/collapse.h"

#include <Eigen/SVD>
#include <cmath>

#include "attention/softmax.h"
#include "catch.h"
#include "collapse/geometry.h"
#include "collapse/token_plane.h"
#include "support/error.h"
#include "test_matrices.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

StackSettings small_stack() {
  StackSettings settings;
  settings.depth = 3;
  settings.weights.ensemble = {EnsembleKind::normal, 12, 6, 5, {}};
  settings.weights.heads = 2;
  settings.tokens = token_process("ar1", 10, 0.3);
  return settings;
}

constexpr SpectrumPoint kPoint{0.25, 0.1};

Collapse finished(const StackSettings& settings, Index samples, SpectrumPoint point = kPoint) {
  Collapse collapse(settings, {point}, {samples});
  collapse.advance(collapse.steps_wanted());
  return collapse;
}

bool sees(const Mask& mask, Index query, Index key, Index length) {
  for (const KeyRange& range : mask.visible(query, length)) {
    if (key >= range.first && key < range.first + range.count) return true;
  }
  return false;
}

EnsembleWeights weights_at(const StackSettings& settings, SpectrumPoint point) {
  return Ensemble(settings.weights.ensemble).weights(point.mean, point.variance);
}

// A layer written out entry by entry.
MatrixXd plain_layer(const StackSettings& s, const LayerDraw& w, const EnsembleWeights& spectrum,
                     const MatrixXd& x) {
  const Index d = x.rows(), length = x.cols(), part = d / s.weights.heads;
  const auto norm = [&](const MatrixXd& y) {
    MatrixXd out = y;
    for (Index t = 0; t < length; ++t) {
      double mean = 0, square = 0;
      for (Index k = 0; k < d; ++k) mean += y(k, t) / static_cast<double>(d);
      if (s.norm == NormKind::rms_norm) mean = 0;
      for (Index k = 0; k < d; ++k) square += std::pow(y(k, t) - mean, 2) / static_cast<double>(d);
      for (Index k = 0; k < d; ++k) out(k, t) = (y(k, t) - mean) / std::sqrt(square);
    }
    return out;
  };
  const MatrixXd in = s.place == NormPlace::pre ? norm(x) : x;
  MatrixXd out = s.residual_weight * x;
  for (Index t = 0; t < length; ++t) {
    for (Index head = 0; head < s.weights.heads; ++head) {
      const MatrixXd qk = w.query_key(static_cast<std::size_t>(head), spectrum);
      VectorXd weight = VectorXd::Zero(length);
      double total = 0;
      for (Index i = 0; i < length; ++i) {
        if (!sees(s.mask, t, i, length)) continue;
        weight[i] = std::exp(in.col(i).dot(qk * in.col(t)) / s.temperature);
        total += weight[i];
      }
      for (Index k = head * part; k < (head + 1) * part; ++k) {
        for (Index i = 0; i < length; ++i) {
          for (Index j = 0; j < d; ++j) out(k, t) += weight[i] / total * w.value(k, j) * in(j, i);
        }
      }
    }
  }
  if (s.place == NormPlace::post) out = norm(out);
  if (w.up.size() == 0) return out;
  const MatrixXd hidden = w.up * (s.place == NormPlace::pre ? norm(out) : out);
  MatrixXd after = s.residual_weight * out;
  for (Index t = 0; t < length; ++t) {
    for (Index k = 0; k < d; ++k) {
      for (Index j = 0; j < hidden.rows(); ++j) {
        after(k, t) += w.down(k, j) * std::max(0.0, hidden(j, t));
      }
    }
  }
  return s.place == NormPlace::post ? norm(after) : after;
}

}  // namespace

TEST_CASE("token geometry at its extremes and scale free") {
  const MatrixXd same = random_matrix(6, 1, 1).replicate(1, 9);
  const TokenGeometry collapsed = token_geometry(same);
  CHECK(collapsed.residual == Approx(0).margin(1e-14));
  CHECK(collapsed.stable_rank == Approx(1));
  CHECK(collapsed.effective_rank == Approx(1).epsilon(1e-5));
  CHECK(collapsed.cosine == Approx(1));
  const MatrixXd apart = MatrixXd::Identity(7, 7);
  const TokenGeometry spread = token_geometry(apart);
  CHECK(spread.residual == Approx(std::sqrt(6.0 / 7)));
  CHECK(spread.stable_rank == Approx(7));
  CHECK(spread.effective_rank == Approx(7));
  CHECK(spread.cosine == Approx(0).margin(1e-14));
  const MatrixXd x = random_matrix(5, 8, 2);
  CHECK(token_geometry(1e200 * x).effective_rank == Approx(token_geometry(x).effective_rank));
  CHECK(std::isnan(token_geometry(MatrixXd::Zero(3, 3)).residual));
  CHECK(std::isnan(token_geometry(x.leftCols(1)).cosine));
  CHECK(token_geometry(x).cosine == Approx((cosine_matrix(x).sum() - 8) / 56));
  CHECK(spectral_norm(MatrixXd(Eigen::Vector3d(1, -4, 2).asDiagonal())) == Approx(4));
}

TEST_CASE("the entropy bound is never violated") {
  for (std::uint64_t draw = 0; draw < 1000; ++draw) {
    const Index keys = 2 + static_cast<Index>(draw % 40);
    const double scale = std::pow(10.0, static_cast<double>(draw % 7) / 2 - 1.5);
    const VectorXd logits = scale * random_matrix(keys, 1, draw);
    const double entropy = row_entropy(softmax(logits, 1));
    CHECK(entropy >= entropy_lower_bound(logits.norm(), keys) - 1e-12);
  }
  CHECK(entropy_lower_bound(0, 8) == Approx(std::log(8.0)));
  CHECK(entropy_lower_bound(1e9, 8) == 0);
  CHECK(entropy_lower_bound(std::numeric_limits<double>::infinity(), 8) == 0);
  CHECK(entropy_lower_bound(1, 1) == 0);
}

TEST_CASE("masks: who sees whom") {
  const Mask causal{MaskKind::causal}, window{MaskKind::window, 3};
  const Mask blocks{MaskKind::blocks, 8, 3}, prefixed{MaskKind::blocks, 8, 3, 2};
  for (Index t = 0; t < 10; ++t) {
    for (Index i = 0; i < 10; ++i) {
      CHECK(sees(Mask{MaskKind::full}, t, i, 10));
      CHECK(sees(causal, t, i, 10) == (i <= t));
      CHECK(sees(window, t, i, 10) == (i <= t && i > t - 3));
      // Ten tokens in three blocks: 0-2, 3-5, and the last, 6-9, which sees all before.
      CHECK(sees(blocks, t, i, 10) == (i <= t && (t >= 6 || t / 3 == i / 3)));
      // With a prefix of 2: blocks 2-3, 4-5, 6-9.
      const bool together = t < 2 || i < 2 || t >= 6 || t / 2 == i / 2;
      CHECK(sees(prefixed, t, i, 10) == (i <= t && together));
      CHECK(sees(Mask{MaskKind::window, 99}, t, i, 10) == (i <= t));
      CHECK(sees(Mask{MaskKind::blocks, 8, 4, 99}, t, i, 10) == (i <= t));
    }
    CHECK(sees(Mask{MaskKind::blocks, 8, 50}, t, t, 10));
  }
}

TEST_CASE("a layer equals a plain loop, over all switches") {
  const MatrixXd x = random_matrix(12, 10, 4);
  for (const NormPlace place : {NormPlace::none, NormPlace::pre, NormPlace::post}) {
    for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm}) {
      for (const MaskKind mask :
           {MaskKind::full, MaskKind::causal, MaskKind::window, MaskKind::blocks}) {
        for (const double mlp_ratio : {0.0, 2.0}) {
          StackSettings settings = small_stack();
          settings.place = place;
          settings.norm = norm;
          settings.mask = {mask, 3, 3, 1};
          settings.weights.mlp_ratio = mlp_ratio;
          settings.residual_weight = 0.7;
          const LayerDraw draw = draw_layer(settings.weights, 1, 2);
          const EnsembleWeights spectrum = weights_at(settings, kPoint);
          const MatrixXd found = run_layer(settings, draw, spectrum, x).tokens;
          const MatrixXd plain = plain_layer(settings, draw, spectrum, x);
          CHECK((found - plain).cwiseAbs().maxCoeff() < 1e-11 * plain.cwiseAbs().maxCoeff());
        }
      }
    }
  }
}

TEST_CASE("a query of the last block keeps the blocks it attends to most") {
  const MatrixXd x = random_matrix(6, 16, 8), w = random_matrix(6, 6, 9);
  const MatrixXd logits = attention_logits(x, w);
  const Mask all{MaskKind::blocks, 8, 4}, some{MaskKind::blocks, 8, 4, 0, 1};
  const MatrixXd whole = attention_weights(logits, 2, SoftmaxKind::exact, all);
  const MatrixXd chosen = attention_weights(logits, 2, SoftmaxKind::exact, some);
  CHECK(chosen.leftCols(12) == whole.leftCols(12));
  for (Index query = 12; query < 16; ++query) {
    Index best = 0;
    for (Index block = 1; block < 3; ++block) {
      const auto sum = [&](Index b) { return whole.col(query).segment(4 * b, 4).sum(); };
      if (sum(block) > sum(best)) best = block;
    }
    VectorXd expected = VectorXd::Zero(16);
    expected.segment(4 * best, 4) = whole.col(query).segment(4 * best, 4);
    expected.tail(4) = whole.col(query).tail(4);
    expected /= expected.sum();
    CHECK((chosen.col(query) - expected).cwiseAbs().maxCoeff() < 1e-14);
  }
  const Mask none{MaskKind::blocks, 8, 4, 0, 0};
  const MatrixXd own = attention_weights(logits, 2, SoftmaxKind::exact, none);
  CHECK(own.col(13).head(12).isZero());
  CHECK(own.col(13).sum() == Approx(1));
}

TEST_CASE("uniform attention collapses rank in one layer, and has full entropy") {
  StackSettings settings = small_stack();
  settings.residual_weight = 0;
  settings.place = NormPlace::none;
  settings.mask = {MaskKind::full};
  const Collapse collapse = finished(settings, 2, {0, 0});
  const auto value = [&](Index layer, LayerMeasure measure) {
    return collapse.estimate(0, layer, measure).value;
  };
  CHECK(value(0, LayerMeasure::residual) > 0.5);
  CHECK(value(1, LayerMeasure::residual) == Approx(0).margin(1e-12));
  CHECK(value(1, LayerMeasure::stable_rank) == Approx(1));
  for (const LayerMeasure measure :
       {LayerMeasure::entropy, LayerMeasure::entropy_minimum, LayerMeasure::entropy_bound,
        LayerMeasure::entropy_final, LayerMeasure::participation}) {
    CHECK(value(1, measure) == Approx(1));
  }
  CHECK(value(1, LayerMeasure::localization) == Approx(0).margin(1e-12));
}

TEST_CASE("hard attention has no entropy; attention to oneself keeps the tokens") {
  StackSettings settings = small_stack();
  settings.softmax = SoftmaxKind::hard;
  const Collapse hard = finished(settings, 2);
  CHECK(hard.estimate(0, 3, LayerMeasure::entropy).value == Approx(0).margin(1e-12));
  CHECK(std::isnan(hard.estimate(0, 3, LayerMeasure::entropy_bound).value));
  // W = identity and hard attention: every normalized token is nearest to itself.
  settings.residual_weight = 0;
  settings.place = NormPlace::none;
  settings.weights.values = ValueKind::identity;
  const MatrixXd x = normalized(random_matrix(12, 10, 9), NormKind::rms_norm);
  const LayerDraw draw = draw_layer(settings.weights, 0, 0);
  CHECK(run_layer(settings, draw, weights_at(settings, {1, 0}), x).tokens.isApprox(x));
}

TEST_CASE("a causal first token attends to itself") {
  const StackSettings settings = small_stack();
  const LayerTrace trace = run_layer(settings, draw_layer(settings.weights, 0, 0),
                                     weights_at(settings, kPoint), random_matrix(12, 10, 3));
  REQUIRE(trace.attention.size() == static_cast<std::size_t>(settings.weights.heads));
  for (const MatrixXd& attention : trace.attention) CHECK(attention(0, 0) == 1);
}

TEST_CASE("without a mask a stack commutes with permutations of the tokens") {
  StackSettings settings = small_stack();
  settings.mask = {MaskKind::full};
  settings.weights.mlp_ratio = 1;
  const LayerDraw draw = draw_layer(settings.weights, 0, 0);
  const EnsembleWeights spectrum = weights_at(settings, kPoint);
  const MatrixXd x = random_matrix(12, 10, 3);
  const MatrixXd reversed = run_layer(settings, draw, spectrum, x.rowwise().reverse()).tokens;
  CHECK(reversed.rowwise().reverse().isApprox(run_layer(settings, draw, spectrum, x).tokens));
}

TEST_CASE("the entropy of every layer respects its bound") {
  for (const MaskKind mask : {MaskKind::full, MaskKind::causal, MaskKind::window}) {
    StackSettings settings = small_stack();
    settings.mask = {mask, 4};
    for (const double variance : {1e-4, 0.01, 1.0}) {
      const Collapse collapse = finished(settings, 3, {0.01, variance});
      for (Index layer = 1; layer <= 3; ++layer) {
        const double bound = collapse.estimate(0, layer, LayerMeasure::entropy_bound).value;
        CHECK(bound >= 0);
        CHECK(collapse.estimate(0, layer, LayerMeasure::entropy).value >= bound);
      }
    }
  }
}

TEST_CASE("weights are fresh in each layer, head and sample unless shared") {
  StackSettings settings = small_stack();
  WeightSettings& weights = settings.weights;
  const LayerDraw first = draw_layer(weights, 0, 0);
  CHECK(first.spread[0] != first.spread[1]);
  CHECK(first.spread[0] != draw_layer(weights, 1, 0).spread[0]);
  CHECK(first.spread[0] != draw_layer(weights, 0, 1).spread[0]);
  CHECK(first.spread[0] == draw_layer(weights, 0, 0).spread[0]);
  CHECK(first.value.isUnitary(1e-12));
  weights.shared = true;
  CHECK(draw_layer(weights, 0, 0).spread[0] == draw_layer(weights, 2, 0).spread[0]);
  StackDraw stack(weights, 0);
  CHECK(stack.layer(7).spread[1] == draw_layer(weights, 0, 0).spread[1]);
}

TEST_CASE("every ensemble gives W_QK its mean and variance, whatever the point") {
  static_assert(!kEnsembleNames.empty());
  for (std::size_t kind = 0; kind < kEnsembleNames.size(); ++kind) {
    WeightSettings settings = small_stack().weights;
    settings.ensemble.kind = static_cast<EnsembleKind>(kind);
    settings.ensemble.eigenvalues = {3, 1, 0, -1};
    settings.heads = 2;
    const Ensemble ensemble(settings.ensemble);
    const LayerDraw draw = draw_layer(settings, 1, 1);
    for (const SpectrumPoint point : {SpectrumPoint{0.3, 0.5}, SpectrumPoint{-1, 2}}) {
      const MatrixXd w = draw.query_key(1, ensemble.weights(point.mean, point.variance));
      const SpectralMoments moments = moments_of_matrix(w);
      CHECK(moments.mean() == Approx(point.mean));
      CHECK(moments.variance_frobenius() == Approx(point.variance));
    }
  }
}

TEST_CASE("value matrices are what their names say") {
  WeightSettings settings = small_stack().weights;
  const MatrixXd identity = MatrixXd::Identity(12, 12);
  settings.values = ValueKind::identity;
  CHECK(draw_layer(settings, 0, 0).value == identity);
  settings.values = ValueKind::negative;
  CHECK(draw_layer(settings, 0, 0).value == -identity);
  settings.values = ValueKind::shear;
  settings.shear = 3;
  const MatrixXd shear = draw_layer(settings, 0, 0).value;
  CHECK(shear.diagonal(1).isConstant(3));
  CHECK((shear - identity).squaredNorm() == Approx(9 * 11));
  settings.values = ValueKind::gaussian;
  CHECK(draw_layer(settings, 0, 0).value.squaredNorm() == Approx(12).epsilon(0.4));
  settings.values = ValueKind::orthogonal;
  double trace = 0;  // of Haar matrices: mean 0, variance 1
  for (std::uint64_t sample = 0; sample < 400; ++sample) {
    trace += draw_layer(settings, 0, sample).value.trace() / 400;
  }
  CHECK(std::abs(trace) < 4 / std::sqrt(400.0));
}

TEST_CASE("the job gives the same numbers however it is cut, alone or among other points") {
  const StackSettings settings = small_stack();
  const Collapse whole = finished(settings, 4);
  Collapse stepped(settings, {{1, 0.5}, kPoint}, {4});
  while (!stepped.advance(1)) CHECK(stepped.steps_done() < stepped.steps_wanted());
  Collapse last(settings, {kPoint, {-1, 0.5}}, {4}, MeasuredLayers::last);
  last.advance(1000);
  for (std::size_t k = 0; k < kLayerMeasures.size(); ++k) {
    const auto measure = static_cast<LayerMeasure>(k);
    for (Index layer = 1; layer <= 3; ++layer) {
      CHECK(whole.samples(0, layer) == 4);
      CHECK(whole.estimate(0, layer, measure).value == stepped.estimate(1, layer, measure).value);
      CHECK(whole.estimate(0, layer, measure).error > 0);
    }
    CHECK(last.estimate(0, 0, measure).value == whole.estimate(0, 3, measure).value);
  }
  CHECK(last.rows() == 1);
  CHECK(last.layer_of(0) == 3);
}

TEST_CASE("two parts of the stacks make the whole") {
  const StackSettings settings = small_stack();
  const Collapse whole = finished(settings, 5);
  Collapse first(settings, {kPoint}, {2}), second(settings, {kPoint}, {3, 2});
  first.advance(1000);
  second.advance(1000);
  const auto value = [](const Collapse& job) {
    return job.estimate(0, 3, LayerMeasure::residual).value;
  };
  CHECK(2 * value(first) + 3 * value(second) == Approx(5 * value(whole)));
}

TEST_CASE("a stack of no layers is its input") {
  StackSettings settings = small_stack();
  settings.depth = 0;
  const Collapse collapse = finished(settings, 3);
  CHECK(collapse.rows() == 1);
  CHECK(collapse.estimate(0, 0, LayerMeasure::residual).value ==
        finished(small_stack(), 3).estimate(0, 0, LayerMeasure::residual).value);
  CHECK(std::isnan(collapse.estimate(0, 0, LayerMeasure::entropy).value));
}

TEST_CASE("a deep stack without normalization overflows by name, not by accident") {
  StackSettings settings = small_stack();
  settings.place = NormPlace::none;
  settings.residual_weight = 10;
  settings.depth = 400;
  const Collapse collapse = finished(settings, 1);
  CHECK(collapse.overflow_layer(0) > 100);  // where the logits, squares of the tokens, overflow
  CHECK(std::isnan(collapse.estimate(0, 400, LayerMeasure::residual).value));
  CHECK(std::isfinite(collapse.estimate(0, 100, LayerMeasure::residual).value));
}

TEST_CASE("a variance that the ensemble cannot have refuses its point alone") {
  StackSettings settings = small_stack();
  settings.weights.ensemble.kind = EnsembleKind::factored;
  Collapse collapse(settings, {{1, 0}, {1, 4}}, {2});
  CHECK(collapse.advance(1000));
  CHECK_THAT(collapse.refused(0), StartsWith("variance must ") && EndsWith(" 0"));
  CHECK(std::isnan(collapse.estimate(0, 1, LayerMeasure::residual).value));
  CHECK(collapse.refused(1).empty());
  CHECK(collapse.estimate(1, 3, LayerMeasure::residual).value > 0);
}

TEST_CASE("what a stack cannot be is refused by name") {
  const auto refused = [](auto change) {
    StackSettings settings = small_stack();
    change(settings);
    try {
      Collapse(settings, {kPoint}, {2});
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused([](auto& s) { s.depth = -1; }), StartsWith("depth must ") && EndsWith(" -1"));
  CHECK_THAT(refused([](auto& s) { s.weights.heads = 5; }),
             StartsWith("heads must ") && EndsWith(" 5"));
  CHECK_THAT(refused([](auto& s) { s.residual_weight = std::nan(""); }),
             StartsWith("residual_weight must ") && EndsWith(" nan"));
  CHECK_THAT(refused([](auto& s) { s.weights.mlp_ratio = 99; }),
             StartsWith("mlp_ratio must ") && EndsWith(" 99"));
  CHECK_THAT(refused([](auto& s) { s.mask.window = 0; }),
             StartsWith("window must ") && EndsWith(" 0"));
  CHECK_THAT(refused([](auto& s) { s.mask.prefix = -3; }),
             StartsWith("prefix must ") && EndsWith(" -3"));
  CHECK(refused([](auto& s) { s.mask = {MaskKind::window, 500}; }) == "accepted");
  const auto parted = [&](Index blocks, Index prefix) {
    return refused([&](auto& s) { s.mask = {MaskKind::blocks, 1, blocks, prefix}; });
  };
  const Index length = small_stack().tokens.length;
  CHECK(parted(length, 0) == "accepted");
  CHECK_THAT(parted(length + 1, 0), StartsWith("blocks must be at most the length"));
  CHECK(parted(length + 1, 1) == "accepted");
  CHECK_THROWS_WITH(Collapse(small_stack(), {kPoint}, {0}),
                    StartsWith("stacks must ") && EndsWith(" 0"));
  CHECK_THROWS_WITH(Collapse(small_stack(), {{0, -1}}, {1}),
                    StartsWith("variance must ") && EndsWith(" -1"));
  CHECK_THROWS_WITH(value_of_name<ValueKind>("values", "zero", kValueNames),
                    ContainsSubstring("orthogonal"));
  CHECK_THROWS_WITH(value_of_name<NormPlace>("layer_norm", "both", kNormPlaceNames),
                    ContainsSubstring("none, pre, post"));
  CHECK_THROWS_WITH(value_of_name<NormKind>("norm", "batch", kNormNames),
                    ContainsSubstring("rms-norm"));
}

TEST_CASE("one stack layer by layer has the tokens that the statistics of one stack are of") {
  const StackSettings settings = small_stack();
  const Collapse statistics = finished(settings, 1);
  for (Index layer = 0; layer <= settings.depth; ++layer) {
    StackRun run(settings, kPoint, layer);
    while (!run.advance(1)) CHECK(run.steps_done() < layer);
    const MatrixXd cosines = cosine_matrix(run.tokens());
    const auto tokens = static_cast<double>(cosines.rows());
    const double mean = (cosines.sum() - cosines.trace()) / (tokens * (tokens - 1));
    CHECK_THAT(statistics.estimate(0, layer, LayerMeasure::cosine).value, WithinAbs(mean, 1e-12));
  }
  CHECK_THROWS_WITH(StackRun(settings, kPoint, 4),
                    ContainsSubstring("at most the depth: depth 3, layer 4"));
}

TEST_CASE("tokens lie in their principal plane, as far from the origin as the residual says") {
  const StackSettings settings = small_stack();
  const MatrixXd tokens = stack_tokens(settings, 0);  // 12 x 10
  MatrixXd tall = MatrixXd::Zero(tokens.cols() + 3, tokens.cols()), wide = tokens.leftCols(3);
  tall.topRows(tokens.cols()) = tokens.topRows(tokens.cols());
  for (const MatrixXd& x : {tokens, tall, wide, MatrixXd(tokens.topRows(3))}) {
    const Eigen::Matrix2Xd place = plane_of(x);
    const MatrixXd centred = x.colwise() - x.rowwise().mean();
    const VectorXd singular = Eigen::JacobiSVD<MatrixXd>(centred).singularValues();
    const double residual = token_geometry(x).residual;
    const auto count = static_cast<double>(x.cols());
    CHECK_THAT(place.squaredNorm() / count, WithinRel(residual * residual, 1e-12));
    CHECK_THAT(place.row(0).norm() / place.row(1).norm(),
               WithinRel(singular[0] / singular[1], 1e-9));
    CHECK_THAT(place.row(0).dot(place.row(1)), WithinAbs(0, 1e-12));
    // The products of two tokens that lie in the plane, against those of the two largest components.
    const Eigen::JacobiSVD<MatrixXd> svd(centred, Eigen::ComputeThinV);
    const MatrixXd v = svd.matrixV().leftCols(2) * singular.head(2).asDiagonal();
    const double scale = place.norm() / singular.head(2).norm();
    CHECK((place.transpose() * place - scale * scale * v * v.transpose()).norm() < 1e-10);
  }
}

TEST_CASE("the plane of a layer is turned to the layer before") {
  const MatrixXd tokens = stack_tokens(small_stack(), 0);
  const Eigen::Matrix2Xd place = plane_of(tokens);
  for (const double angle : {0.0, 0.4, 2.0, -3.0}) {
    Eigen::Matrix2d turn;
    turn << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
    for (const double side : {1.0, -1.0}) {
      turn.col(1) *= side;  // also a reflection
      const Eigen::Matrix2Xd target = turn * place;
      CHECK((plane_of(tokens, &target) - target).norm() < 1e-12);
    }
  }
  CHECK(plane_of(MatrixXd::Zero(4, 3)).array().isNaN().all());
  CHECK(plane_of(MatrixXd::Ones(4, 3)).norm() < 1e-12);        // alike, and one point
  CHECK(plane_of(MatrixXd::Random(1, 5)).row(1).norm() == 0);  // a line
}

TEST_CASE("the plane of one stack has the residual, the entropy and the attention of its layers") {
  const StackSettings settings = small_stack();
  const Collapse statistics = finished(settings, 1);
  TokenPlane plane(settings, kPoint);
  while (!plane.advance()) CHECK(plane.steps_done() < settings.depth);
  REQUIRE(std::ssize(plane.layers()) == settings.depth + 1);
  StackRun run(settings, kPoint, settings.depth);
  for (Index i = 0; i <= settings.depth; ++i, run.advance()) {
    const PlaneLayer& layer = plane.layers()[static_cast<std::size_t>(i)];
    const auto measured = [&](LayerMeasure measure) {
      return statistics.estimate(0, i, measure).value;
    };
    CHECK_THAT(layer.residual, WithinRel(measured(LayerMeasure::residual), 1e-12));
    const double distance =
        std::sqrt(layer.place.squaredNorm() / static_cast<double>(layer.place.cols()));
    CHECK_THAT(distance, WithinRel(layer.residual, 1e-12));
    if (i == 0) {
      CHECK(std::isnan(layer.entropy));
      CHECK(layer.key.isZero());
      continue;
    }
    CHECK_THAT(layer.entropy, WithinRel(measured(LayerMeasure::entropy), 1e-12));
    const MatrixXd mean = (run.attention()[0] + run.attention()[1]) / 2;
    for (Index query = 0; query < layer.key.size(); ++query) {
      CHECK(layer.weight[query] == mean.col(query).maxCoeff());
      CHECK(mean(static_cast<Index>(layer.key[query]) - 1, query) == layer.weight[query]);
    }
  }
}

TEST_CASE("tokens that overflow have no place in the plane") {
  StackSettings settings = small_stack();
  settings.place = NormPlace::none;
  settings.residual_weight = 10;
  settings.depth = 400;
  TokenPlane plane(settings, kPoint);
  while (!plane.advance(50)) {
  }
  CHECK(plane.layers().front().place.allFinite());
  CHECK(plane.layers().back().place.array().isNaN().all());
}
