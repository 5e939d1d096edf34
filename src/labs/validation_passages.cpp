#include "labs/validation_passages.h"

#include <algorithm>
#include <string>

#include "support/error.h"

namespace eigenscope {

using Eigen::Index;

std::vector<std::vector<TokenId>> validation_passages(const Tokenizer& tokenizer,
                                                      std::string_view text, Index length,
                                                      Index count) {
  const std::vector<TokenId> tokens =
      tokenizer.encode(text.substr(validation_start(text, tokenizer.words())));
  const auto last = static_cast<Index>(tokens.size()) - 1 - length;
  if (last < 0) {
    throw InvalidArgument("text",
                          "have at least " + std::to_string(length + 1) +
                              " tokens in its last tenth for a sequence of " +
                              std::to_string(length),
                          "found " + std::to_string(tokens.size()));
  }
  const Index found = std::min(count, 1 + last / length);
  std::vector<std::vector<TokenId>> passages;
  for (Index k = 0; k < found; ++k) {
    const auto first = tokens.begin() + (found == 1 ? 0 : last * k / (found - 1));
    passages.emplace_back(first, first + length + 1);
  }
  return passages;
}

}  // namespace eigenscope
