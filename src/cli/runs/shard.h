// Shares of a grid's cells, and what may stand beside --grid.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace eigenscope::cli {

/// Every `of`-th cell, beginning with the `number`-th, which is 1 for the first.
struct Shard {
  std::size_t number = 1, of = 1;
};

/// "I/N" with I from 1 to N; all cells for an empty text. Throws InvalidArgument.
Shard parse_shard(const std::string& text);

/// Throws InvalidArgument for an option given beside `grid` that neither needs `grid` nor is among `also`, since the
/// grid file has the settings, and ("out") when there is no folder `out` for the cells.
void check_beside_grid(const CLI::App& app, CLI::Option* grid, const std::string& out,
                       std::initializer_list<std::string_view> also = {});

}  // namespace eigenscope::cli
