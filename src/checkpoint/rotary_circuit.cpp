#include "checkpoint/rotary_circuit.h"

#include <cmath>
#include <string>

#include "checkpoint/rotary.h"
#include "support/error.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Shares of the pairs in the squared norm of the columns of a d x d_h factor, by its d_h x d_h Gram matrix.
VectorXd energies(const MatrixXd& gram, const Rotary& rotary) {
  const Index pairs = rotary.turned / 2;
  VectorXd shares(pairs);
  for (Index pair = 0; pair < pairs; ++pair) {
    const auto [first, second] = rotary_places(rotary.pairs, pair, pairs);
    shares[pair] = (gram(first, first) + gram(second, second)) / gram.trace();
  }
  return shares;
}

}  // namespace

RotaryCircuit rotary_circuit(const MatrixXd& query, const MatrixXd& key, const Rotary& rotary,
                             Index distances) {
  if (distances < 2) {
    throw InvalidArgument("length", "be at least 2", "found " + std::to_string(distances));
  }
  const MatrixXd core = products_of_factors(query, key).core;
  const MatrixXd queries = transposed_times(query, query), keys = transposed_times(key, key);
  const double temperature = std::sqrt(static_cast<double>(query.cols()));
  Rotary turns = rotary;
  turns.logit_factor = 1;  // it is in the factors

  RotaryCircuit circuit;
  for (VectorXd* curve :
       {&circuit.mean, &circuit.variance, &circuit.variance_frobenius, &circuit.logit}) {
    curve->resize(distances);
  }
  double spread = 0;
  for (Index distance = 0; distance < distances; ++distance) {
    const RotaryOffset at{.offset = static_cast<double>(distance)};
    MatrixXd turned = core;
    turn_queries(turned, turns, at);
    MatrixXd gram = queries;  // R^T Q^T Q R, turned on both sides
    turn_queries(gram, turns, at);
    gram.transposeInPlace();
    turn_queries(gram, turns, at);
    SpectralMoments moments;
    moments.width = query.rows();
    moments.traces = {turned.trace(), turned.cwiseProduct(turned.transpose()).sum(),
                      gram.cwiseProduct(keys).sum()};
    circuit.mean[distance] = moments.mean();
    circuit.variance[distance] = moments.variance();
    circuit.variance_frobenius[distance] = moments.variance_frobenius();
    circuit.logit[distance] = moments.traces.xi / temperature;
    spread += std::sqrt(moments.traces.eta_f) / temperature;
  }
  const auto count = static_cast<double>(distances);
  const double others = (circuit.logit.sum() - circuit.logit[1]) / (count - 1);
  circuit.previous_token = (circuit.logit[1] - others) / (spread / count);
  circuit.angle.resize(rotary.turned / 2);
  for (Index pair = 0; pair < circuit.angle.size(); ++pair) {
    circuit.angle[pair] = angle_of(rotary, pair);
  }
  circuit.query_energy = energies(queries, rotary);
  circuit.key_energy = energies(keys, rotary);
  return circuit;
}

}  // namespace eigenscope
