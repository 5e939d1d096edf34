// Messages about arguments that the program does not take: sentences of one form, in the names of the options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "support/error.h"

namespace eigenscope::cli {

/// Throws InvalidArgument for what CLI11 has refused: an unknown option, a missing or repeated value, options that
/// need or exclude each other. Does nothing for another error.
void explain(const CLI::ParseError& error, const CLI::App& app,
             const std::vector<std::string>& arguments);

/// The sentence of the error, with `--option` for the field that the command of the arguments has as an option.
std::string in_options(const InvalidArgument& error, const CLI::App& app,
                       const std::vector<std::string>& arguments);

}  // namespace eigenscope::cli
