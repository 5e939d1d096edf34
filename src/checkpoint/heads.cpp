#include "checkpoint/heads.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "spectrum/weighted_spectrum.h"
#include "support/finite.h"
#include "support/gemm.h"

namespace eigenscope {
namespace {

HeadGrid grid_of(const LayerPlan& layer) {
  return {static_cast<std::uint64_t>(layer.heads), static_cast<std::uint64_t>(layer.key_heads),
          static_cast<std::uint64_t>(layer.head_width)};
}

template <class Values>
auto entries(Values& values) {
  return std::span(values.data(), static_cast<std::size_t>(values.size()));
}

template <class Values>
void count_nonfinite(const Values& values, NonFinite& faults) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const auto value = values.data()[i];
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
       {&tensors.query.gain, &tensors.key.gain, &tensors.query.latent_gain,
        &tensors.key.latent_gain, &tensors.query.norm_gain, &tensors.key.norm_gain}) {
    if (gain->empty() || *gain == last) continue;
    text += (text.empty() ? "" : " ") + norm_of(*gain);
    last = *gain;
  }
  return text;
}

}  // namespace

HeadFactors in_double(ScannedHead head) {
  if (auto* const wide = std::get_if<HeadFactors>(&head)) return std::move(*wide);
  auto& single = std::get<FactorsOf<float>>(head);
  return {single.layer,
          single.head,
          single.query.cast<double>(),
          single.key.cast<double>(),
          std::move(single.stack),
          std::move(single.folded),
          single.rotary,
          single.bias_query,
          single.bias_key,
          std::move(single.query_input),
          std::move(single.key_input),
          single.latent_bound,
          single.sink_logit,
          single.known_scale,
          single.same_tokens};
}

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

void HeadScan::keep_part(int number, int parts) {
  int before = 0;
  std::erase_if(plan_.layers, [&](const LayerPlan& layer) {
    // A layer belongs to the part in which its middle lies.
    const int part = (2 * before + layer.heads) * parts / (2 * total_heads_);
    before += layer.heads;
    return part != number;
  });
  total_heads_ = 0;
  for (const LayerPlan& layer : plan_.layers) total_heads_ += layer.heads;
}

std::vector<ScannedHead> HeadScan::advance(int most, Needed needed) {
  std::vector<ScannedHead> finite;
  if (done()) return finite;
  const LayerPlan& layer = plan_.layers[layer_];
  const auto is_short = [&](const ProjectionTensors& projection) {
    const auto is_bf16 = [&](const std::string& weight) {
      return weight.empty() || tensors_->tensor(weight).dtype == Dtype::kBF16;
    };
    return is_bf16(projection.weight) && is_bf16(projection.latent);
  };
  const bool single = is_short(layer.tensors.query) && is_short(layer.tensors.key);
  const auto is_bare = [](const ProjectionTensors& projection) {
    return !projection.latent.empty() && projection.bias.empty() && projection.norm_gain.empty();
  };
  const bool compressed = needed != Needed::factors && layer.tensors.sinks.empty() &&
                          is_bare(layer.tensors.query) && is_bare(layer.tensors.key);
  const int left = layer.heads - head_;
  const int end = head_ + (most <= 0 ? left : std::min(most, left));
  std::vector<ExcludedHead> excluded;
  for (int head = head_; head < end; ++head) {
    NonFinite faults;
    const auto keep = [&](auto read) {
      if (read) finite.emplace_back(std::move(*read));
      return read.has_value();
    };
    if (compressed) {
      const bool bounded = needed == Needed::bounded_products;
      if (single ? keep(read_compressed<float>(layer, head, bounded))
                 : keep(read_compressed<double>(layer, head, bounded))) {
        continue;
      }
    }
    if (single && keep(read_head<float>(layer, head, faults))) continue;
    faults = {};
    if (keep(read_head<double>(layer, head, faults))) continue;
    excluded.push_back({layer.stack, layer.tensors.layer, head, faults});
  }
  // Only now, so that a failed read leaves the scan where it was.
  excluded_.insert(excluded_.end(), excluded.begin(), excluded.end());
  heads_read_ += end - head_;
  head_ = end;
  if (head_ == layer.heads) {
    ++layer_;
    head_ = 0;
    shared_.clear();
    compressions_.clear();
    latents_.reset();
  }
  return finite;
}

