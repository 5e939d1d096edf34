// Options of the command line, made from the library's table of parameters.
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/mask.h"
#include "simulation/simulation.h"
#include "spectrum/ensemble.h"
#include "tokens/kernel.h"

namespace eigenscope::cli {

/// Numeric options by their names in the parameter table. They are kept as texts and read by the
/// library, so that a bad one is refused in the library's words.
class Numbers {
 public:
  /// Adds `--name-with-dashes` with meaning, range and default from the table; `as` is another name
  /// for the option.
  CLI::Option* add(CLI::App& app, std::string_view name, std::string_view as = {});
  /// A default of this command's own.
  void set_default(std::string_view name, std::string text) {
    defaults_.insert_or_assign(std::string(name), std::move(text));
  }
  /// Whether there is an option for it.
  bool has(std::string_view name) const { return typed_.contains(name); }
  /// Whether the user wrote it, be it with an empty text (which number() then refuses).
  bool given(std::string_view name) const;
  /// Throws InvalidArgument.
  double number(std::string_view name) const;
  Eigen::Index integer(std::string_view name) const {
    return static_cast<Eigen::Index>(number(name));
  }

 private:
  struct Typed {
    std::string text;
    CLI::Option* option = nullptr;
    std::string field;
  };
  std::map<std::string, Typed, std::less<>> typed_;
  std::map<std::string, std::string, std::less<>> defaults_;
};

/// "1,2.5,3" as numbers, each checked as the parameter `name`; an item may not be empty.
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

/// --ensemble, --eigenvalues, --width, --head-width, --seed, and --mean and --variance, or those of
/// them that `coordinates` names.
class EnsembleOptions {
 public:
  EnsembleOptions(CLI::App& app, Numbers& numbers,
                  std::initializer_list<const char*> coordinates = {"mean", "variance"});
  EnsembleSettings settings() const;
  /// --mean; for a list of eigenvalues, its own unless it is given.
  double mean() const;
  /// --mean and --variance, in the same way.
  SpectrumPoint point() const;

 private:
  const Numbers& numbers_;
  std::string name_ = "normal";
  std::string eigenvalues_;
  CLI::Option* eigenvalues_option_;
};

/// --mask, --window, --blocks, --prefix, --selected.
class MaskOptions {
 public:
  MaskOptions(CLI::App& app, Numbers& numbers);
  Mask mask() const;

 private:
  const Numbers& numbers_;
  std::string name_ = "causal";
};

}  // namespace eigenscope::cli
