#include "collapse/collapse.h"

#include <cmath>

#include "attention/softmax.h"
#include "catch.h"
#include "collapse/geometry.h"
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
  settings.ensemble = {EnsembleKind::normal, 12, 6, 5, {}};
  settings.heads = 2;
  settings.tokens = token_process("ar1", 10, 0.3);
  return settings;
}

Collapse finished(const StackSettings& settings, Index samples) {
  Collapse collapse(settings, samples);
  collapse.advance(collapse.steps_wanted());
  return collapse;
}

// A layer written out entry by entry.
MatrixXd plain_layer(const StackSettings& s, const LayerWeights& w, const MatrixXd& x) {
  const Index d = x.rows(), length = x.cols(), part = d / s.heads;
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
  MatrixXd out = s.skip * x;
  for (Index t = 0; t < length; ++t) {
    for (Index head = 0; head < s.heads; ++head) {
      const MatrixXd& qk = w.query_key[static_cast<std::size_t>(head)];
      VectorXd weight = VectorXd::Zero(length);
      double total = 0;
      for (Index i = 0; i < length; ++i) {
        if (!s.mask.sees(t, i, length)) continue;
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
  MatrixXd after = s.skip * out;
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
  const Mask window{MaskKind::window, 3, 4}, blocks{MaskKind::blocks, 8, 3};
  const Mask causal{MaskKind::causal};
  for (Index t = 0; t < 10; ++t) {
    for (Index i = 0; i < 10; ++i) {
      CHECK(causal.sees(t, i, 10) == (i <= t));
      CHECK(window.sees(t, i, 10) == (i <= t && i > t - 3));
      // Ten tokens in three blocks: 0-2, 3-5, and the last, 6-9, which sees all before.
      CHECK(blocks.sees(t, i, 10) == (i <= t && (t >= 6 || t / 3 == i / 3)));
      CHECK(Mask{MaskKind::window, 99, 4}.sees(t, i, 10) == (i <= t));
    }
    CHECK(Mask{MaskKind::blocks, 8, 50}.sees(t, t, 10));
  }
}

TEST_CASE("a layer equals a plain loop, over all switches") {
  const MatrixXd x = random_matrix(12, 10, 4);
  for (const NormPlace place : {NormPlace::none, NormPlace::pre, NormPlace::post}) {
    for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm}) {
      for (const MaskKind mask :
           {MaskKind::full, MaskKind::causal, MaskKind::window, MaskKind::blocks}) {
        for (const double mlp : {0.0, 2.0}) {
          StackSettings settings = small_stack();
          settings.place = place;
          settings.norm = norm;
          settings.mask = {mask, 3, 3};
          settings.mlp = mlp;
          settings.skip = 0.7;
          const LayerWeights weights = draw_layer(settings, 1, 2);
          const MatrixXd found = run_layer(settings, weights, x).tokens;
          const double scale = found.cwiseAbs().maxCoeff();
          CHECK((found - plain_layer(settings, weights, x)).cwiseAbs().maxCoeff() < 1e-11 * scale);
        }
      }
    }
  }
}

TEST_CASE("uniform attention collapses rank in one layer, and has full entropy") {
  StackSettings settings = small_stack();
  settings.mean = settings.variance = 0;
  settings.skip = 0;
  settings.place = NormPlace::none;
  settings.mask = {MaskKind::full};
  const Collapse collapse = finished(settings, 2);
  CHECK(collapse.estimate(0, LayerMeasure::residual).value > 0.5);
  CHECK(collapse.estimate(1, LayerMeasure::residual).value == Approx(0).margin(1e-12));
  CHECK(collapse.estimate(1, LayerMeasure::entropy).value == Approx(1));
  CHECK(collapse.estimate(1, LayerMeasure::entropy_bound).value == Approx(1));
  CHECK(collapse.estimate(1, LayerMeasure::localization).value == Approx(0).margin(1e-12));
}

TEST_CASE("hard attention has no entropy; attention to oneself keeps the tokens") {
  StackSettings settings = small_stack();
  settings.softmax = SoftmaxKind::hard;
  CHECK(finished(settings, 2).estimate(3, LayerMeasure::entropy).value == Approx(0).margin(1e-12));
  // W = identity and hard attention: every normalized token is nearest to itself.
  settings.mean = 1;
  settings.variance = 0;
  settings.skip = 0;
  settings.place = NormPlace::none;
  settings.values = ValueKind::identity;
  const MatrixXd x = normalized(random_matrix(12, 10, 9), NormKind::rms_norm);
  const LayerTrace trace = run_layer(settings, draw_layer(settings, 0, 0), x);
  CHECK(trace.tokens.isApprox(x));
}

TEST_CASE("a causal first row attends to itself") {
  const StackSettings settings = small_stack();
  const LayerTrace trace =
      run_layer(settings, draw_layer(settings, 0, 0), random_matrix(12, 10, 3));
  for (const MatrixXd& attention : trace.attention) CHECK(attention(0, 0) == Approx(1));
}

TEST_CASE("without a mask a stack commutes with permutations of the tokens") {
  StackSettings settings = small_stack();
  settings.mask = {MaskKind::full};
  settings.mlp = 1;
  const LayerWeights weights = draw_layer(settings, 0, 0);
  const MatrixXd x = random_matrix(12, 10, 3);
  const MatrixXd reversed = run_layer(settings, weights, x.rowwise().reverse()).tokens;
  CHECK(reversed.rowwise().reverse().isApprox(run_layer(settings, weights, x).tokens));
}

TEST_CASE("the entropy of every layer respects its bound") {
  StackSettings settings = small_stack();
  for (const double variance : {1e-4, 0.01, 1.0}) {
    settings.mean = 0.01;
    settings.variance = variance;
    const Collapse collapse = finished(settings, 3);
    for (Index layer = 1; layer <= 3; ++layer) {
      CHECK(collapse.estimate(layer, LayerMeasure::entropy).value >=
            collapse.estimate(layer, LayerMeasure::entropy_bound).value);
    }
  }
}

TEST_CASE("weights are fresh in each layer, head and sample unless shared") {
  StackSettings settings = small_stack();
  const LayerWeights first = draw_layer(settings, 0, 0);
  CHECK(first.query_key[0] != first.query_key[1]);
  CHECK(first.query_key[0] != draw_layer(settings, 1, 0).query_key[0]);
  CHECK(first.query_key[0] != draw_layer(settings, 0, 1).query_key[0]);
  CHECK(first.query_key[0] == draw_layer(settings, 0, 0).query_key[0]);
  CHECK(first.value.isUnitary(1e-12));
  const SpectralMoments moments = moments_of_matrix(first.query_key[1]);
  CHECK(moments.mean() == Approx(settings.mean));
  CHECK(moments.variance() == Approx(settings.variance));
  settings.shared = true;
  CHECK(draw_layer(settings, 0, 0).query_key[0] == draw_layer(settings, 2, 0).query_key[0]);
}

TEST_CASE("the job gives the same numbers however it is cut into steps") {
  const Collapse whole = finished(small_stack(), 4);
  Collapse stepped(small_stack(), 4);
  while (!stepped.advance(1)) CHECK(stepped.steps_done() < stepped.steps_wanted());
  for (Index layer = 0; layer <= 3; ++layer) {
    for (const LayerMeasure measure : {LayerMeasure::residual, LayerMeasure::cosine}) {
      CHECK(whole.count(layer, measure) == 4);
      CHECK(whole.estimate(layer, measure).value == stepped.estimate(layer, measure).value);
      CHECK(whole.estimate(layer, measure).error > 0);
    }
  }
  CHECK(whole.cosines(3).rows() == 10);
}

TEST_CASE("a deep stack without normalization overflows by name, not by accident") {
  StackSettings settings = small_stack();
  settings.place = NormPlace::none;
  settings.skip = 10;
  settings.depth = 400;
  const Collapse collapse = finished(settings, 1);
  CHECK(collapse.overflow_layer() > 100);  // where the logits, squares of the tokens, overflow
  CHECK(std::isnan(collapse.estimate(400, LayerMeasure::residual).value));
  CHECK(std::isfinite(collapse.estimate(100, LayerMeasure::residual).value));
}

TEST_CASE("what a stack cannot be is refused by name") {
  const auto refused = [](auto change) {
    StackSettings settings = small_stack();
    change(settings);
    try {
      Collapse(settings, 2);
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK_THAT(refused([](auto& s) { s.depth = 0; }), StartsWith("depth: 0"));
  CHECK_THAT(refused([](auto& s) { s.heads = 5; }), StartsWith("heads: 5"));
  CHECK_THAT(refused([](auto& s) { s.skip = std::nan(""); }), StartsWith("skip: nan"));
  CHECK_THAT(refused([](auto& s) { s.mask.window = 0; }), StartsWith("window: 0"));
  CHECK_THAT(refused([](auto& s) { s.variance = -1; }), StartsWith("variance: -1"));
  CHECK(refused([](auto& s) { s.mask = {MaskKind::window, 500, 4}; }) == "accepted");
  CHECK_THROWS_WITH(Collapse(small_stack(), 0), StartsWith("stacks: 0"));
  CHECK_THROWS_WITH(values_of_name("zero"), ContainsSubstring("orthogonal"));
  CHECK_THROWS_WITH(norm_place_of_name("both"), ContainsSubstring("none, pre, post"));
  CHECK_THROWS_WITH(norm_of_name("batch"), ContainsSubstring("rms-norm"));
}