namespace {

/// Whether a head has the bound of latent attention, see logit_bound().
bool has_latent_bound(const LayerPlan& layer, const RotaryOffset& offset) {
  return layer.normed && layer.latent.compressed > 0 && offset.average <= 0;
}

/// The bound of latent attention, from B_Q with the rotary coordinates first, the compressed part of B_K, and the Gram
/// matrix of the rotary keys.
double latent_bound(const LayerPlan& layer, const Eigen::MatrixXd& queries,
                    const Eigen::MatrixXd& keys, const Eigen::MatrixXd& turned_keys) {
  const Eigen::Index compressed = layer.latent.compressed, turned = layer.head_width - compressed;
  // The output of a norm before its gain has a squared length of at most its width.
  const auto largest = [&](const Eigen::MatrixXd& a, Eigen::MatrixXd key_gram, Eigen::Index width) {
    FactorProducts products;
    products.query = transposed_times(a, a);
    products.key = std::move(key_gram);
    return largest_singular_value(products) *
           std::sqrt(static_cast<double>(a.rows()) * static_cast<double>(width));
  };
  return (largest(queries.rightCols(compressed), transposed_times(keys, keys), keys.rows()) +
          largest(queries.leftCols(turned), turned_keys, layer.width)) /
         std::sqrt(static_cast<double>(layer.head_width));
}

/// Moves the last `turned` coordinates of a head, which are those that turn, before the others.
template <class Matrix>
void turned_first(Matrix& outputs, Eigen::Index turned) {
  const Matrix last = outputs.rightCols(turned);
  outputs.rightCols(outputs.cols() - turned) = outputs.leftCols(outputs.cols() - turned).eval();
  outputs.leftCols(turned) = last;
}

}  // namespace

template <class Scalar>
std::optional<FactorsOf<Scalar>> HeadScan::read_head(const LayerPlan& layer, int head,
                                                     NonFinite& faults) {
  HeadPart<Scalar> query = read_part<Scalar>(layer, Projection::query, head);
  HeadPart<Scalar> key = read_key<Scalar>(layer, head);
  faults = {query.faults.nan + key.faults.nan, query.faults.infinite + key.faults.infinite};
  if (faults.nan + faults.infinite > 0) return std::nullopt;
  double sink_logit = std::numeric_limits<double>::quiet_NaN();
  if (!layer.tensors.sinks.empty()) {
    sink_logit =
        read_values(*tensors_, layer.tensors.sinks, static_cast<std::uint64_t>(head), 1)[0];
  }
  double bound = std::numeric_limits<double>::quiet_NaN();
  if (has_latent_bound(layer, offset_)) {
    const Eigen::MatrixXd turned_keys =
        key.weight.leftCols(layer.head_width - layer.latent.compressed).template cast<double>();
    bound = latent_bound(
        layer, (query.latent.size() > 0 ? query.latent : query.weight).template cast<double>(),
        key.latent.template cast<double>(), transposed_times(turned_keys, turned_keys));
  }
  return FactorsOf<Scalar>{layer.tensors.layer,
                           head,
                           std::move(query.weight),
                           std::move(key.weight),
                           layer.stack,
                           norms_of(layer.tensors),
                           layer.rotary.pairs != RotaryPairs::kNone,
                           query.bias,
                           key.bias,
                           std::move(query.input),
                           std::move(key.input),
                           bound,
                           sink_logit,
                           layer.known_scale,
                           layer.same_tokens};
}

