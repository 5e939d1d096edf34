// Architectures of GGUF: the names of their tensors in checkpoints of Hugging Face, and what llama.cpp's converter
// changes.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "checkpoint/gguf_header.h"

namespace eigenscope {

/// The way in which two tensors of GGUF make one of Hugging Face; the one listed first in the table comes first.
enum class Joined : char {
  no = 0,
  matrices = '|',  ///< a matrix of each in turn
  rows = '&',      ///< a row of each in turn
  /// Like `matrices`, in one matrix with all rows; the matrices of the first tensor are transposed in the file.
  heads = '#'
};

/// Pairs "from=to" of a name of GGUF and that of Hugging Face, each between spaces. Of tensors they are whole or both
/// without ".weight" or ".bias", and of layers without the layer; "{e}" is the number of an expert, whose weights one
/// tensor of GGUF stacks, and a final mark is that of Joined.
using NamePairs = std::string_view;

/// One row of what is known: llama.cpp's name of an architecture, and how its converter changes a checkpoint.
struct Converted {
  std::string_view name = {};
  std::string_view model_type = {};     ///< in config.json
  std::array<NamePairs, 2> names = {};  ///< looked up in turn, before those of LLaMA
  /// The prefix of layers in Hugging Face's names, of several stacks behind that of the stack; empty: that of LLaMA,
  /// whose names hold beside `names`.
  std::string_view layers = {};
  /// Rotary pairs are neighbours in the file, halves of a head in Hugging Face's order.
  bool neighbours = false;
  /// The reverse: halves of the turned part of a head in the file, neighbours in Hugging Face's order.
  bool halves = false;
  /// A fused tensor has all queries, then all keys, then all values in the file; in Hugging Face they are by group.
  bool parts_in_turn = false;
  /// The gain 1 + g of a norm is stored as it is, by Hugging Face as g.
  bool whole_gains = false;
  /// Files do not say that logits are divided by the root of width over heads, not of the head width: llama.cpp knows
  /// the model, of 27 billion weights, by so many layers. 0: none is.
  int wide_scale_layers = 0;
  /// A positive integer of the metadata, or a list that begins with one, behind the architecture's name, without which
  /// a later row holds.
  std::string_view needed = {};
  /// Keys of the metadata, behind the architecture's name, and of config.json, beside those of all architectures. Those
  /// that are "true", "false" or a number have this value in every file.
  std::array<NamePairs, 3> keys = {};
};

/// llama.cpp's name of the architecture; empty for none.
std::string architecture_of(const OrderedJson& metadata);

/// Null for an architecture without a row.
const Converted* conversion_of(const GgufHeader& header);

/// The placeholder for an expert's number in names.
inline constexpr std::string_view kExpertMark = "{e}";

/// The name of Hugging Face that `pairs` have for the name `from` of GGUF; empty for none.
std::string_view to_of(NamePairs pairs, std::string_view from);

/// The name in Hugging Face's checkpoint.
struct NewName {
  std::string name;
  Joined joined = Joined::no;
  bool first = true;  ///< of the two that are joined
};

/// The name of a tensor in Hugging Face's checkpoint. An unknown name stays, but for the prefix of its layer, so that
/// tensor_guards.h checks it, and for the dot behind a part of the layer that is not its attention.
NewName renamed(const std::string& name, const Converted* conversion);

}  // namespace eigenscope
