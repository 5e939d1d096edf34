// Shares of a grid's cells.
#pragma once

#include <cstddef>
#include <string>

namespace eigenscope::cli {

/// Every `of`-th cell, beginning with the `number`-th, which is 1 for the first.
struct Shard {
  std::size_t number = 1, of = 1;
};

/// "I/N" with I from 1 to N; all cells for an empty text. Throws InvalidArgument.
Shard parse_shard(const std::string& text);

}  // namespace eigenscope::cli
