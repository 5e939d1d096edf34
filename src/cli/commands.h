// The subcommands. Each adds itself to the application and runs when it was chosen.
#pragma once

#include <CLI/CLI.hpp>

namespace eigenscope::cli {

void add_heads(CLI::App& app);    ///< heads of a checkpoint
void add_train(CLI::App& app);    ///< trains small language models, with and without regularizers
void add_headvis(CLI::App& app);  ///< attention as HeadVis shows it
void add_collect(CLI::App& app);  ///< results of a grid
void add_schema(CLI::App& app);   ///< fields of every operation
void add_parameters(CLI::App& app);  ///< all numeric parameters

}  // namespace eigenscope::cli
