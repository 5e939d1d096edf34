#include "collapse/stack.h"

#include <string>

#include "nn/attention.h"
#include "nn/mlp.h"
#include "simulation/logit_sampler.h"
#include "support/error.h"
#include "support/gemm.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

// The sample that StackRun runs.
constexpr std::uint64_t kSample = 0;

// Sum over heads of their values' averages, d x T; keeps the heads' attention in the trace.
MatrixXd attend(const StackSettings& settings, const LayerDraw& draw,
                const EnsembleWeights& spectrum, LayerTrace& trace) {
  const MatrixXd& x = trace.normalized;
  const Index d = x.rows(), length = x.cols(), part = d / settings.weights.heads;
  const Entries visible = settings.mask.looks_back() ? Entries::upper : Entries::all;
  const MatrixXd values = times(draw.value, x);
  MatrixXd moved(d, length);
  for (Index head = 0; head < settings.weights.heads; ++head) {
    // x_i^T W x_t: queries W X and keys X.
    const MatrixXd queries = times(draw.query_key(static_cast<std::size_t>(head), spectrum), x);
    const HeadInput<double> input{factor(queries.data(), d),
                                  factor(x.data(), d),
                                  factor(values.data() + head * part, d),
                                  d,
                                  part,
                                  length};
    const auto softmax = [&](Eigen::Map<MatrixXd> logits) {
      logits = attention_weights(logits, settings.temperature, settings.softmax, settings.mask);
    };
    MatrixXd& weights = trace.attention.emplace_back(length, length);
    attend_head(input, visible, softmax, weights.data(), moved.data() + head * part, d);
  }
  return moved;
}

MatrixXd feed_forward(const LayerDraw& draw, const MatrixXd& x) {
  MatrixXd hidden(draw.up.rows(), x.cols()), out(x.rows(), x.cols());
  mlp_forward({draw.up.data(), nullptr, draw.down.data(), nullptr, Activation::relu}, x, hidden,
              hidden, out);
  return out;
}

}  // namespace

void check_stack(const StackSettings& settings) {
  checked(shared::kDepth, static_cast<double>(settings.depth));
  checked(kResidualWeight, settings.residual_weight);
  checked(shared::kTemperature, settings.temperature);
  checked(shared::kWindow, static_cast<double>(settings.mask.window));
  checked(shared::kBlocks, static_cast<double>(settings.mask.blocks));
  checked(shared::kPrefix, static_cast<double>(settings.mask.prefix));
  checked(shared::kSelected, static_cast<double>(settings.mask.selected));
  // Without a prefix and with a token per block every query would see one key, whose entropy is not defined.
  const Mask& mask = settings.mask;
  const Index length = settings.tokens.length;
  if (mask.kind == MaskKind::blocks && mask.prefix == 0 && mask.blocks > length) {
    throw InvalidArgument(
        "blocks", "be at most the length without a prefix",
        "length " + std::to_string(length) + ", blocks " + std::to_string(mask.blocks));
  }
  check_weights(settings.weights);
}

MatrixXd stack_tokens(const StackSettings& settings, std::uint64_t sample) {
  const EnsembleSettings& ensemble = settings.weights.ensemble;
  return sample_tokens(settings.tokens, width_of(ensemble), ensemble.seed, sample);
}

LayerTrace run_layer(const StackSettings& settings, const LayerDraw& draw,
                     const EnsembleWeights& spectrum, const MatrixXd& tokens) {
  const auto before = [&](const MatrixXd& x) {
    return settings.place == NormPlace::pre ? normalized(x, settings.norm) : x;
  };
  const auto after = [&](const MatrixXd& x) {
    return settings.place == NormPlace::post ? normalized(x, settings.norm) : x;
  };
  LayerTrace trace;
  trace.normalized = before(tokens);
  trace.tokens = after(settings.residual_weight * tokens + attend(settings, draw, spectrum, trace));
  if (draw.up.size() > 0) {
    trace.tokens =
        after(settings.residual_weight * trace.tokens + feed_forward(draw, before(trace.tokens)));
  }
  return trace;
}

StackRun::StackRun(const StackSettings& settings, const SpectrumPoint& point, Eigen::Index layers)
    : settings_(settings), wanted_(layers), draw_(settings.weights, kSample) {
  check_stack(settings_);
  if (wanted_ > settings_.depth) {
    throw InvalidArgument(
        "layer", "be at most the depth",
        "depth " + std::to_string(settings_.depth) + ", layer " + std::to_string(wanted_));
  }
  spectrum_ = Ensemble(settings_.weights.ensemble).weights(point.mean, point.variance);
  trace_.tokens = stack_tokens(settings_, kSample);
}

bool StackRun::advance(Eigen::Index layers) {
  for (; layers > 0 && done_ < wanted_; --layers) {
    trace_ = run_layer(settings_, draw_.layer(done_++), spectrum_, trace_.tokens);
  }
  return done_ == wanted_;
}

}  // namespace eigenscope
