// The family of a file, and the names of its tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/config.h"
#include "checkpoint/family.h"
#include "checkpoint/safetensors_header.h"

namespace eigenscope {

/// The tensors of the queries or keys of a layer, by their full names; empty where the file has none.
struct ProjectionTensors {
  std::string weight;  ///< of fused queries and keys, the same for both
  std::string bias;
  std::string gain;              ///< of the norm before the projection
  std::string norm_gain;         ///< of the norm after it
  std::string latent = {};       ///< of latent attention, the weight that compresses the tokens
  std::string latent_gain = {};  ///< of the norm of its output
  std::string input_bias = {};   ///< of the norm whose output the projection reads
};

/// The tensors of one layer's attention.
struct LayerTensors {
  int layer = 0;      ///< as numbered in the names
  int key_layer = 0;  ///< the layer whose keys it uses, most often itself
  ProjectionTensors query, key;
  std::string sinks;  ///< a learned logit for each head
  /// Gain of the norm that ends the layer before, or the embeddings, where that is what the projections read.
  std::string input_gain;
};

/// One stack of a file.
struct StackMatch {
  const AttentionNames* names = nullptr;  ///< in the family
  std::string name;                       ///< what its heads call it; may be empty
  std::string part;                       ///< its object of config.json, see part_of()
  std::vector<LayerTensors> layers;       ///< by increasing number; gaps are allowed; never empty
  /// Layers of the file from the count of config.json on, such as those for multi-token prediction, which `layers`
  /// does not have.
  std::vector<LayerTensors> beyond = {};
};

/// The family of a file, or of a part of it.
struct FamilyMatch {
  std::shared_ptr<const Family> family;
  std::string prefix;              ///< before all of its names
  std::vector<StackMatch> stacks;  ///< never empty
  std::string embeddings;          ///< full name of the token embeddings; empty without any
  bool is_other = false;           ///< the token embeddings are those of another stack
  /// Prefixes of other stacks of the file, which are left out: that of the token embeddings is read by default.
  std::vector<std::string> left_out = {};
  /// Prefixes of parts of Qwen-Omni that make sound, which are never read.
  std::vector<std::string> speakers = {};
  /// Why the conventions of the family may not be those of the model, such as "'model_type' in config.json is 'new'",
  /// which the row does not list; empty where they are.
  std::string unknown = {};
  /// Why the logits are not known though the names and layout of the weights are, as of those that a mapping names;
  /// empty where they are.
  std::string unknown_logits = {};
  /// Whether config.json has a model type, be it known or not.
  bool typed = false;
};

/// A name of the table of families with the number of a layer in it, behind a prefix.
std::string full_name(const std::string& prefix, std::string_view pattern, int layer);

/// The layer number at byte `at` of a tensor's name, before a dot; nothing where there is none.
std::optional<int> layer_after(std::string_view name, std::size_t at);

/// The name of the bias of a linear layer or norm; empty for a name that does not end with "weight".
std::string bias_of(std::string weight);

/// The name in the file of a norm's gain or bias, which old files call "gamma" and "beta"; empty where there is none.
std::string stored_norm(const std::map<std::string, TensorInfo>& tensors, const std::string& name);

/// Whether a row of the table lists a model type.
bool is_known_type(std::string_view model_type);

/// Finds the families of a file from the names of its tensors and the model types of its config.json,
/// which may be null: one, or several where a model has parts, such as one for text and one for vision;
/// then a stack that its family gives no name is called by its prefix. Rows that list one of the model types come
/// before those that only have the names. If stacks of several prefixes fit one row, the one with the token
/// embeddings is read; stacks of unknown conventions without token embeddings are left out beside a known one. Never
/// empty. Throws FormatError: naming `file` and some of the tensors that are there when no family fits, naming the
/// prefixes where not one of several has the token embeddings, and naming the missing tensor when a layer has a query
/// weight and no key weight, or the reverse.
std::vector<FamilyMatch> match_families(const std::map<std::string, TensorInfo>& tensors,
                                        const Config* config, const std::string& file);

/// Matches the tensors of a file with those of a given family; `config` may be null. Throws FormatError naming `file`
/// when it has none of the family's queries, and as match_families() does.
FamilyMatch match_tensors(std::shared_ptr<const Family> family,
                          const std::map<std::string, TensorInfo>& tensors, const Config* config,
                          const std::string& file);

}  // namespace eigenscope
