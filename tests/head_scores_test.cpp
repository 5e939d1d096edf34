// What the weights alone say of a head beside its spectrum: symmetry, directionality, and a bound of its logits.
#include <Eigen/SVD>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/head_report.h"
#include "checkpoint/layer_scores.h"
#include "checkpoint/logit_bound.h"
#include "checkpoint/open_checkpoint.h"
#include "paths.h"
#include "safetensors_writer.h"
#include "spectrum/directionality.h"
#include "support/row_forms.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

constexpr Index kWidth = 24, kHeadWidth = 4, kHeads = 2;
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

VectorXd numbers(Index count, std::uint64_t seed) { return random_matrix(count, 1, seed); }

void add(SafetensorsWriter& writer, const std::string& name, const MatrixXd& values) {
  std::vector<std::uint64_t> shape{static_cast<std::uint64_t>(values.cols())};
  if (values.rows() > 1) shape.insert(shape.begin(), static_cast<std::uint64_t>(values.rows()));
  const MatrixXd by_rows = values.transpose();
  writer.add(name, "F64", shape, {by_rows.data(), by_rows.data() + by_rows.size()});
}

/// One layer of Phi: a norm before the projections, all with biases.
struct PhiLayer {
  MatrixXd query = random_matrix(kWidth, kHeads* kHeadWidth, 1);  // d x outputs
  MatrixXd key = random_matrix(kWidth, kHeads* kHeadWidth, 2);
  VectorXd query_bias = numbers(kHeads * kHeadWidth, 3), key_bias = numbers(kHeads * kHeadWidth, 4);
  VectorXd gain = numbers(kWidth, 5), shift = numbers(kWidth, 6);

  SafetensorsWriter file() const {
    SafetensorsWriter writer;
    const std::string layer = "model.layers.0.";
    add(writer, layer + "self_attn.q_proj.weight", query.transpose());
    add(writer, layer + "self_attn.k_proj.weight", key.transpose());
    add(writer, layer + "self_attn.dense.weight", random_matrix(kWidth, kWidth, 7));
    add(writer, layer + "self_attn.q_proj.bias", query_bias.transpose());
    add(writer, layer + "self_attn.k_proj.bias", key_bias.transpose());
    add(writer, layer + "input_layernorm.weight", gain.transpose());
    add(writer, layer + "input_layernorm.bias", shift.transpose());
    return writer;
  }

  /// The logit of head 0 at offset 0 for two outputs of the norm before its gain.
  double logit(const VectorXd& from, const VectorXd& to) const {
    const auto token = [&](const VectorXd& n) -> VectorXd { return gain.cwiseProduct(n) + shift; };
    const VectorXd q = query.transpose() * token(from) + query_bias;
    const VectorXd k = key.transpose() * token(to) + key_bias;
    return q.head(kHeadWidth).dot(k.head(kHeadWidth)) / std::sqrt(static_cast<double>(kHeadWidth));
  }
};

const std::string kPhi = R"({"model_type":"phi","num_attention_heads":2,"hidden_size":24})";

HeadFactors first_head(const SafetensorsWriter& writer, const HeadSettings& settings = {},
                       const std::string& config = kPhi) {
  const Config parsed = Config::parse(config);
  HeadScan scan(open(writer.bytes()), &parsed, settings);
  return in_double(scan.advance(1).front());
}

double bound_of(const HeadFactors& head) { return logit_bound(head, kUnknown); }

}  // namespace

TEST_CASE("MiniLM's heads and layers have numpy's scores and bounds of the logits",
          "[checkpoint][sample]") {
  const nlohmann::json expected = reference("minilm-heads.json");
  const Checkpoint checkpoint = open_checkpoint(minilm_folder());
  HeadScan scan(checkpoint.tensors, &*checkpoint.config);
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 128, 0));
  LayerScores layers;
  std::size_t at = 0;
  while (!scan.done()) {
    for (const ScannedHead& head : scan.advance(1)) {
      while (layers.has_tiles()) layers.score_tile();
      layers.add(head);
      const HeadReport report = report_head(head, kernel, {});
      const nlohmann::json& row = expected.at("heads").at(at++);
      INFO("layer " << report.layer << " head " << report.head);
      CHECK_THAT(2 * symmetric_share(report.moments.traces) - 1,
                 WithinAbs(row.at("symmetry").get<double>(), 1e-9));
      CHECK_THAT(report.directionality, WithinAbs(row.at("directionality").get<double>(), 1e-9));
      CHECK_THAT(report.logit_bound, WithinRel(row.at("logit_bound").get<double>(), 1e-7));
    }
  }
  CHECK(at == 72);
  layers.finish();
  while (layers.has_tiles()) layers.score_tile();
  const std::vector<LayerScore>& scores = layers.scores();
  REQUIRE(scores.size() == 6);
  for (std::size_t layer = 0; layer < scores.size(); ++layer) {
    const nlohmann::json& row = expected.at("layers").at(layer);
    CHECK(scores[layer].heads == 12);
    CHECK_THAT(scores[layer].symmetry, WithinAbs(row.at("symmetry").get<double>(), 1e-9));
    CHECK_THAT(scores[layer].directionality,
               WithinAbs(row.at("directionality").get<double>(), 1e-9));
  }
}

