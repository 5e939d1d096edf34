// What makes a head's matrix: rotary positions at an offset, the frame of reference, faulty gains.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/embedding_covariance.h"
#include "checkpoint/head_report.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

/// R(position), d_h x d_h, by its definition: pair p of the first `turned` coordinates.
Eigen::MatrixXd rotation(Eigen::Index head_width, const Rotary& rotary, double position) {
  Eigen::MatrixXd r = Eigen::MatrixXd::Identity(head_width, head_width);
  for (Eigen::Index p = 0; p < rotary.turned / 2; ++p) {
    const bool halves = rotary.pairs == RotaryPairs::kHalves;
    const Eigen::Index a = halves ? p : 2 * p, b = halves ? p + rotary.turned / 2 : 2 * p + 1;
    const double angle = position * std::pow(rotary.base, -2.0 * static_cast<double>(p) /
                                                              static_cast<double>(rotary.turned));
    r(a, a) = r(b, b) = std::cos(angle);
    r(b, a) = std::sin(angle);
    r(a, b) = -std::sin(angle);
  }
  return r;
}

constexpr int kTokens = 40, kEmbeddingWidth = 6;

std::vector<double> row_major(const Eigen::MatrixXd& m) {
  std::vector<double> values;
  for (Eigen::Index i = 0; i < m.rows(); ++i) {
    for (Eigen::Index j = 0; j < m.cols(); ++j) values.push_back(m(i, j));
  }
  return values;
}

/// A GPT-2 of one layer and two heads with embeddings.
SafetensorsWriter small_gpt2(const Eigen::MatrixXd& embeddings, std::vector<double> gain) {
  SafetensorsWriter writer;
  writer.add("wte.weight", "F64",
             {static_cast<std::uint64_t>(embeddings.rows()),
              static_cast<std::uint64_t>(embeddings.cols())},
             row_major(embeddings));
  writer.add("h.0.attn.c_attn.weight", "F64", {kEmbeddingWidth, 3 * kEmbeddingWidth},
             row_major(random_matrix(kEmbeddingWidth, 3 * kEmbeddingWidth, 5)));
  writer.add("h.0.ln_1.weight", "F64", {kEmbeddingWidth}, gain);
  return writer;
}

const Config kGpt2 = Config::parse(R"({"model_type":"gpt2"})");

}  // namespace

TEST_CASE("logits of turned queries and keys are those of W at their offset") {
  for (const RotaryPairs pairs : {RotaryPairs::kHalves, RotaryPairs::kNeighbours}) {
    for (const Eigen::Index turned : {8, 4, 0}) {
      const Rotary rotary{pairs, turned, 100};
      const Eigen::MatrixXd query = random_matrix(5, 8, 1), key = random_matrix(5, 8, 2);
      const Eigen::VectorXd x = random_matrix(5, 1, 3), y = random_matrix(5, 1, 4);
      for (const double offset : {0.0, 1.0, 7.0}) {
        const Eigen::VectorXd q = rotation(8, rotary, 20 + offset) * (query.transpose() * x);
        const Eigen::VectorXd k = rotation(8, rotary, 20) * (key.transpose() * y);
        Eigen::MatrixXd at = query;
        turn_queries(at, rotary, {offset});
        CHECK(x.dot(at * key.transpose() * y) == Approx(q.dot(k)).epsilon(1e-12));
      }
    }
  }
}

TEST_CASE("the average over offsets is the mean of the matrices") {
  const Rotary rotary{RotaryPairs::kHalves, 6, 50};
  const Eigen::MatrixXd query = random_matrix(5, 8, 1);
  Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(5, 8);
  for (int offset = 0; offset < 9; ++offset) {
    Eigen::MatrixXd at = query;
    turn_queries(at, rotary, {static_cast<double>(offset)});
    mean += at / 9;
  }
  Eigen::MatrixXd averaged = query;
  turn_queries(averaged, rotary, {0, 9});
  CHECK((averaged - mean).norm() < 1e-12 * mean.norm());
  Eigen::MatrixXd first = query;
  turn_queries(first, rotary, {5, 1});  // the mean over offset 0 alone
  CHECK((first - query).norm() < 1e-12 * query.norm());
  Eigen::MatrixXd still = query;
  turn_queries(still, {}, {5});
  CHECK(still == query);
}

