// Tokens and their numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace eigenscope {

/// Tokens (byte strings) and their ids, 0 to kMostTokens - 1, possibly with gaps.
class Vocabulary {
 public:
  static constexpr std::uint64_t kMostTokens = std::uint64_t{1} << 20;  // the largest known: 901629

  /// A token that comes again has its last id, as in Hugging Face's `tokenizers`. Throws FormatError naming the token
  /// when the id is out of range or that of another token.
  void add(const std::string& token, std::uint64_t id);

  std::optional<int> find(const std::string& token) const;
  /// The tokens <0x00> to <0xFF> of bytes; none when one of them is missing.
  std::optional<std::vector<int>> bytes_of(std::string_view bytes) const;
  bool contains(int id) const { return tokens_.contains(id); }
  /// The token's text. Throws InvalidArgument ("token") for an id that has none.
  const std::string& token(int id) const;
  /// Tokens in all.
  std::size_t size() const { return ids_.size(); }
  /// Length of the longest token in bytes.
  std::size_t longest() const { return longest_; }

 private:
  std::unordered_map<std::string, int> ids_;
  std::unordered_map<int, std::string> tokens_;
  std::size_t longest_ = 0;
};

}  // namespace eigenscope
