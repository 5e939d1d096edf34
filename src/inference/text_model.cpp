#include "inference/text_model.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "checkpoint/config_keys.h"
#include "checkpoint/family.h"
#include "checkpoint/rotary_config.h"
#include "io/json_events.h"
#include "support/error.h"
#include "support/finite.h"
#include "support/parameter.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Eigen::MatrixXf;
using Eigen::VectorXf;

constexpr std::uint64_t kLargestSide = std::uint64_t{1} << 24;
constexpr int kMostLayers = 10000;
constexpr double kLargestEpsilon = 1;

/// Rows and columns of a matrix that is there.
std::array<Index, 2> matrix_shape(const Safetensors& file, const std::string& name) {
  const TensorInfo& info = file.tensor(name);
  const auto too_large = [](std::uint64_t side) { return side == 0 || side > kLargestSide; };
  if (info.shape.size() != 2 || std::any_of(info.shape.begin(), info.shape.end(), too_large)) {
    throw FormatError(shown_name(name),
                      "its shape " + shape_text(info) + " is not that of a weight matrix");
  }
  return {static_cast<Index>(info.shape[0]), static_cast<Index>(info.shape[1])};
}

template <class Values>
void require_finite(const Values& values, const std::string& name) {
  if (!all_finite(values)) {
    throw FormatError(shown_name(name), "it holds NaN or infinite values in single precision");
  }
}

/// Fills `values` with those of a tensor from number `first` on.
template <class Values>
void read_values(const Safetensors& file, const std::string& name, Index first, Values& values) {
  file.read_elements(name, static_cast<std::uint64_t>(first),
                     std::span<float>(values.data(), static_cast<std::size_t>(values.size())));
  require_finite(values, name);
}

Activation activation_of(const Architecture& family, const Config& config) {
  const std::string key(family.activation_key);
  const auto name = config.text(key);
  if (!name) return family.activation;
  if (!family.mlp_gate.empty()) {
    if (*name == "silu") return family.activation;
    throw FormatError(shown_name(key), "'" + shown_name(*name) + "' in " + config.name() +
                                           " is not supported in a gated MLP; supported: silu");
  }
  if (*name == "gelu") return Activation::gelu;
  if (*name == "gelu_new" || *name == "gelu_pytorch_tanh") return Activation::gelu_new;
  if (*name == "relu") return Activation::relu;
  throw FormatError(shown_name(key), "'" + shown_name(*name) + "' in " + config.name() +
                                         " is not supported; supported: gelu, gelu_new, relu");
}

}  // namespace

TextModel::TextModel(std::shared_ptr<const Safetensors> tensors, const Config& config)
    : tensors_(std::move(tensors)) {
  find_architecture(config);
  const auto [tokens, width] = matrix_shape(*tensors_, full_name(architecture_->token_embedding));
  vocabulary_ = tokens;
  width_ = width;
  const std::string_view attention = architecture_->attention_output;
  while (tensors_->tensors().contains(full_name(attention, layers_) + ".weight")) {
    if (++layers_ > kMostLayers) throw FormatError(tensors_->name(), "it has too many layers");
  }
  if (layers_ == 0) {
    throw FormatError(shown_name(full_name(attention) + ".weight"), "it is missing");
  }
  read_config(config);
}

std::string TextModel::full_name(std::string_view pattern, int layer) const {
  std::string name(pattern);
  const std::size_t mark = name.find("{n}");
  if (mark != std::string::npos) name.replace(mark, 3, std::to_string(layer));
  return prefix_ + name;
}

void TextModel::find_architecture(const Config& config) {
  std::string known;
  const auto type = config.text("model_type");
  for (const Architecture& candidate : architectures()) {
    const std::string types(candidate.model_types);
    known +=
        (known.empty() ? "'" : ", '") + std::string(candidate.token_embedding) + "' (" +
        std::string(candidate.name) +
        (types.empty() ? ")" : ", of the model_type" + types.substr(0, types.size() - 1) + ")");
    if (type && !types.empty() && types.find(" " + *type + " ") == std::string::npos) continue;
    for (const auto& [name, info] : tensors_->tensors()) {
      if (!name.ends_with(candidate.token_embedding)) continue;
      const std::string prefix = name.substr(0, name.size() - candidate.token_embedding.size());
      if (!prefix.empty() && !prefix.ends_with('.')) continue;
      architecture_ = &candidate;
      prefix_ = prefix;
      return;
    }
  }
  throw FormatError(tensors_->name(),
                    "this architecture cannot be run on text; it must have tensors named " + known);
}