template <class Scalar>
HeadPart<Scalar> HeadScan::read_key(const LayerPlan& layer, int head) {
  if (layer.heads == layer.key_heads) return read_part<Scalar>(layer, Projection::key, head);
  const std::uint64_t first = first_output(layer.family->layout, Projection::key, grid_of(layer),
                                           static_cast<std::uint64_t>(head));
  if (!key_ || key_->layer != layer_ || key_->first != first ||
      !std::holds_alternative<HeadPart<Scalar>>(key_->part)) {
    key_ = SharedKey{layer_, first, read_part<Scalar>(layer, Projection::key, head)};
  }
  return std::get<HeadPart<Scalar>>(key_->part);
}

template <class Scalar>
HeadPart<Scalar> HeadScan::read_part(const LayerPlan& layer, Projection projection, int head) {
  const bool of_query = projection == Projection::query;
  const ProjectionTensors& names = of_query ? layer.tensors.query : layer.tensors.key;
  const HeadGrid grid = grid_of(layer);
  const auto index = static_cast<std::uint64_t>(head);
  const std::uint64_t first = first_output(layer.family->layout, projection, grid, index);
  const bool turned_last = layer.family->latent() && !of_query && names.latent.empty();
  const auto read = [&] {
    return layer.family->latent() && !turned_last
               ? read_latent<Scalar>(layer, projection, head)
               : HeadPart<Scalar>{read_weight<Scalar>(names.weight, first, layer)};
  };
  HeadPart<Scalar> part = read();
  Eigen::VectorXd bias;
  if (!names.bias.empty()) bias = read_values(*tensors_, names.bias, first, layer.head_width);
  if (layer.normed && !layer.family->latent() && offset_.average <= 0) {
    // A copy of the weight is made only for a norm's bias.
    Eigen::MatrixXd weight;
    if (!names.input_bias.empty()) weight = part.weight.template cast<double>();
    part.input = read_input(layer, names, weight, bias);
  }
  if (!names.gain.empty()) {
    part.weight.array().colwise() *=
        read_gain(layer, names.gain, 0, layer.width, part.faults).template cast<Scalar>().array();
  }
  if (!names.bias.empty()) part.bias = bias.norm() / part.weight.template cast<double>().norm();
  if (!names.norm_gain.empty()) {
    // One gain for every head, or one for each.
    const bool each = element_count(tensors_->tensor(names.norm_gain)) != grid.head_width;
    const std::uint64_t place = of_query ? index : index / grid.group();
    part.weight.array().rowwise() *=
        read_gain(layer, names.norm_gain, each ? place * grid.head_width : 0, layer.head_width,
                  part.faults)
            .template cast<Scalar>()
            .transpose()
            .array();
  }
  if (turned_last) turned_first(part.weight, layer.head_width - layer.latent.compressed);
  if (of_query) {
    for (auto* const weight : {&part.weight, &part.latent}) {
      if (weight->size() == 0) continue;
      turn_queries(*weight, layer.rotary, offset_);
      if (layer.logit_scale != 1) *weight *= static_cast<Scalar>(layer.logit_scale);
    }
    if (part.input) {
      Eigen::MatrixXd shift = layer.logit_scale * part.input->shift.transpose();
      turn_queries(shift, layer.rotary, offset_);
      part.input->shift = shift.transpose();
    }
  }
  // Faults are counted in the stored weights; where these are finite, products overflowed.
  if (!all_finite(part.weight)) {
    count_nonfinite(read().weight, part.faults);
    if (part.faults.nan + part.faults.infinite == 0) count_nonfinite(part.weight, part.faults);
  }
  return part;
}

