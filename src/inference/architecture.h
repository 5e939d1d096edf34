// Families of models whose forward pass is known: the names of their tensors and the order of their
// operations. To add one, add a row and a test.
#pragma once

#include <span>
#include <string_view>

#include "nn/activation.h"
#include "nn/norm.h"

namespace eigenscope {

/// One row of the table; `name` is that of a checkpoint's family, which knows the keys of the head
/// counts and the rotary positions in config.json. "{n}" stands for the number of the layer; a linear
/// layer and a norm are named without their ".weight" and ".bias". An empty name: the family has no such
/// part.
struct Architecture {
  std::string_view name;
  /// Those of config.json that have this forward pass, between spaces; empty: not asked for. Without any
  /// in the config they are taken to be among these.
  std::string_view model_types;
  std::string_view token_embedding;
  std::string_view position_embedding, type_embedding;
  std::string_view embedding_norm;     ///< after the sum of the embeddings
  std::string_view query, key, value;  ///< empty where they are fused
  std::string_view fused;              ///< queries, keys and values one after the other
  std::string_view attention_output;
  std::string_view attention_norm;  ///< before the attention, or after it and its skip
  std::string_view mlp_gate;        ///< of a gated MLP, silu(gate x) up x
  std::string_view mlp_up, mlp_down;
  std::string_view mlp_norm;
  std::string_view final_norm;                   ///< after the last layer
  std::string_view epsilon_key, activation_key;  ///< in config.json
  Activation activation;                         ///< where the config does not say; without a gate
  NormKind norm;
  bool pre_norm;  ///< norms before attention and MLP, not after them
  bool causal;
  bool input_first;    ///< weights are in x out (Conv1D), not torch's out x in
  bool optional_bias;  ///< a linear layer without a bias has none
};

std::span<const Architecture> architectures();

}  // namespace eigenscope
