// Architectures of GGUF: the names of their tensors in checkpoints of Hugging Face, and what llama.cpp's converter changes.
#pragma once

#include <algorithm>
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

/// A tensor of GGUF and of Hugging Face, whole names or both without ".weight" or ".bias"; "{n}" is the number of the
/// layer, "{e}" that of an expert, whose weights one tensor of GGUF stacks.
struct Renamed {
  std::string_view from, to;
  Joined joined = Joined::no;
};

/// One row of what is known: llama.cpp's name of an architecture, and how its converter changes a checkpoint.
struct Converted : Choice {
  std::string_view model_type;          ///< in config.json
  std::span<const Renamed> particular;  ///< looked up before `names`
  std::span<const Renamed> names;
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
template <class Names>
auto row_of(const Names& names, std::string_view from) {
  const auto row =
      std::find_if(names.begin(), names.end(), [&](const auto& it) { return it.from == from; });
  return row == names.end() ? nullptr : &*row;
}

/// The name in Hugging Face's checkpoint.
struct NewName {
  std::string name;
  Joined joined = Joined::no;
  bool first = true;         ///< of the two that are joined
  std::string partner = {};  ///< the other one in the GGUF file
};

/// The same name where none is known.
NewName renamed(const std::string& name, const Converted* conversion);

}  // namespace eigenscope