template <class Scalar>
typename FactorsOf<Scalar>::Matrix HeadScan::read_decompression(const LayerPlan& layer,
                                                                Projection projection, int head,
                                                                NonFinite& faults) const {
  using Matrix = typename FactorsOf<Scalar>::Matrix;
  const bool of_query = projection == Projection::query;
  const ProjectionTensors& names = of_query ? layer.tensors.query : layer.tensors.key;
  const int compressed = layer.latent.compressed, turned = layer.head_width - compressed;
  const int stride = of_query ? layer.head_width : layer.latent.key_stride;
  const auto first = static_cast<std::uint64_t>(head) * static_cast<std::uint64_t>(stride);
  Matrix outputs =
      read_outputs<Scalar>(names.weight, first, of_query ? layer.head_width : compressed);
  if (!names.latent_gain.empty()) {
    const auto rank = static_cast<int>(outputs.rows());
    outputs.array().colwise() *=
        read_gain(layer, names.latent_gain, 0, rank, faults).template cast<Scalar>().array();
  }
  if (of_query) turned_first(outputs, turned);
  return outputs;
}

template <class Scalar>
std::optional<FactorsOf<Scalar>> HeadScan::read_compressed(const LayerPlan& layer, int head,
                                                           bool bounded) {
  using Matrix = typename FactorsOf<Scalar>::Matrix;
  using Latents = std::shared_ptr<const LatentFactors<Scalar>>;
  NonFinite faults;
  if (!latents_) {
    const auto compression = [&](const ProjectionTensors& names) {
      Eigen::MatrixXd map = read_outputs<double>(
          names.latent, 0, static_cast<Eigen::Index>(tensors_->tensor(names.latent).shape[0]));
      if (!names.gain.empty()) {
        map.array().colwise() *= read_gain(layer, names.gain, 0, layer.width, faults).array();
      }
      return map;
    };
    auto shared =
        latent_factors<Scalar>(compression(layer.tensors.query), compression(layer.tensors.key));
    latents_ =
        shared ? std::make_shared<const LatentFactors<Scalar>>(std::move(*shared)) : Latents();
  }
  const Latents latents = std::get<Latents>(*latents_);
  if (!latents) return std::nullopt;
  Matrix query = read_decompression<Scalar>(layer, Projection::query, head, faults);
  turn_queries(query, layer.rotary, offset_);
  query *= static_cast<Scalar>(layer.logit_scale);
  const Matrix decompressed = read_decompression<Scalar>(layer, Projection::key, head, faults);
  const Eigen::Index turned = layer.head_width - decompressed.cols();
  Matrix key = Matrix::Zero(decompressed.rows() + turned, layer.head_width);
  key.topRightCorner(decompressed.rows(), decompressed.cols()) = decompressed;
  key.bottomLeftCorner(turned, turned).setIdentity();
  if (!all_finite(query) || !all_finite(key)) return std::nullopt;
  double bound = std::numeric_limits<double>::quiet_NaN();
  if (bounded && has_latent_bound(layer, offset_)) {
    // The last rows of F_K have the Gram matrix of the rotary keys.
    const Eigen::MatrixXd rows =
        latents->key.bottomRightCorner(turned, turned).template cast<double>().transpose();
    bound = latent_bound(layer, query.template cast<double>(), decompressed.template cast<double>(),
                         transposed_times(rows, rows));
  }
  FactorsOf<Scalar> factors{layer.tensors.layer, head,        std::move(query),
                            std::move(key),      layer.stack, norms_of(layer.tensors)};
  factors.rotary = layer.rotary.pairs != RotaryPairs::kNone;
  factors.latent_bound = bound;
  factors.known_scale = layer.known_scale;
  factors.same_tokens = layer.same_tokens;
  factors.latents = latents;
  return factors;
}

