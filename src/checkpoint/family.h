// Families of checkpoints: which tensors hold the queries and keys of each layer, and how.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors_header.h"

namespace eigenscope {

/// How the heads lie in a projection's tensor. An interleaved or grouped tensor is a further value
/// here and a case in `projection_place`.
enum class HeadLayout {
  kSeparateLinear,  ///< torch's nn.Linear, out x in: head h is rows h d_h to (h + 1) d_h
  kFusedConv1D,     ///< GPT-2's Conv1D, in x out: columns of all queries, then keys, then values
};

/// One row of the table of families. In a tensor's name "{n}" stands for the number of the layer,
/// and any prefix that is empty or ends with '.' may come before.
struct Family {
  std::string_view name;
  std::string_view query_weight;
  std::string_view key_weight;      ///< the same as `query_weight` where they are fused
  std::string_view query_bias;      ///< need not be in the file
  std::string_view key_bias;        ///< need not be in the file
  std::string_view head_count_key;  ///< in config.json
  std::string_view width_key;       ///< in config.json
  HeadLayout layout;
};

/// Every family that is known. To add one, add a row and a test.
std::span<const Family> families();

/// The tensors of one layer, by their full names.
struct LayerTensors {
  int layer = 0;  ///< as numbered in the names
  std::string query_weight;
  std::string key_weight;
  std::string query_bias;  ///< empty when the file has none
  std::string key_bias;    ///< empty when the file has none
};

/// What a file turned out to be.
struct FamilyMatch {
  const Family* family = nullptr;    ///< in `families()`
  std::string prefix;                ///< before the family's own names, such as "bert."
  std::vector<LayerTensors> layers;  ///< by increasing number; gaps are allowed; never empty
};

/// Finds the family of a file from the names of its tensors. Throws FormatError: naming `file` and
/// some of the tensors that are there when no family fits or when several stacks of layers do, and
/// naming the missing tensor when a layer has a query weight and no key weight, or the reverse.
FamilyMatch match_family(const std::map<std::string, TensorInfo>& tensors, const std::string& file);

enum class Projection { query, key };

/// Where a projection (queries or keys of all heads) is in its tensor.
struct ProjectionPlace {
  std::uint64_t inputs = 0;   ///< d
  std::uint64_t outputs = 0;  ///< heads times d_h
  std::uint64_t first = 0;    ///< of the outputs, counted along the tensor's side of outputs
  std::uint64_t all = 0;      ///< that side: more than `outputs` where several are fused
  bool inputs_first = false;  ///< in x out, so that an output's weights are a column
};

/// For a tensor of `rows` x `columns`; nothing when a fused one does not divide into its parts.
std::optional<ProjectionPlace> projection_place(HeadLayout layout, Projection projection,
                                                std::uint64_t rows, std::uint64_t columns);

}  // namespace eigenscope
