#include "checkpoint/heads.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "checkpoint/json_events.h"
#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope {
namespace {

// No model is near this wide; with it every count of a matrix's elements fits 64 bits.
constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 24;
// Of one head, 512 MiB of double: more is a wrong head count rather than a head.
constexpr std::uint64_t kLargestFactor = std::uint64_t{1} << 26;

const TensorInfo& checked_weight(const Safetensors& file, const std::string& name) {
  const TensorInfo& info = file.tensor(name);
  const auto fail = [&](const std::string& message) {
    throw FormatError(shown_name(name), message);
  };
  if (info.shape.size() != 2) fail("its shape " + shape_text(info) + " is not a matrix");
  for (const std::uint64_t side : info.shape) {
    if (side == 0 || side > kLargestSide) {
      fail("its shape " + shape_text(info) + " is not one of a weight");
    }
  }
  if (!is_decodable(info.dtype)) {
    fail("its type " + std::string(dtype_name(info.dtype)) +
         " cannot be read as numbers; F16, BF16, F32 and F64 can");
  }
  return info;
}

void check_same_shape(const Safetensors& file, const std::string& name, const std::string& other) {
  const TensorInfo& info = checked_weight(file, name);
  const TensorInfo& reference = checked_weight(file, other);
  if (info.shape != reference.shape) {
    throw FormatError(shown_name(name), "its shape " + shape_text(info) + " differs from " +
                                            shape_text(reference) + " of " + shown_name(other));
  }
}

ProjectionPlace checked_place(const Safetensors& file, HeadLayout layout, Projection projection,
                              const std::string& name) {
  const TensorInfo& info = checked_weight(file, name);
  const auto place = projection_place(layout, projection, info.shape[0], info.shape[1]);
  if (!place) {
    throw FormatError(shown_name(name), "its shape " + shape_text(info) +
                                            " does not hold queries, keys and values of the same "
                                            "width as its input; grouped keys cannot be read");
  }
  return *place;
}

void check_bias(const Safetensors& file, const std::string& bias, const std::string& weight,
                std::uint64_t outputs) {
  if (bias.empty()) return;
  const TensorInfo& info = file.tensor(bias);
  if (info.shape != std::vector<std::uint64_t>{outputs}) {
    throw FormatError(shown_name(bias), "its shape " + shape_text(info) + " does not fit " +
                                            shape_text(file.tensor(weight)) + " of " +
                                            shown_name(weight));
  }
}

void check_layer(const Safetensors& file, const LayerTensors& layer, const LayerTensors& first,
                 std::uint64_t outputs) {
  check_same_shape(file, layer.query_weight, first.query_weight);
  check_same_shape(file, layer.key_weight, layer.query_weight);
  check_bias(file, layer.query_bias, layer.query_weight, outputs);
  check_bias(file, layer.key_bias, layer.key_weight, outputs);
}

std::string indivisible(std::uint64_t rows, std::uint64_t heads) {
  return std::to_string(rows) + " rows do not divide into " + std::to_string(heads) + " heads";
}

std::uint64_t count_from_user(int heads, const std::string& weight, std::uint64_t rows) {
  const auto count = static_cast<std::uint64_t>(checked("heads", heads));
  if (rows % count != 0) {
    throw InvalidArgument("heads", "the " + indivisible(rows, count) + " in " + shown_name(weight));
  }
  return count;
}

std::uint64_t count_from_config(const Family& family, const Config* config,
                                const std::string& weight, std::uint64_t rows) {
  const std::string key(family.head_count_key);
  const auto most = static_cast<std::uint64_t>(parameter("heads").maximum);
  const auto count = config == nullptr ? std::nullopt : config->positive_integer(key, most);
  if (!count) {
    const std::string lacking = config == nullptr ? "there is no config.json to tell it"
                                                  : config->name() + " has no '" + key + "'";
    throw InvalidArgument("heads", lacking + "; give the number of heads in each layer, " +
                                       allowed_range(parameter("heads")));
  }
  if (rows % *count != 0) {
    throw FormatError(shown_name(weight), "its " + indivisible(rows, *count) + ", which " +
                                              config->name() + " gives as '" + key + "'");
  }
  return *count;
}

void check_width(const Family& family, const Config* config, const std::string& weight,
                 std::uint64_t width) {
  if (config == nullptr) return;
  const std::string key(family.width_key);
  const auto said = config->positive_integer(key, kLargestSide);
  if (said && *said != width) {
    throw FormatError(shown_name(weight), "its width is " + std::to_string(width) + ", but '" +
                                              key + "' in " + config->name() + " is " +
                                              std::to_string(*said));
  }
}

/// Adds what is not finite in `values` to the counts of `found`.
void count_nonfinite(const Eigen::MatrixXd& values, ExcludedHead& found) {
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    const double value = values.data()[i];
    if (std::isnan(value)) ++found.nan_values;
    if (std::isinf(value)) ++found.infinite_values;
  }
}

}  // namespace

