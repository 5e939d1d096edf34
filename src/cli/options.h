// Types and checks of the options of all commands.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/parameter.h"

namespace eigenscope::cli {

/// "--name-with-dashes".
std::string option_name(std::string_view name);
/// For every option whose value is a path or a name: an empty text, such as that of a shell variable that is not set,
/// is refused with InvalidArgument. It never means that the option was not given.
CLI::Option* refuse_empty(CLI::Option* option);
/// The items of a list with commas. Throws InvalidArgument (`name`) for one that is there twice.
std::vector<std::string> distinct_items(const std::string& name, const std::string& list);

}  // namespace eigenscope::cli
