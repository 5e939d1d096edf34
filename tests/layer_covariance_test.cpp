// The covariance of a layer's states, and what it says of heads.
#include "prediction/layer_covariance.h"
#include "advance_layer.h"

#include <memory>
#include <vector>

#include "catch.h"
#include "checkpoint/head_report.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "inference/head_measures.h"
#include "inference_models.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;

namespace {

std::vector<Passage> some_passages() {
  std::vector<Passage> passages;
  for (int k = 0; k < 9; ++k) {
    Passage made;
    for (int t = 0; t < 14; ++t) made.ids.push_back((k * 5 + t * t + t * k) % kTinyTokens);
    passages.push_back(made);
  }
  return passages;
}

std::vector<std::shared_ptr<const MatrixXd>> covariances(bool gain_in_weights) {
  LayerCovariance job(transformer_of(tiny_gpt2()), some_passages(), gain_in_weights);
  for (Index before = 0; !job.advance(1); before = job.steps_done()) {
    CHECK(job.steps_done() > before);
    CHECK(job.steps_done() < job.steps_wanted());
  }
  CHECK(job.steps_done() == job.steps_wanted());
  return job.covariances();
}

}  // namespace

TEST_CASE("a layer's covariance is that of the states without sinks", "[forward]") {
  const auto found = covariances(false);
  REQUIRE(found.size() == kTinyLayers);
  ForwardPass pass(transformer_of(tiny_gpt2()), some_passages());
  std::vector<MatrixXd> states(kTinyLayers, MatrixXd(kTinyWidth, 9 * 13));
  for (MatrixXd& layer : states) {
    Index place = 0;
    for (const PassageTrace& trace : advance_layer(pass)) {
      layer.middleCols(place, 13) = trace.states.rightCols(13).cast<double>();
      place += 13;
    }
  }
  REQUIRE(pass.done());
  for (std::size_t layer = 0; layer < found.size(); ++layer) {
    const MatrixXd centred = states[layer].colwise() - states[layer].rowwise().mean();
    const MatrixXd expected = centred * centred.transpose() / (9.0 * 13);
    CHECK(found[layer]->isApprox(expected, 1e-9));
  }
}

TEST_CASE("folded gains and normalized states give the traces of plain W and states", "[forward]") {
  const Config config = Config::parse(kTinyGpt2Config);
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 16, 0));
  std::vector<Traces> found[2];
  for (const bool folded : {false, true}) {
    const auto sigma = covariances(folded);
    HeadScan scan(open(tiny_gpt2().writer().bytes()), &config, {.fold_gains = folded});
    while (!scan.done()) {
      for (const ScannedHead& head : scan.advance()) {
        const auto layer = static_cast<std::size_t>(in_double(head).layer);
        found[folded].push_back(report_head(head, kernel, {false, sigma[layer]}).moments.traces);
      }
    }
  }
  REQUIRE(found[0].size() == kTinyLayers * kTinyHeads);
  for (std::size_t i = 0; i < found[0].size(); ++i) {
    CHECK(found[1][i].xi == Approx(found[0][i].xi).epsilon(1e-4));
    CHECK(found[1][i].eta_s == Approx(found[0][i].eta_s).epsilon(1e-4).margin(1e-5));
    CHECK(found[1][i].eta_f == Approx(found[0][i].eta_f).epsilon(1e-4));
  }
}

TEST_CASE("passages without two tokens besides the sinks have no covariance", "[forward]") {
  const auto refused = [](std::vector<Passage> passages) {
    return failure_of([&] { LayerCovariance(transformer_of(tiny_gpt2()), passages, true); }).item;
  };
  CHECK(refused({}) == "passages");
  CHECK(refused({{{1, 2}, 0, 0}}) == "passages");
  CHECK(refused({{{1, 2, 3, 4}, 1, 2}}) == "passages");
}
