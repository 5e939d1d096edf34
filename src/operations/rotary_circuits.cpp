// W_QK of the rotary heads of a checkpoint over the distance between query and key.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/head_counts.h"
#include "checkpoint/heads.h"
#include "checkpoint/rotary_circuit.h"
#include "operations/checkpoint_input.h"
#include "operations/operations.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct RotaryCircuitsInput {
  CheckpointFiles files;
  std::string heads;
  Index length = 0;
};

void describe(InputFields& f, RotaryCircuitsInput& in) {
  describe(f, in.files);
  f.text("heads", in.heads, "attention heads per layer", "from config.json");
  f.number_from(64, shared::kLength, in.length, "distances D: 0 to length - 1 tokens");
}

struct CircuitRow {
  std::string stack;
  int layer = 0, head = 0;
  Index width = 0, head_width = 0;
  RotaryCircuit circuit;
};

struct RotaryCircuitsResult {
  std::string model;
  std::vector<CircuitRow> rows;
  int heads_read = 0;
};

void describe(ResultFields& out, const RotaryCircuitsResult& result) {
  out.list(
      "heads", result.rows, "one row per head with rotary positions; empty until all are read",
      [&](ResultFields& inner, const CircuitRow& row) {
        const RotaryCircuit& circuit = row.circuit;
        const Dimension distance{"distance", circuit.mean.size()},
            pair{"pair", circuit.angle.size()};
        inner.text("model", result.model, "the checkpoint");
        inner.text("stack", row.stack, "stack of the layer; empty in a model with one stack");
        inner.integer("layer", row.layer, "layer, as numbered in the checkpoint");
        inner.integer("head", row.head, "head in the layer, from 0");
        inner.integer("width", row.width, "model width d");
        inner.integer("head_width", row.head_width, "head width d_h");
        inner.nullable("previous_token", circuit.previous_token,
                       "excess of logit at distance 1 over its mean at the other distances, in "
                       "standard deviations ||W(D)||_F/sqrt(d_h) of the logits of independent "
                       "tokens (mean over D)");
        inner.array("mean", circuit.mean, {distance},
                    "mean tr(W(D))/d of the eigenspectrum of W(D) = W_Q R(D) W_K^T for keys D "
                    "tokens before their query, from D = 0");
        inner.array("variance", circuit.variance, {distance}, "tr(W(D)^2)/d - mean^2");
        inner.array("variance_frobenius", circuit.variance_frobenius, {distance},
                    "||W(D)||_F^2/d - mean^2");
        inner.array("logit", circuit.logit, {distance},
                    "tr(W(D))/sqrt(d_h): expected logit of a token of covariance I and its copy "
                    "D tokens later");
        inner.array("angle", circuit.angle, {pair},
                    "angle by which one position turns each pair of coordinates, in radians");
        inner.array("query_energy", circuit.query_energy, {pair},
                    "share of each pair in ||W_Q||_F^2");
        inner.array("key_energy", circuit.key_energy, {pair}, "share of each pair in ||W_K||_F^2");
      });
  out.integer("heads_read", result.heads_read, "heads read so far");
}

class RotaryCircuitsJob {
 public:
  explicit RotaryCircuitsJob(const RotaryCircuitsInput& in)
      : tensors_(open_tensors(in.files)), length_(in.length), scan_(open(in)) {}

  bool advance(double work) {
    const auto distances = static_cast<double>(length_);
    for (double left = work; left >= 0 && !scan_.done();) {
      for (ScannedHead& scanned : scan_.advance(1)) {
        const HeadFactors head = in_double(std::move(scanned));
        const auto d = static_cast<double>(head.query.rows());
        const auto d_h = static_cast<double>(head.query.cols());
        left -= (3 * d + 6 * distances) * d_h * d_h;
        if (!head.rotary) continue;
        rows_.push_back(
            {head.stack, head.layer, head.head, head.query.rows(), head.query.cols(),
             rotary_circuit(head.query, head.key, rotary_.at({head.stack, head.layer}), length_)});
      }
    }
    return scan_.done();
  }
  double progress() const { return static_cast<double>(scan_.heads_read()) / scan_.total_heads(); }
  RotaryCircuitsResult result() const {
    RotaryCircuitsResult result{tensors_->name(), {}, scan_.heads_read()};
    if (scan_.done()) result.rows = rows_;
    return result;
  }

 private:
  HeadScan open(const RotaryCircuitsInput& in) {
    HeadSettings settings;
    if (!in.heads.empty()) set_head_counts(list_items(in.heads), settings);
    const std::optional<Config> config = read_config(in.files);
    const Config* const known = config ? &*config : nullptr;
    // Weights at offset 0; angles that hold up to the largest distance.
    HeadSettings farthest = settings;
    farthest.offset.offset = static_cast<double>(length_ - 1);
    for (const LayerPlan& layer : layers_at(known, farthest)) {
      if (layer.rotary.pairs != RotaryPairs::kNone) {
        rotary_[{layer.stack, layer.tensors.layer}] = layer.rotary;
      }
    }
    if (rotary_.empty()) throw FormatError(tensors_->name(), "no head has rotary positions");
    return {tensors_, known, settings};
  }

  std::vector<LayerPlan> layers_at(const Config* config, const HeadSettings& farthest) const {
    try {
      return plan_heads(*tensors_, config, farthest).layers;
    } catch (const InvalidArgument& error) {
      // There is no offset to give: what the model lacks is named instead.
      if (error.field() != "offset") throw;
      const std::string said = error.what();
      throw InvalidArgument("model", "have rotary positions that are known at distances above 0",
                            said.substr(said.find(": ") + 2));
    }
  }

  std::shared_ptr<const Safetensors> tensors_;
  Index length_;
  std::map<std::pair<std::string, int>, Rotary> rotary_;
  HeadScan scan_;
  std::vector<CircuitRow> rows_;
};

}  // namespace

const Operation rotary_circuits_operation = operation<RotaryCircuitsInput, RotaryCircuitsJob>(
    "rotary-circuits", "W_QK of every rotary head over the distance between query and key",
    "eigenscope rotary-circuits web/models/parallel-contexts/seed1.safetensors\n"
    "eigenscope rotary-circuits web/models/parallel-contexts/seed1.safetensors --csv",
    "heads");

}  // namespace eigenscope
