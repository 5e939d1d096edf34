#include "cli/grid_runs.h"

#include <chrono>
#include <memory>

#include "cli/progress.h"
#include "cli/shard.h"
#include "cli/text_input.h"
#include "experiment/cell.h"
#include "support/error.h"

namespace eigenscope::cli {

void run_grid(const std::string& path, const std::string& shard_text, const std::string& out,
              double save_every) {
  const Shard shard = parse_shard(shard_text);
  const Grid grid = parse_grid(read_text(path));
  const auto text = std::make_shared<const Text>(
      read_training_text(grid.text, grid.validation, grid.tokenizer, grid.min_count));
  const CellFolder folder(out);
  std::vector<const GridCell*> own;
  for (std::size_t i = shard.number - 1; i < grid.cells.size(); i += shard.of) {
    own.push_back(&grid.cells[i]);
  }
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> between_saves(save_every);
  const Progress progress("cells");
  double done = 0, found = 0;
  for (const GridCell* const cell : own) {
    if (folder.result(grid, *cell)) {
      ++found;
    } else {
      auto saved = Clock::now();
      folder.run(grid, *cell, text, [&](double share) {
        progress.show(done + share, static_cast<double>(own.size()), found);
        if (Clock::now() - saved < between_saves) return false;
        saved = Clock::now();
        return true;
      });
    }
    ++done;
  }
}

}  // namespace eigenscope::cli
