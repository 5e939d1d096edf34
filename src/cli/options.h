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
/// Makes the option throw InvalidArgument for an empty text, such as that of an unset shell variable; used for every
/// option whose value is a path or a name.
CLI::Option* refuse_empty(CLI::Option* option);
/// The items of a list with commas. Throws InvalidArgument (`name`) for one that is there twice.
std::vector<std::string> distinct_items(const std::string& name, const std::string& list);

}  // namespace eigenscope::cli