void TextModel::read_config(const Config& config) {
  read_heads(config);
  rules_.activation = activation_of(*architecture_, config);
  rules_.pre_norm = architecture_->pre_norm;
  rules_.causal = architecture_->causal;
  const Family& family = family_called(architecture_->name);
  // The shortest offset that is one: a scaling that is not known is then refused.
  rules_.rotary = rotary_of(ConfigKeys(&config, {""}), family.rotary,
                            family.attentions.front().rotary, rules_.head_width, 0, {1});
  epsilon_ = static_cast<float>(
      config.number(std::string(architecture_->epsilon_key), 0, kLargestEpsilon).value_or(1e-12));
  tied_output_ = config.flag("tie_word_embeddings").value_or(true);
  // RoBERTa counts its positions from the padding token's id on, which is 1.
  const auto type = config.text("model_type");
  if (type == "roberta" || type == "xlm-roberta" || type == "camembert") first_position_ = 2;
  positions_ = longest_passage(config);
  if (positions() < 1) {
    throw FormatError(shown_name(full_name(architecture_->position_embedding)),
                      "it holds too few positions");
  }
}

void TextModel::read_heads(const Config& config) {
  const AttentionNames& names = family_called(architecture_->name).attentions.front();
  const auto most = static_cast<std::uint64_t>(parameter("heads").maximum);
  const std::string key(names.head_count_key), key_heads(names.key_head_count_key);
  const auto heads = config.positive_integer(key, most);
  if (!heads) throw FormatError(config.name(), "it has no '" + key + "'");
  rules_.heads = static_cast<int>(*heads);
  const std::string norm = full_name(names.query_norm_gain);
  if (!names.query_norm_gain.empty() && tensors_->tensors().contains(norm)) {
    throw FormatError(shown_name(norm),
                      "models with normalized queries and keys are not supported");
  }
  // As `eigenscope train` writes it for its controls.
  if (const auto fixed = config.text("attention_weights"); fixed == "none" || fixed == "self") {
    throw FormatError("attention_weights", "'" + *fixed + "' in " + config.name() +
                                               " is not supported; the attention must be softmax");
  }
  const bool fused = !architecture_->fused.empty();
  const Index rows = fused ? width_ : outputs(architecture_->query, 0);
  const auto refuse = [&](const std::string& item, std::uint64_t count, const std::string& what) {
    throw FormatError(shown_name(item),
                      std::to_string(count) + " in " + config.name() + " does not divide " + what);
  };
  if (rows % rules_.heads != 0) refuse(key, *heads, "the width " + std::to_string(rows));
  rules_.head_width = rows / rules_.heads;
  const auto shared = key_heads.empty() ? heads : config.positive_integer(key_heads, most);
  if (*heads % shared.value_or(*heads) != 0) {
    refuse(key_heads, *shared, "the " + std::to_string(*heads) + " heads");
  }
  rules_.key_heads = static_cast<int>(shared.value_or(*heads));
}

Index TextModel::longest_passage(const Config& config) const {
  if (!architecture_->position_embedding.empty()) {
    return matrix_shape(*tensors_, full_name(architecture_->position_embedding))[0];
  }
  std::uint64_t most = static_cast<std::uint64_t>(parameter("length").maximum);
  const auto limit = [&](const char* key) {
    most = std::min(most, config.positive_integer(key, kLargestSide * 64).value_or(most));
  };
  limit("max_position_embeddings");
  if (config.flag("use_sliding_window").value_or(true)) limit("sliding_window");
  return static_cast<Index>(most);
}

MatrixXf TextModel::read_transposed(const std::string& name, Index rows, Index columns) const {
  if (matrix_shape(*tensors_, name) != std::array<Index, 2>{rows, columns}) {
    throw FormatError(shown_name(name), "its shape " + shape_text(tensors_->tensor(name)) +
                                            " is not [" + std::to_string(rows) + ", " +
                                            std::to_string(columns) +
                                            "], the shape that the other tensors imply");
  }
  if (rows > std::numeric_limits<Index>::max() / static_cast<Index>(sizeof(float)) / columns) {
    throw FormatError(shown_name(name), "it is too large to read");
  }
  MatrixXf values(columns, rows);
  read_values(*tensors_, name, 0, values);
  return values;
}

VectorXf TextModel::read_bias(const std::string& name, Index size) const {
  const TensorInfo& info = tensors_->tensor(name);
  if (info.shape != std::vector<std::uint64_t>{static_cast<std::uint64_t>(size)}) {
    throw FormatError(shown_name(name), "its shape " + shape_text(info) + " is not [" +
                                            std::to_string(size) +
                                            "], the shape that the other tensors imply");
  }
  VectorXf values(size);
  read_values(*tensors_, name, 0, values);
  return values;
}

MatrixXf TextModel::read_rows(const std::string& name, Index first, Index count) const {
  if (matrix_shape(*tensors_, name)[1] != width_) {
    throw FormatError(shown_name(name), "its shape " + shape_text(tensors_->tensor(name)) +
                                            " does not fit the width " + std::to_string(width_));
  }
  MatrixXf values(width_, count);
  read_values(*tensors_, name, first * width_, values);
  return values;
}

