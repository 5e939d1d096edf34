// `eigenscope`: every computation of the page, from a terminal. Results on standard output,
// messages on standard error; exit status 0, 1 for a file that is not what it should be, 2 for bad
// options or values.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "cli/commands.h"
#include "support/error.h"

namespace {

constexpr int kBadInput = 2;
constexpr int kFailure = 1;

int fail(const std::exception& error, int status) {
  std::cerr << "eigenscope: " << error.what() << '\n';
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Eigenscope: when does attention localize?\n"
      "Attention localizes when the eigenspectrum of the query-key matrix W_QK has a non-zero "
      "mean\n"
      "and a small variance (Bao, Hataya, Karakida, ICML 2024, arXiv:2402.02098). The commands\n"
      "compute the theory, its simulation, and the spectra of trained heads.\n",
      "eigenscope"};
  app.set_version_flag("--version", EIGENSCOPE_VERSION);
  app.require_subcommand(1);
  app.footer("eigenscope COMMAND --help explains a command. Results are JSON, or CSV with --csv.");
  eigenscope::cli::add_propagation(app);
  eigenscope::cli::add_simulate(app);
  eigenscope::cli::add_sweep(app);
  eigenscope::cli::add_map(app);
  eigenscope::cli::add_spectrum(app);
  eigenscope::cli::add_attention(app);
  eigenscope::cli::add_heads(app);
  eigenscope::cli::add_parameters(app);
  try {
    app.parse(argc, argv);
    std::cout.flush();
    return std::cout ? 0 : kFailure;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadInput;
  } catch (const eigenscope::InvalidArgument& error) {
    return fail(error, kBadInput);
  } catch (const std::exception& error) {
    return fail(error, kFailure);
  }
}
