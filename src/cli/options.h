// Options of the command line, made from the library's table of parameters.
#pragma once

#include <CLI/CLI.hpp>
#include <Eigen/Core>
#include <map>
#include <string>
#include <string_view>
#include <utility>
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
/// A row of the table of parameters with symbol and meaning. Throws InvalidArgument for an unknown name.
const Parameter& described_parameter(std::string_view name);

/// Numeric options by their names in the parameter table. They are kept as texts and read by the
/// library, so that a bad one is refused in the library's words.
class Numbers {
 public:
  /// Adds `--name-with-dashes` with meaning, range and default from the table.
  CLI::Option* add(CLI::App& app, std::string_view name);
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
  };
  std::map<std::string, Typed, std::less<>> typed_;
  std::map<std::string, std::string, std::less<>> defaults_;
};

}  // namespace eigenscope::cli
