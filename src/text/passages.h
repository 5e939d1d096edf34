// A long text as passages of a model's length.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace eigenscope {

/// The tokens of one run through a model: those of a text, or the patches of a picture.
struct Passage {
  std::vector<int> ids;       ///< token ids; positions for a picture, so that no two are the same
  Eigen::Index leading = 0;   ///< special tokens at the start, such as [CLS]
  Eigen::Index trailing = 0;  ///< special tokens at the end, such as [SEP]
  /// The normalized pixels of the patches of a picture, as PatchEmbedding takes them; null for a text.
  std::shared_ptr<const Eigen::MatrixXf> patches = {};

  Eigen::Index length() const { return static_cast<Eigen::Index>(ids.size()); }
};

/// Cuts a text into successive passages of `length` tokens, special ones included; the last may be
/// shorter, and a text without words gives one passage of the special tokens. Throws InvalidArgument:
/// "length" when the special tokens leave no room, "text" as TextTokenizer::encode does and for a text
/// that gives no token at all.
std::vector<Passage> cut_passages(const TextTokenizer& tokenizer, std::string_view text,
                                  Eigen::Index length);

/// `count` different ones of the passages that have exactly `length` tokens, in an order drawn from
/// the seed. Throws InvalidArgument ("passages") when there are not so many.
std::vector<Passage> choose_passages(const std::vector<Passage>& passages, Eigen::Index count,
                                     Eigen::Index length, std::uint64_t seed);

/// `count` passages of `length` tokens with the special tokens of `passages`, between them different
/// tokens of their content in a random order drawn from the seed, twice over; the second copy lacks its last
/// token where the room is odd. Throws InvalidArgument ("length") when the passages have fewer different tokens
/// than half the room, or the room is less than 4.
std::vector<Passage> repeated_passages(const std::vector<Passage>& passages, Eigen::Index count,
                                       Eigen::Index length, std::uint64_t seed);

}  // namespace eigenscope