TEST_CASE("offsets out of range are refused by name") {
  const auto file =
      open(small_gpt2(random_matrix(kTokens, kEmbeddingWidth, 9), {1, 1, 1, 1, 1, 1}).bytes());
  const auto failure = [&](RotaryOffset offset) {
    return failure_of([&] { HeadScan(file, &kGpt2, {.heads = 2, .offset = offset}); }).item;
  };
  CHECK(failure({-1}) == "offset");
  CHECK(failure({1.5}) == "offset");
  CHECK(failure({std::numeric_limits<double>::quiet_NaN()}) == "offset");
  CHECK(failure({0, 1}) == "length");
  CHECK(failure({0, 10000}) == "length");
}

TEST_CASE("the covariance of embeddings is that of its definition, scaled to the width") {
  // A large common mean, which a sum of squares would lose digits to.
  const Eigen::MatrixXd embeddings = random_matrix(kTokens, kEmbeddingWidth, 9).array() + 1e5;
  const auto file = open(small_gpt2(embeddings, {1, 2, 3, 4, 5, 6}).bytes());
  HeadScan scan(file, &kGpt2, {.heads = 2});
  CHECK(scan.embeddings() == "wte.weight");
  EmbeddingCovariance job(file, scan.embeddings());
  while (!job.done()) job.advance();
  CHECK(job.rows_read() == kTokens);
  const Eigen::MatrixXd centred = embeddings.rowwise() - embeddings.colwise().mean();
  Eigen::MatrixXd expected = centred.transpose() * centred;
  expected *= kEmbeddingWidth / expected.trace();
  CHECK((*job.covariance() - expected).norm() < 1e-9);
  CHECK(job.covariance()->trace() == Approx(kEmbeddingWidth));

  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 16, 0));
  const HeadFactors head = in_double(scan.advance(1).at(0));
  const HeadReport report = report_head(head, kernel, {true, job.covariance()});
  const Eigen::MatrixXd w = head.query * head.key.transpose();
  const Eigen::MatrixXd seen = w * expected;
  CHECK(report.moments.traces.xi == Approx(seen.trace()));
  CHECK(report.moments.traces.eta_s == Approx((seen * seen).trace()));
  CHECK(report.moments.traces.eta_f == Approx((seen * w.transpose() * expected).trace()));
  CHECK(report.spectrum.eigenvalues.sum().real() == Approx(seen.trace()));
  const HeadReport traces = report_head(head, kernel, {false});
  CHECK(traces.moments.traces.xi == Approx(w.trace()));
  CHECK(traces.spectrum.eigenvalues.size() == 0);
  CHECK(std::isnan(traces.variance_modulus));
}

TEST_CASE("embeddings that are no frame of reference are refused by name") {
  const auto failure = [](const Eigen::MatrixXd& embeddings) {
    const auto file = open(small_gpt2(embeddings, {1, 1, 1, 1, 1, 1}).bytes());
    return failure_of([&] {
      EmbeddingCovariance job(file, "wte.weight");
      while (!job.done()) job.advance();
    });
  };
  CHECK_THAT(failure(Eigen::MatrixXd::Ones(5, kEmbeddingWidth)).message,
             ContainsSubstring("equal"));
  CHECK(failure(Eigen::MatrixXd::Ones(1, kEmbeddingWidth)).item == "wte.weight");
  Eigen::MatrixXd broken = random_matrix(5, kEmbeddingWidth, 1);
  broken(3, 2) = std::numeric_limits<double>::infinity();
  CHECK_THAT(failure(broken).message, ContainsSubstring("infinite"));
  const auto file = open(small_gpt2(random_matrix(5, 4, 1), {1, 1, 1, 1, 1, 1}).bytes());
  CHECK(failure_of([&] { EmbeddingCovariance(file, ""); }).item == "frame");
  EmbeddingCovariance narrow(file, "wte.weight");
  while (!narrow.done()) narrow.advance();
  HeadScan scan(file, &kGpt2, {.heads = 2});
  const HeadFactors head = in_double(scan.advance(1).at(0));
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 16, 0));
  const Failure width = failure_of([&] { report_head(head, kernel, {true, narrow.covariance()}); });
  check_failure(width, "layer 0 head 0", "embeddings have 4");
}

TEST_CASE("a gain that is not finite takes its heads out, counted and named") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto file =
      open(small_gpt2(random_matrix(5, kEmbeddingWidth, 1), {1, nan, 1, 1, 1, 1}).bytes());
  HeadScan scan(file, &kGpt2, {.heads = 2});
  CHECK(scan.advance().empty());
  REQUIRE(scan.excluded().size() == 2);
  CHECK(scan.excluded()[1].text() == "layer 0 head 1: 2 NaN and 0 infinite weights");
  HeadScan unfolded(file, &kGpt2, {.heads = 2, .fold_gains = false});
  CHECK(unfolded.advance().size() == 2);
}
