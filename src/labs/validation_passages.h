// Passages of a text on which labs evaluate trained language models.
#pragma once

#include <string_view>
#include <vector>

#include "support/parameter.h"
#include "training/text.h"

namespace eigenscope {

inline constexpr Parameter kSequences{"sequences", integers(16, 4096), 128,
                                      "sequences of validation text"};

inline constexpr Eigen::Index kPassagesAtOnce = 16;  ///< of a forward pass

/// `count` passages at even distances in the last tenth of a text, fewer where they would overlap, each of `length`
/// tokens and the next one. Throws InvalidArgument ("text") where there is none.
std::vector<std::vector<TokenId>> validation_passages(const Tokenizer& tokenizer,
                                                      std::string_view text, Eigen::Index length,
                                                      Eigen::Index count);

}  // namespace eigenscope
