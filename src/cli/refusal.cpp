#include "cli/unknown_option.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "support/error.h"

namespace eigenscope::cli {
namespace {

// Levenshtein's distance: how many letters to insert, delete or replace.
std::size_t edits(const std::string& from, const std::string& to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] != to[j] ? 1 : 0);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// The option of a name that has few letters more, less or different; empty where none is near.
std::string nearest(const CLI::App& command, const std::string& name) {
  std::string found;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string candidate = "--" + option->get_lnames().front();
    const std::size_t distance = edits(name, candidate);
    if (distance < least) {
      least = distance;
      found = candidate;
    }
  }
  return found;
}

}  // namespace

void check_option_names(const CLI::App& app, const std::vector<std::string>& arguments) {
  const CLI::App* command = &app;
  for (const CLI::App* it : app.get_subcommands(nullptr)) {
    if (!arguments.empty() && it->get_name() == arguments.front()) command = it;
  }
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    if (!argument.starts_with("--")) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (command->get_option_no_throw(name) != nullptr) continue;
    const std::string near = nearest(*command, name);
    throw InvalidArgument(
        name, "there is no such option" +
                  (command == &app ? "" : " of the command " + command->get_name()) +
                  (near.empty() ? "; `--help` lists them" : "; the nearest is " + near));
  }
}

}  // namespace eigenscope::cli
