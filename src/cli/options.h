// Options of the command line, made from the library's table of parameters.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulation/simulation.h"
#include "spectrum/ensemble.h"
#include "tokens/kernel.h"

namespace eigenscope::cli {

/// Numeric options by their names in the parameter table. They are kept as texts and read by the
/// library, so that a bad one is refused in the library's words.
class Numbers {
 public:
  /// Adds `--name-with-dashes` with meaning, range and default from the table.
  void add(CLI::App& app, std::string_view name);
  /// A default of this command's own.
  void set_default(std::string_view name, std::string text) {
    defaults_.insert_or_assign(std::string(name), std::move(text));
  }
  bool given(std::string_view name) const;
  /// Throws InvalidArgument.
  double number(std::string_view name) const;
  Eigen::Index integer(std::string_view name) const {
    return static_cast<Eigen::Index>(number(name));
  }

 private:
  std::map<std::string, std::string, std::less<>> texts_, defaults_;
};

/// "1,2.5,3" as numbers, each checked as the parameter `name`.
std::vector<double> number_list(std::string_view name, const std::string& text);

/// --tokens, --correlation, --length.
class TokenOptions {
 public:
  TokenOptions(CLI::App& app, Numbers& numbers, std::string default_process);
  TokenProcess process() const;

 private:
  const Numbers& numbers_;
  std::string name_;
};

/// --ensemble, --eigenvalues, --width, --head-width, --seed, --mean, --variance.
class EnsembleOptions {
 public:
  EnsembleOptions(CLI::App& app, Numbers& numbers);
  EnsembleSettings settings() const;
  /// --mean and --variance; for a list of eigenvalues, its own unless they are given.
  SpectrumPoint point() const;

 private:
  const Numbers& numbers_;
  std::string name_ = "normal";
  std::string eigenvalues_;
};

}  // namespace eigenscope::cli
