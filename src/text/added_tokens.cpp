#include "text/added_tokens.h"

#include <string>
#include <utility>

#include "support/argsort.h"
#include "support/error.h"

namespace eigenscope {
namespace {

std::uint64_t edge_key(std::uint32_t node, char32_t c) {
  return static_cast<std::uint64_t>(node) << 32 | c;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)), nodes_(1) {
  struct Edge {
    std::uint32_t from;
    char32_t character;
    std::uint32_t depth;
  };
  std::vector<Edge> above(1);  // of each node
  for (std::size_t k = 0; k < tokens_.size(); ++k) {
    std::uint32_t node = 0, depth = 0;
    for (auto c = tokens_[k].text.rbegin(); c != tokens_[k].text.rend(); ++c) {
      const auto added = static_cast<std::uint32_t>(nodes_.size());
      const auto [edge, is_new] = edges_.emplace(edge_key(node, *c), added);
      ++depth;
      if (is_new) {
        if (nodes_.size() > kMostEnds) {
          throw FormatError("added_tokens", "they must have at most " + std::to_string(kMostEnds) +
                                                " different ends: found more");
        }
        nodes_.emplace_back();
        above.push_back({node, *c, depth});
      }
      node = edge->second;
    }
    nodes_[node].token = static_cast<std::int32_t>(k);
  }
  // A node's suffix is shorter, and is linked before it.
  std::vector<double> depths;
  for (const auto& each : above) depths.push_back(each.depth);
  for (const std::size_t place : argsort(depths)) {
    if (above[place].depth == 0) continue;
    Node& node = nodes_[place];
    if (above[place].depth > 1) {
      node.shorter = follow(nodes_[above[place].from].shorter, above[place].character);
    }
    if (node.token < 0) node.token = nodes_[node.shorter].token;
  }
}

std::uint32_t AddedTokens::follow(std::uint32_t node, char32_t c) const {
  for (;;) {
    const auto edge = edges_.find(edge_key(node, c));
    if (edge != edges_.end()) return edge->second;
    if (node == 0) return 0;
    node = nodes_[node].shorter;
  }
}

std::vector<const AddedToken*> AddedTokens::longest_at(std::u32string_view text) const {
  std::vector<const AddedToken*> longest(text.size());
  if (empty()) return longest;
  std::uint32_t node = 0;
  for (std::size_t at = text.size(); at-- > 0;) {
    node = follow(node, text[at]);
    const std::int32_t token = nodes_[node].token;
    if (token >= 0) longest[at] = &tokens_[static_cast<std::size_t>(token)];
  }
  return longest;
}

}  // namespace eigenscope
