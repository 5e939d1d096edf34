// The added tokens of a tokenizer, and their places in a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eigenscope {

struct AddedToken {
  std::u32string text;  ///< not empty
  int id;
  bool strips_left, strips_right;  ///< white space beside it belongs to it
};

/// A search for all tokens at once in time linear in the text, also where thousands of them begin alike: the automaton
/// of Aho and Corasick (1975) over the reversed tokens, which runs through the text from its end.
class AddedTokens {
 public:
  /// The most different ends of all tokens; the largest known files have tokens of 2.4 million characters.
  static constexpr std::size_t kMostEnds = 4'000'000;

  AddedTokens() = default;
  /// The last of several tokens with the same text counts. Throws FormatError ("added_tokens") for more than kMostEnds
  /// ends.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  bool empty() const { return tokens_.empty(); }
  /// The longest token that begins at each place of the text, or null.
  std::vector<const AddedToken*> longest_at(std::u32string_view text) const;

 private:
  struct Node {
    std::uint32_t shorter = 0;  // of the longest proper suffix of its characters that has a node
    std::int32_t token = -1;    // the longest that its characters end with, reversed
  };
  std::uint32_t follow(std::uint32_t node, char32_t c) const;

  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;                                 // the root first
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;  // by node and character
};

}  // namespace eigenscope
