#include "checkpoint/heads.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace eigenscope {
namespace {

HeadGrid grid_of(const LayerPlan& layer) {
  return {static_cast<std::uint64_t>(layer.heads), static_cast<std::uint64_t>(layer.key_heads),
          static_cast<std::uint64_t>(layer.head_width)};
}

template <class Values>
void count_nonfinite(const Values& values, NonFinite& faults) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (std::isnan(value)) ++faults.nan;
    if (std::isinf(value)) ++faults.infinite;
  }
}

Eigen::VectorXd read_values(const Safetensors& file, const std::string& name, std::uint64_t first,
                            int size) {
  Eigen::VectorXd values(size);
  file.read_elements(name, first, {values.data(), static_cast<std::size_t>(size)});
  return values;
}

/// "ln_1" of "h.0.ln_1.weight".
std::string norm_of(const std::string& gain) {
  const std::size_t end = gain.rfind('.');
  if (end == std::string::npos) return gain;
  const std::size_t begin = gain.substr(0, end).rfind('.');
  return gain.substr(begin + 1, end - begin - 1);  // npos + 1 is 0
}

std::string norms_of(const LayerTensors& tensors) {
  std::string text, last;
  for (const std::string* gain :
       {&tensors.query_gain, &tensors.key_gain, &tensors.query_norm_gain, &tensors.key_norm_gain}) {
    if (gain->empty() || *gain == last) continue;
    text += (text.empty() ? "" : " ") + norm_of(*gain);
    last = *gain;
  }
  return text;
}

}  // namespace

std::string ExcludedHead::text() const {
  return (stack.empty() ? "" : stack + " ") + "layer " + std::to_string(layer) + " head " +
         std::to_string(head) + ": " + std::to_string(faults.nan) + " NaN and " +
         std::to_string(faults.infinite) + " infinite weights";
}

HeadScan::HeadScan(std::shared_ptr<const Safetensors> tensors, const Config* config,
                   const HeadSettings& settings)
    : tensors_(std::move(tensors)),
      plan_(plan_heads(*tensors_, config, settings)),
      offset_(settings.offset) {
  for (const LayerPlan& layer : plan_.layers) total_heads_ += layer.heads;
}

std::vector<HeadFactors> HeadScan::advance(int most) {
  std::vector<HeadFactors> finite;
  if (done()) return finite;
  const LayerPlan& layer = plan_.layers[layer_];
  const int left = layer.heads - head_;
  const int end = head_ + (most <= 0 ? left : std::min(most, left));
  std::vector<ExcludedHead> excluded;
  for (int head = head_; head < end; ++head) {
    Part query = read_part(layer, Projection::query, head);
    const Part& key = read_key(layer, head);
    const NonFinite faults{query.faults.nan + key.faults.nan,
                           query.faults.infinite + key.faults.infinite};
    if (faults.nan + faults.infinite == 0) {
      finite.push_back(factors_of(layer, head, std::move(query), key));
    } else {
      excluded.push_back({layer.stack, layer.tensors.layer, head, faults});
    }
  }
  // Only now, so that a failed read leaves the scan where it was.
  excluded_.insert(excluded_.end(), excluded.begin(), excluded.end());
  heads_read_ += end - head_;
  head_ = end;
  if (head_ == layer.heads) {
    ++layer_;
    head_ = 0;
  }
  return finite;
}

HeadFactors HeadScan::factors_of(const LayerPlan& layer, int head, Part query,
                                 const Part& key) const {
  HeadFactors factors;
  factors.layer = layer.tensors.layer;
  factors.head = head;
  factors.stack = layer.stack;
  factors.folded = norms_of(layer.tensors);
  factors.rotary = layer.rotary.pairs != RotaryPairs::kNone;
  factors.bias_query = query.bias;
  factors.bias_key = key.bias;
  factors.query = std::move(query.weight);
  factors.key = key.weight;
  turn_queries(factors.query, layer.rotary, offset_);
  return factors;
}

const HeadScan::Part& HeadScan::read_key(const LayerPlan& layer, int head) {
  const std::uint64_t first = first_output(plan_.family->layout, Projection::key, grid_of(layer),
                                           static_cast<std::uint64_t>(head));
  if (!key_ || key_->layer != layer_ || key_->first != first) {
    key_ = SharedKey{layer_, first, read_part(layer, Projection::key, head)};
  }
  return key_->part;
}

HeadScan::Part HeadScan::read_part(const LayerPlan& layer, Projection projection, int head) const {
  const bool of_query = projection == Projection::query;
  const LayerTensors& names = layer.tensors;
  const HeadGrid grid = grid_of(layer);
  const auto index = static_cast<std::uint64_t>(head);
  const std::uint64_t first = first_output(plan_.family->layout, projection, grid, index);
  Part part{read_weight(of_query ? names.query_weight : names.key_weight, first, layer)};
  count_nonfinite(part.weight, part.faults);

  const std::string& gain = of_query ? names.query_gain : names.key_gain;
  if (!gain.empty()) {
    part.weight.array().colwise() *= read_gain(gain, 0, layer.width, part.faults).array();
  }
  const std::string& bias = of_query ? names.query_bias : names.key_bias;
  if (!bias.empty()) {
    const double norm = read_values(*tensors_, bias, first, layer.head_width).norm();
    part.bias = norm / part.weight.norm();
  }
  const std::string& norm = of_query ? names.query_norm_gain : names.key_norm_gain;
  if (!norm.empty()) {
    // One gain for every head, or one for each.
    const bool each = tensors_->tensor(norm).shape[0] != grid.head_width;
    const std::uint64_t place = of_query ? index : index / grid.group();
    part.weight.array().rowwise() *=
        read_gain(norm, each ? place * grid.head_width : 0, layer.head_width, part.faults)
            .transpose()
            .array();
  }
  return part;
}

Eigen::VectorXd HeadScan::read_gain(const std::string& name, std::uint64_t first, int size,
                                    NonFinite& faults) const {
  Eigen::VectorXd gain = read_values(*tensors_, name, first, size);
  count_nonfinite(gain, faults);
  if (plan_.family->gain_plus_one) gain.array() += 1;
  return gain;
}

Eigen::MatrixXd HeadScan::read_weight(const std::string& name, std::uint64_t first,
                                      const LayerPlan& layer) const {
  Eigen::MatrixXd weight(layer.width, layer.head_width);
  if (!plan_.family->inputs_first()) {
    // The file's rows, one after another, are the columns of the transpose.
    tensors_->read_elements(name, first * static_cast<std::uint64_t>(layer.width),
                            std::span(weight.data(), static_cast<std::size_t>(weight.size())));
    return weight;
  }
  const std::uint64_t all = tensors_->tensor(name).shape[1];
  std::vector<double> row(static_cast<std::size_t>(layer.head_width));
  for (Eigen::Index i = 0; i < weight.rows(); ++i) {
    tensors_->read_elements(name, static_cast<std::uint64_t>(i) * all + first, row);
    weight.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), weight.cols());
  }
  return weight;
}

}  // namespace eigenscope