std::string ExcludedHead::text() const {
  return "layer " + std::to_string(layer) + " head " + std::to_string(head) + ": " +
         std::to_string(nan_values) + " NaN and " + std::to_string(infinite_values) +
         " infinite weights";
}

HeadScan::HeadScan(std::shared_ptr<const Safetensors> tensors, const Config* config,
                   std::optional<int> heads)
    : tensors_(std::move(tensors)) {
  FamilyMatch match = match_family(tensors_->tensors(), tensors_->name());
  family_ = match.family;
  const LayerTensors first = match.layers.front();
  const TensorInfo& weight = checked_weight(*tensors_, first.query_weight);
  const ProjectionPlace place =
      checked_place(*tensors_, family_->layout, Projection::query, first.query_weight);
  const std::uint64_t rows = place.outputs;
  const std::uint64_t width = place.inputs;
  for (const LayerTensors& layer : match.layers) check_layer(*tensors_, layer, first, place.all);
  // A count that the user gives is for a file whose config is wrong, or another model's.
  const std::uint64_t count = heads ? count_from_user(*heads, first.query_weight, rows)
                                    : count_from_config(*family_, config, first.query_weight, rows);
  if (!heads) check_width(*family_, config, first.query_weight, width);
  if (width * (rows / count) > kLargestFactor) {
    throw FormatError(shown_name(first.query_weight),
                      "its shape " + shape_text(weight) + " is too large for " +
                          std::to_string(count) + (count == 1 ? " head" : " heads"));
  }
  for (LayerTensors& layer : match.layers) {
    plan_.push_back({std::move(layer), static_cast<int>(width), static_cast<int>(rows / count),
                     static_cast<int>(count)});
    total_heads_ += plan_.back().heads;
  }
}

std::vector<HeadFactors> HeadScan::advance(int most) {
  std::vector<HeadFactors> finite;
  if (done()) return finite;
  const LayerPlan& layer = plan_[layer_];
  const int left = layer.heads - head_;
  const int end = head_ + (most <= 0 ? left : std::min(most, left));
  std::vector<ExcludedHead> excluded;
  for (int head = head_; head < end; ++head) {
    HeadFactors factors = read_head(layer, head);
    ExcludedHead found{factors.layer, head, 0, 0};
    count_nonfinite(factors.query, found);
    count_nonfinite(factors.key, found);
    if (found.nan_values + found.infinite_values == 0) {
      finite.push_back(std::move(factors));
    } else {
      excluded.push_back(found);
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

HeadFactors HeadScan::read_head(const LayerPlan& layer, int head) const {
  return {layer.tensors.layer, head,
          read_factor(layer.tensors.query_weight, Projection::query, layer, head),
          read_factor(layer.tensors.key_weight, Projection::key, layer, head)};
}

Eigen::MatrixXd HeadScan::read_factor(const std::string& name, Projection projection,
                                      const LayerPlan& layer, int head) const {
  const ProjectionPlace place = checked_place(*tensors_, family_->layout, projection, name);
  const auto head_width = static_cast<std::uint64_t>(layer.head_width);
  const std::uint64_t first = place.first + static_cast<std::uint64_t>(head) * head_width;
  Eigen::MatrixXd factor(layer.width, layer.head_width);
  if (!place.inputs_first) {
    // The file's rows, one after another, are the columns of the transpose.
    tensors_->read_elements(name, first * place.inputs,
                            std::span(factor.data(), static_cast<std::size_t>(factor.size())));
    return factor;
  }
  std::vector<double> row(static_cast<std::size_t>(head_width));
  for (Eigen::Index i = 0; i < factor.rows(); ++i) {
    tensors_->read_elements(name, static_cast<std::uint64_t>(i) * place.all + first, row);
    factor.row(i) = Eigen::Map<const Eigen::RowVectorXd>(row.data(), factor.cols());
  }
  return factor;
}

}  // namespace eigenscope