TEST_CASE("no token that a norm can give has a larger logit than the bound", "[checkpoint]") {
  const PhiLayer layer;
  const HeadFactors head = first_head(layer.file());
  const double bound = bound_of(head);
  double most = 0;
  for (std::uint64_t draw = 0; draw < 400; ++draw) {
    const VectorXd from = numbers(kWidth, 100 + 2 * draw), to = numbers(kWidth, 101 + 2 * draw);
    const double length = std::sqrt(static_cast<double>(kWidth));
    most =
        std::max(most, std::abs(layer.logit(length * from.normalized(), length * to.normalized())));
  }
  CHECK(most <= bound);
  CHECK(most > bound / 10);
}

TEST_CASE("without biases the bound is the logit of the leading singular vectors", "[checkpoint]") {
  PhiLayer layer;
  for (VectorXd* bias : {&layer.query_bias, &layer.key_bias, &layer.shift}) bias->setZero();
  const HeadFactors head = first_head(layer.file());
  const Eigen::JacobiSVD<MatrixXd> svd(head.query * head.key.transpose(),
                                       Eigen::ComputeThinU | Eigen::ComputeThinV);
  const double length = std::sqrt(static_cast<double>(kWidth));
  const double reached = layer.logit(length * svd.matrixU().col(0), length * svd.matrixV().col(0));
  CHECK_THAT(bound_of(head), WithinRel(std::abs(reached), 1e-9));
  CHECK_THAT(logit_bound(head, svd.singularValues()[0]), WithinRel(std::abs(reached), 1e-12));
}

TEST_CASE("there is no bound where the length of the inputs is not known", "[checkpoint]") {
  const PhiLayer layer;
  CHECK(bound_of(first_head(layer.file())) > 0);
  CHECK(std::isnan(bound_of(first_head(layer.file(), {.fold_gains = false}))));
  CHECK(std::isnan(bound_of(first_head(layer.file(), {.offset = {.average = 4}}))));
  SafetensorsWriter normed = layer.file();
  add(normed, "model.layers.0.self_attn.q_layernorm.weight", MatrixXd::Ones(1, kHeadWidth));
  add(normed, "model.layers.0.self_attn.k_layernorm.weight", MatrixXd::Ones(1, kHeadWidth));
  constexpr const char* kNormed =
      R"({"model_type":"phi","num_attention_heads":2,"hidden_size":24,"qk_layernorm":true})";
  CHECK(std::isnan(bound_of(first_head(normed, {}, kNormed))));
  PhiLayer broken;
  broken.shift[3] = kUnknown;
  CHECK(std::isnan(bound_of(first_head(broken.file()))));
}

TEST_CASE("forms of rows are those of the dense product for every remainder of a strip or a tile",
          "[spectrum]") {
  for (const Index count : {1, 7, 64, 130}) {
    for (const Index inner : {1, 4, 15, 17, 33}) {
      const MatrixXd rows = random_matrix(count, inner, 10),
                     square = random_matrix(inner, inner, 11);
      const MatrixXd upper = square.triangularView<Eigen::Upper>();
      const VectorXd dense = (rows * upper).cwiseProduct(rows).rowwise().sum();
      // What is below the diagonal does not count.
      CHECK((row_forms(rows, square) - dense).norm() < 1e-13 * dense.norm());
      const VectorXd single =
          row_forms(Eigen::MatrixXf(rows.cast<float>()), Eigen::MatrixXf(square.cast<float>()));
      CHECK((single - dense).norm() < 1e-5 * dense.norm());
    }
  }
}

TEST_CASE("directionality is 1 for outlying columns, -1 for outlying rows, 0 for neither",
          "[spectrum]") {
  const Index d = 12;
  VectorXd flat = VectorXd::Ones(d), peak = flat;
  peak[4] = 9;
  CHECK(directionality(flat, peak) == 1);
  CHECK(directionality(peak, flat) == -1);
  CHECK(directionality(flat, flat) == 0);
  CHECK(directionality(peak, peak) == 0);
  CHECK(std::isnan(directionality(VectorXd::Ones(1), VectorXd::Ones(1))));
  // One large coordinate of the keys is a large column of W.
  MatrixXd query = random_matrix(kWidth, kHeadWidth, 8), key = random_matrix(kWidth, kHeadWidth, 9);
  key.row(3) *= 20;
  const MatrixXd w = query * key.transpose();
  const double dense = directionality(w.rowwise().norm(), w.colwise().norm().transpose());
  CHECK(dense > 0.5);
  const double found = directionality_of_factors(query, key, products_of_factors(query, key));
  CHECK_THAT(found, WithinAbs(dense, 1e-12));
  CHECK_THAT(directionality_of_factors(key, query, products_of_factors(key, query)),
             WithinAbs(-found, 1e-12));
  // In single precision, at any scale.
  for (const float scale : {1e-30f, 1.0f, 1e15f}) {
    const Eigen::MatrixXf single = scale * query.cast<float>(), other = key.cast<float>();
    CHECK_THAT(directionality_of_factors(single, other, products_of_factors(single, other)),
               WithinAbs(dense, 1e-5));
  }
}
