// Options of the command line that a command does not have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace eigenscope::cli {

/// @throws InvalidArgument for the first of `arguments` that looks like an option ("--name", "--name=value") which
/// neither `app` nor the command that the first argument names has; it says which option is nearest. Arguments after
/// "--" are values.
void check_option_names(const CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace eigenscope::cli
