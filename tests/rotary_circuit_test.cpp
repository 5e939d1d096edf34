// W_QK of a rotary head over the distance, against numpy and against the scan at each offset.
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/rotary.h"
#include "checkpoint/rotary_circuit.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

MatrixXd circuit_waves(Index width, Index head_width, double seed) {
  MatrixXd weight(width, head_width);
  for (Index i = 0; i < width; ++i) {
    for (Index j = 0; j < head_width; ++j) {
      weight(i, j) = std::sin(1.3 * static_cast<double>(i * head_width + j) + seed);
    }
  }
  return weight;
}

void check_curve(const VectorXd& found, const nlohmann::json& expected) {
  REQUIRE(found.size() == static_cast<Index>(expected.size()));
  for (Index i = 0; i < found.size(); ++i) {
    INFO("place " << i);
    CHECK_THAT(found[i], WithinAbs(expected[static_cast<std::size_t>(i)].get<double>(), 1e-9));
  }
}

}  // namespace

TEST_CASE("a rotary head has numpy's spectrum, logits and energies at every distance",
          "[checkpoint]") {
  const nlohmann::json expected = reference("rotary-circuits.json");
  const Index width = expected.at("width"), head_width = expected.at("head_width");
  const MatrixXd query = circuit_waves(width, head_width, 1);
  const MatrixXd key = circuit_waves(width, head_width, 2);
  REQUIRE(expected.at("cases").size() == 3);
  for (const nlohmann::json& one : expected.at("cases")) {
    const bool halves = one.at("pairs") == "halves";
    CAPTURE(halves, one.at("turned").get<int>());
    const Rotary rotary{halves ? RotaryPairs::kHalves : RotaryPairs::kNeighbours,
                        one.at("turned").get<Index>(), expected.at("base").get<double>()};
    const RotaryCircuit found =
        rotary_circuit(query, key, rotary, expected.at("distances").get<Index>());
    check_curve(found.mean, one.at("mean"));
    check_curve(found.variance, one.at("variance"));
    check_curve(found.variance_frobenius, one.at("variance_frobenius"));
    check_curve(found.logit, one.at("logit"));
    check_curve(found.angle, one.at("angle"));
    check_curve(found.query_energy, one.at("query_energy"));
    check_curve(found.key_energy, one.at("key_energy"));
    CHECK_THAT(found.previous_token, WithinAbs(one.at("previous_token").get<double>(), 1e-9));
  }
}

TEST_CASE("a key that is turned to meet the query one token later prefers the previous token",
          "[checkpoint]") {
  const Rotary rotary{RotaryPairs::kHalves, 8, 50};
  const MatrixXd query = random_matrix(24, 8, 3);
  MatrixXd key = query;
  turn_queries(key, rotary, {.offset = 1});  // W(1) = W_Q W_Q^T, whose trace is the largest
  const RotaryCircuit found = rotary_circuit(query, key, rotary, 32);
  Index at = 0;
  found.logit.maxCoeff(&at);
  CHECK(at == 1);
  CHECK(found.previous_token > 0.5);
  CHECK(failure_of([&] { rotary_circuit(query, key, rotary, 1); }).item == "length");
}
