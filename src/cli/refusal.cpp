#include "cli/refusal.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>

#include "cli/options.h"

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
  std::string name_of_nearest;
  std::size_t least = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) continue;
    const std::string candidate = "--" + option->get_lnames().front();
    const std::size_t distance = edits(name, candidate);
    if (distance < least) {
      least = distance;
      name_of_nearest = candidate;
    }
  }
  return name_of_nearest;
}

/// The command that the arguments name; the program itself where they name none.
const CLI::App& command_of(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!arguments.empty() && command->get_name() == arguments.front()) return *command;
  }
  return app;
}

// CLI11 takes the value of an unknown option for an argument of the command, and names that.
void check_option_names(const CLI::App& command, bool is_program,
                        const std::vector<std::string>& arguments) {
  for (const std::string& argument : arguments) {
    if (argument == "--") return;
    const bool is_short = argument.size() > 1 && argument[0] == '-' &&
                          std::isalpha(static_cast<unsigned char>(argument[1])) != 0;
    if (!argument.starts_with("--") && !is_short) continue;
    const std::string name = argument.substr(0, argument.find('='));
    if (command.get_option_no_throw(name) != nullptr) continue;
    const std::string near = nearest(command, name);
    throw InvalidArgument(name, "be an option" + (is_program ? "" : " of " + command.get_name()),
                          near.empty() ? "`--help` lists them" : "the nearest is " + near);
  }
}

/// Allowed values of an option: the range of a number, at the end of its help, else the whole help.
std::string taken_by(const CLI::Option& option) {
  const std::string& help = option.get_description();
  for (const char* const kind : {" (a number ", " (an integer ", " (each a"}) {
    const std::size_t range = help.rfind(kind);
    if (range != std::string::npos && help.ends_with(')')) return help.substr(range);
  }
  return " (" + help + ")";
}

std::string joined(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ", ") + text;
  return list;
}

void check_counts(const CLI::App& command, const std::string& said) {
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (!said.starts_with(name + ":")) continue;
    const std::vector<std::string>& given = option->results();
    if (said.find("At Most") != std::string::npos) {
      throw InvalidArgument(name, "be given once", "found " + joined(given));
    }
    throw InvalidArgument(name, "have a value" + taken_by(*option));
  }
}

template <class Kind>
bool is(const CLI::ParseError& error) {
  return dynamic_cast<const Kind*>(&error) != nullptr;
}

/// Throws for "--one VERB other".
void check_pair(const std::string& said, const std::string& verb, const std::string& must) {
  const std::size_t at = said.find(verb);
  if (at == std::string::npos) return;
  throw InvalidArgument(said.substr(0, at), must + said.substr(at + verb.size()));
}

}  // namespace

void explain(const CLI::ParseError& error, const CLI::App& app,
             const std::vector<std::string>& arguments) {
  const CLI::App& command = command_of(app, arguments);
  const bool is_program = &command == &app;
  check_option_names(command, is_program, arguments);
  const std::string said = error.what();
  if (is<CLI::ArgumentMismatch>(error)) check_counts(command, said);
  if (is<CLI::RequiresError>(error)) check_pair(said, " requires ", "be given with ");
  if (is<CLI::ExcludesError>(error)) check_pair(said, " excludes ", "be omitted with ");
  if (is<CLI::RequiredError>(error) && !is_program) {
    const std::string name = said.substr(0, said.find(' '));
    const CLI::Option* const option = command.get_option_no_throw(name);
    throw InvalidArgument(name, "be given" + (option == nullptr ? "" : taken_by(*option)));
  }
  if (is<CLI::ExtrasError>(error) && !is_program) {
    throw InvalidArgument(command.get_name(), "have no other arguments than options",
                          "found " + joined(command.remaining(true)));
  }
}

std::string in_options(const InvalidArgument& error, const CLI::App& app,
                       const std::vector<std::string>& arguments) {
  const std::string said = error.what(), name = option_name(error.field());
  const bool is_option = command_of(app, arguments).get_option_no_throw(name) != nullptr;
  return is_option ? name + said.substr(error.field().size()) : said;
}

}  // namespace eigenscope::cli
