// Architectures of GGUF: the names of their tensors in checkpoints of Hugging Face, and what llama.cpp's converter changes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "checkpoint/gguf_header.h"
#include "support/choice.h"

namespace eigenscope {

/// How two tensors of GGUF make one of Hugging Face: that which the table lists first comes first.
enum class Joined {
  no,
  matrices,  ///< a matrix of each in turn
  rows,      ///< a row of each in turn
  /// As `matrices`, of which one matrix has all rows; those of the first tensor are transposed in the file.
  heads
};

/// A name of GGUF and that of Hugging Face. Of tensors they are whole or both without ".weight" or ".bias", and of layers
/// without the layer; "{e}" is the number of an expert, whose weights one tensor of GGUF stacks.
struct Renamed {
  std::string_view from, to;
  Joined joined = Joined::no;
};

struct Names {
  std::span<const Renamed> rows;
  std::string_view layers;  ///< the prefix of layers in Hugging Face's names
};

/// One row of what is known: llama.cpp's name of an architecture, and how its converter changes a checkpoint.
struct Converted : Choice {
  std::string_view model_type;          ///< in config.json
  std::span<const Renamed> particular;  ///< looked up before `names`
  Names names;
  /// Rotary pairs are neighbours in the file, halves of a head in Hugging Face's order.
  bool neighbours = false;
  /// The gain 1 + g of a norm is stored as it is, by Hugging Face as g.
  bool whole_gains = false;
  /// Files do not say that the weights of a token's experts add up to 1.
  bool normalized_experts = false;
  /// Files do not say that logits are divided by the root of width over heads, not of the head width: llama.cpp knows
  /// the model, of 27 billion weights, by so many layers. 0: none is.
  int wide_scale_layers = 0;
  /// A positive integer of the metadata, behind the architecture's name, without which a later row holds.
  std::string_view needed = {};
};

/// llama.cpp's name of the architecture; empty for none.
std::string architecture_of(const OrderedJson& metadata);

/// Null for an architecture without a row.
const Converted* conversion_of(const GgufHeader& header);

/// In the names of experts, for the number.
inline constexpr std::string_view kExpertMark = "{e}";

/// The row of `names` for what has this name in the file; null for none.
const Renamed* row_of(std::span<const Renamed> names, std::string_view from);

/// The name in Hugging Face's checkpoint.
struct NewName {
  std::string name;
  Joined joined = Joined::no;
  bool first = true;  ///< of the two that are joined
};

/// The name of a tensor as the family has it. That of one that is not known stays, but for the layer, whose name is the
/// family's, so that conventions.h sees it.
NewName renamed(const std::string& name, const Converted* conversion);

}  // namespace eigenscope