template <class Scalar>
HeadPart<Scalar> HeadScan::read_latent(const LayerPlan& layer, Projection projection, int head) {
  using Matrix = typename FactorsOf<Scalar>::Matrix;
  using Eigen::Index;
  const bool of_query = projection == Projection::query;
  const ProjectionTensors& names = of_query ? layer.tensors.query : layer.tensors.key;
  HeadPart<Scalar> part;
  Matrix outputs = read_decompression<Scalar>(layer, projection, head, part.faults);
  const Index count = outputs.cols(), turned = layer.head_width - layer.latent.compressed;
  if (names.latent.empty()) {
    part.weight = std::move(outputs);
    return part;
  }
  const Matrix& compression = read_compression<Scalar>(names.latent);
  part.weight.resize(layer.width, layer.head_width);
  if (!of_query) part.weight.leftCols(turned) = compression.rightCols(turned);
  multiply<Scalar>(layer.width, count, outputs.rows(), factor(compression.data(), layer.width),
                   factor(outputs.data(), outputs.rows()),
                   part.weight.data() + (layer.head_width - count) * layer.width, layer.width);
  part.latent = std::move(outputs);
  return part;
}

template <class Scalar>
const typename FactorsOf<Scalar>::Matrix& HeadScan::read_compression(const std::string& name) {
  using Matrix = typename FactorsOf<Scalar>::Matrix;
  const auto known = compressions_.find(name);
  if (known != compressions_.end() && std::holds_alternative<Matrix>(known->second)) {
    return std::get<Matrix>(known->second);
  }
  const auto rows = static_cast<Eigen::Index>(tensors_->tensor(name).shape[0]);
  return std::get<Matrix>(
      compressions_.insert_or_assign(name, read_outputs<Scalar>(name, 0, rows)).first->second);
}

ProjectionInput HeadScan::read_input(const LayerPlan& layer, const ProjectionTensors& names,
                                     const Eigen::MatrixXd& weight, const Eigen::VectorXd& bias) {
  ProjectionInput input{{}, Eigen::VectorXd::Zero(layer.head_width)};
  const std::string& gain = layer.tensors.input_gain;
  if (!gain.empty()) input.gain = read_shared(gain, layer.width);
  if (!names.input_bias.empty()) {
    input.shift += weight.transpose() * read_shared(names.input_bias, layer.width);
  }
  if (bias.size() > 0) input.shift += bias;
  return input;
}

const Eigen::VectorXd& HeadScan::read_shared(const std::string& name, int size) {
  const auto known = shared_.find(name);
  if (known != shared_.end()) return known->second;
  return shared_.emplace(name, read_values(*tensors_, name, 0, size)).first->second;
}

Eigen::VectorXd HeadScan::read_gain(const LayerPlan& layer, const std::string& name,
                                    std::uint64_t first, int size, NonFinite& faults) const {
  Eigen::VectorXd gain = read_values(*tensors_, name, first, size);
  count_nonfinite(gain, faults);
  if (layer.family->gain_plus_one) gain.array() += 1;
  return gain;
}

template <class Scalar>
typename FactorsOf<Scalar>::Matrix HeadScan::read_weight(const std::string& name,
                                                         std::uint64_t first,
                                                         const LayerPlan& layer) const {
  if (!layer.family->inputs_first()) return read_outputs<Scalar>(name, first, layer.head_width);
  typename FactorsOf<Scalar>::Matrix weight(layer.width, layer.head_width);
  const std::uint64_t all = tensors_->tensor(name).shape[1];
  Eigen::RowVectorX<Scalar> row(layer.head_width);
  for (Eigen::Index i = 0; i < weight.rows(); ++i) {
    tensors_->read_elements(name, static_cast<std::uint64_t>(i) * all + first, entries(row));
    weight.row(i) = row;
  }
  return weight;
}

template <class Scalar>
typename FactorsOf<Scalar>::Matrix HeadScan::read_outputs(const std::string& name,
                                                          std::uint64_t first,
                                                          Eigen::Index rows) const {
  const std::uint64_t inputs = tensors_->tensor(name).shape[1];
  // The file's rows, one after another, are the columns of the transpose.
  typename FactorsOf<Scalar>::Matrix weight(static_cast<Eigen::Index>(inputs), rows);
  tensors_->read_elements(name, first * inputs, entries(weight));
  return weight;
}

}  // namespace eigenscope
