// `eigenscope`: every computation of the page, from a terminal. Results on standard output,
// messages on standard error; exit status 0, 1 for a file that is not what it should be, 2 for bad
// options or values.
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <array>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/operation_command.h"
#include "cli/output.h"
#include "cli/refusal.h"
#include "operations/operations.h"
#include "support/error.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kFailure = 1;

/// Longest message in bytes: parts of a message may come from a file.
constexpr std::size_t kLongestMessage = 4000;

int fail(std::string message, int status) {
  if (message.size() > kLongestMessage) {
    const std::size_t left_out = message.size() - kLongestMessage;
    message.resize(kLongestMessage);
    message += "... (" + std::to_string(left_out) + " more bytes)";
  }
  eigenscope::cli::note(message);
  return status;
}

/// The given options and values, for a message about memory, whose need depends on the sizes among them.
std::string asked(const CLI::App& app) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands()) {
    text = command->get_name();
    for (const CLI::Option* option : command->get_options()) {
      if (option->count() == 0) continue;
      text += " " + option->get_name();
      for (const std::string& value : option->results()) text += " " + value;
    }
  }
  return text;
}

int fail_of_memory(const CLI::App& app) {
  std::string message = std::string(eigenscope::kOutOfMemory) + " (" + asked(app);
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    message += "; this process may have " + std::to_string(limit.rlim_cur / 1'000'000) + " MB";
  }
  return fail(message + ")", kFailure);
}

/// `status`, unless what was printed did not arrive.
int finish(int status) {
  if (std::cout.flush()) return status;
  return fail("standard output: the result could not be written", kFailure);
}

/// The arguments as CLI11 reads them, last first. "--name=" becomes "--name" and an empty value, for
/// which CLI11 would else take the next argument.
std::vector<std::string> last_first(const std::vector<std::string>& arguments) {
  std::vector<std::string> split;
  bool options = true;
  for (const std::string& argument : arguments) {
    options = options && argument != "--";
    const bool empty_value = options && argument.starts_with("--") && argument.ends_with('=') &&
                             argument.find('=') == argument.size() - 1;
    split.push_back(empty_value ? argument.substr(0, argument.size() - 1) : argument);
    if (empty_value) split.emplace_back();
  }
  return {split.rbegin(), split.rend()};
}

// CLI11 would only say that a command is missing.
void check_command(const CLI::App& app, const std::string& name) {
  std::string names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (command->get_name() == name) return;
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  throw eigenscope::InvalidArgument("the command", "be one of " + names, "found '" + name + "'");
}

void parse(CLI::App& app, const std::vector<std::string>& arguments) {
  try {
    app.parse(last_first(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) eigenscope::cli::explain(error, app, arguments);
    throw;
  }
}

// Adds the command of an operation; `heads` and `train` take several checkpoints or runs in one call.
void add(CLI::App& app, const eigenscope::Operation& operation) {
  if (&operation == &eigenscope::heads_operation) return eigenscope::cli::add_heads(app);
  if (&operation == &eigenscope::train_operation) return eigenscope::cli::add_train(app);
  eigenscope::cli::add_operation(app, operation);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Eigenscope: attention localization and the eigenspectrum of the query-key matrix\n"
      "Attention localizes when the eigenspectrum of W_QK has a non-zero mean and a small "
      "variance\n"
      "(Bao, Hataya, Karakida, ICML 2024, arXiv:2402.02098). The commands compute the theory, its\n"
      "simulation, the spectra of trained heads, and training runs.\n",
      "eigenscope"};
  app.set_version_flag("--version", EIGENSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer(
      "`eigenscope COMMAND --help` lists the options of a command. Results are JSON, or CSV with "
      "--csv.");
  for (const eigenscope::Operation* operation : eigenscope::kOperations) add(app, *operation);
  eigenscope::cli::add_headvis(app);
  eigenscope::cli::add_collect(app);
  eigenscope::cli::add_schema(app);
  eigenscope::cli::add_parameters(app);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (arguments.empty() || !arguments.front().starts_with('-')) {
      check_command(app, arguments.empty() ? "" : arguments.front());
    }
    parse(app, arguments);
    return finish(0);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? finish(0) : kBadInput;
  } catch (const eigenscope::InvalidArgument& error) {
    return fail(eigenscope::cli::in_options(error, app, arguments), kBadInput);
  } catch (const eigenscope::FormatError& error) {
    return fail(error.what(), kFailure);
  } catch (const std::bad_alloc&) {
    return fail_of_memory(app);
  } catch (const std::length_error&) {
    return fail_of_memory(app);
  } catch (const std::exception& error) {
    return fail(asked(app) + ": internal error: " + error.what(), kFailure);
  }
}