Linear TextModel::read_linear(std::string_view pattern, int layer, Index out, Index in) const {
  const std::string name = full_name(pattern, layer);
  MatrixXf weight = architecture_->input_first
                        ? read_transposed(name + ".weight", in, out)
                        : MatrixXf(read_transposed(name + ".weight", out, in).transpose());
  if (architecture_->optional_bias && !tensors_->tensors().contains(name + ".bias")) {
    return {std::move(weight), {}};
  }
  return {std::move(weight), read_bias(name + ".bias", out)};
}

Norm TextModel::read_norm(std::string_view pattern, int layer) const {
  const std::string name = full_name(pattern, layer);
  const bool rms = architecture_->norm == NormKind::rms_norm;
  return {architecture_->norm, read_bias(name + ".weight", width_),
          rms ? VectorXf() : read_bias(name + ".bias", width_), epsilon_};
}

MatrixXf TextModel::embed(std::span<const int> ids, Index first) const {
  const auto length = static_cast<Index>(ids.size());
  if (length < 1 || first + length > positions()) {
    throw InvalidArgument("length", std::to_string(first + length) +
                                        " is not allowed; the model takes from 1 to " +
                                        std::to_string(positions()) + " tokens");
  }
  MatrixXf tokens(width_, length);
  const std::string name = full_name(architecture_->token_embedding);
  for (Index t = 0; t < length; ++t) {
    const int id = ids[static_cast<std::size_t>(t)];
    if (id < 0 || id >= vocabulary_) {
      throw InvalidArgument("token", std::to_string(id) +
                                         " is not allowed; token ids range from 0 to " +
                                         std::to_string(vocabulary_ - 1));
    }
    tokens.col(t) = read_rows(name, id, 1);
  }
  if (!architecture_->position_embedding.empty()) {
    tokens +=
        read_rows(full_name(architecture_->position_embedding), first_position_ + first, length);
  }
  const std::string types = full_name(architecture_->type_embedding);
  if (!architecture_->type_embedding.empty() && tensors_->tensors().contains(types)) {
    tokens.colwise() += VectorXf(read_rows(types, 0, 1));
  }
  if (architecture_->embedding_norm.empty()) return tokens;
  return read_norm(architecture_->embedding_norm, 0)(tokens);
}

Eigen::MatrixXd TextModel::token_embeddings(Index begin, Index end) const {
  return read_rows(full_name(architecture_->token_embedding), begin, end - begin)
      .transpose()
      .cast<double>();
}

MatrixXf TextModel::read_output() const {
  const std::string own = "lm_head.weight";  // without the prefix of the others
  const bool tied = tied_output_ && !tensors_->tensors().contains(own);
  const std::string name = tied ? full_name(architecture_->token_embedding) : own;
  return read_transposed(name, vocabulary_, width_).transpose();
}

void TextModel::read_projections(LayerWeights& weights, int layer) const {
  if (architecture_->fused.empty()) {
    const Index queries = rules_.heads * rules_.head_width;
    const Index keys = rules_.key_heads * rules_.head_width;
    weights.query = read_linear(architecture_->query, layer, queries, width_);
    weights.key = read_linear(architecture_->key, layer, keys, width_);
    weights.value = read_linear(architecture_->value, layer, keys, width_);
    return;
  }
  const Linear all = read_linear(architecture_->fused, layer, 3 * width_, width_);
  const auto part = [&](Index k) {
    return Linear{all.weight.middleRows(k * width_, width_), all.bias.segment(k * width_, width_)};
  };
  weights.query = part(0);
  weights.key = part(1);
  weights.value = part(2);
}

Index TextModel::outputs(std::string_view pattern, int layer) const {
  const auto shape = matrix_shape(*tensors_, full_name(pattern, layer) + ".weight");
  return shape[architecture_->input_first ? 1 : 0];
}

LayerWeights TextModel::read_layer(int layer) const {
  LayerWeights weights = read_heads(layer);
  read_rest(layer, weights);
  return weights;
}

LayerWeights TextModel::read_heads(int layer) const {
  LayerWeights weights;
  read_projections(weights, layer);
  weights.attention_norm = read_norm(architecture_->attention_norm, layer);
  return weights;
}

void TextModel::read_rest(int layer, LayerWeights& weights) const {
  const Index hidden = outputs(architecture_->mlp_up, layer);
  weights.attention_output =
      read_linear(architecture_->attention_output, layer, width_, rules_.heads * rules_.head_width);
  if (!architecture_->mlp_gate.empty()) {
    weights.mlp_gate = read_linear(architecture_->mlp_gate, layer, hidden, width_);
  }
  weights.mlp_up = read_linear(architecture_->mlp_up, layer, hidden, width_);
  weights.mlp_down = read_linear(architecture_->mlp_down, layer, width_, hidden);
  weights.mlp_norm = read_norm(architecture_->mlp_norm, layer);
}

MatrixXf TextModel::finished(const MatrixXf& tokens) const {
  if (architecture_->final_norm.empty()) return tokens;
  return read_norm(architecture_->final_norm, 0)(tokens);
}

}  // namespace eigenscope
