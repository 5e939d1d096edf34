// Outputs of the layers: the last norm, and the map to the next token or a masked one.
#include <string>
#include <string_view>
#include <utility>

#include "inference/transformer.h"
#include "io/json_events.h"

namespace eigenscope {
namespace {

using Eigen::MatrixXf;

}  // namespace

std::string Transformer::output_name() const {
  if (const MaskedHead* head = masked_head()) return std::string(head->output);
  const std::string name(names().output);  // without the prefix of the others
  if (tensors_->tensors().contains(name)) return name;
  // In a model of several parts it has the prefix of the text's part.
  constexpr std::string_view kModel = "model.";
  std::string prefix = match_.prefix;
  if (prefix.ends_with(kModel)) prefix.resize(prefix.size() - kModel.size());
  return tensors_->tensors().contains(prefix + name) ? prefix + name : name;
}

const MaskedHead* Transformer::masked_head() const {
  const MaskedHead& head = names().masked_head;
  const bool has = !head.dense.empty() && !patches_ && !causal() &&
                   tensors_->tensors().contains(std::string(head.dense));
  return has ? &head : nullptr;
}

bool Transformer::has_output() const {
  if (patches_ || names().output.empty()) return false;
  return masked_head() || tensors_->tensors().contains(output_name()) || (causal() && tied_output_);
}

MatrixXf Transformer::output_states(const MatrixXf& tokens) const {
  MatrixXf states = finished(tokens);
  const MaskedHead* const head = masked_head();
  if (!head) return states;
  const std::string name(head->dense), bias = bias_of(name);
  StoredLinear dense(tensors_, name, width_, width_, false);
  if (tensors_->tensors().contains(bias)) dense.set_bias(read_bias(bias, width_));
  states = dense.read()(states);
  activation_forward(head_activation_, states, states);
  return read_norm_of(std::string(head->norm), width_)(std::move(states));
}

StoredLinear Transformer::output() const {
  const std::string name = output_name();
  const MaskedHead* const head = masked_head();
  std::string bias = head ? std::string(head->output_bias) : bias_of(name);
  // One parameter of two names, of which a file may have the other.
  if (!tensors_->tensors().contains(bias)) bias = bias_of(name);
  const bool tied = tied_output_ && !tensors_->tensors().contains(name);
  if (tied && names().picture_rows > 0) {
    throw FormatError("tie_word_embeddings",
                      "it must be false, and '" + shown_name(name) +
                          "' must be there: the embeddings have rows for pictures");
  }
  StoredLinear output(tensors_, tied ? match_.embeddings : name, vocabulary_, width_, false);
  if (!tensors_->tensors().contains(bias)) return output;
  if (!head && !names().output_bias) {
    refuse_item(bias, {"models of the family ", match_.family->name, " have no such bias"});
  }
  output.set_bias(read_bias(bias, vocabulary_));
  return output;
}

Linear Transformer::read_output() const {
  Linear output = this->output().read();
  output.weight *= output_scale_;
  output.bias *= output_scale_;
  return output;
}

MatrixXf Transformer::finished(const MatrixXf& tokens) const {
  return branch_norm(names().final_norm)(tokens);
}

}  // namespace eigenscope
