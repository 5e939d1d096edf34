// A command of the terminal from the fields of its operation.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "contract/operation.h"

namespace eigenscope::cli {

/// An option's text for each field of an input: `--name-with-dashes`, with meaning, range and default.
class TypedFields {
 public:
  using Describe = std::function<void(InputFields&)>;
  /// Adds the options of all fields but files, the folder's name and those in `left_out`.
  void add_to(CLI::App& app, const Describe& describe, const std::set<std::string>& left_out = {});
  void add_to(CLI::App& app, const Operation& operation) { add_to(app, operation.describe_input); }
  /// Gives an option a text, unless the user wrote one. False where there is no such option.
  bool give(const std::string& name, std::string text);
  /// True if the user wrote the option, even with an empty text, or give() set it.
  bool given(const std::string& name) const;
  /// The text of an option that is given.
  const std::string& text(const std::string& name) const { return typed_.at(name).text; }

  /// Fills an input. Throws InvalidArgument naming the field.
  class Reader final : public InputFields {
   public:
    explicit Reader(const TypedFields& typed) : typed_(typed) {}
    void visit(const InputField& field) override;
    /// Whether the user gave pictures.
    bool given_pictures() const;

    std::map<FieldSource, std::vector<File>> files;  ///< absent ones are not there
    std::string folder;                              ///< FieldSource::model_folder

   private:
    const TypedFields& typed_;
  };

 private:
  struct Typed {
    std::string text;
    std::vector<std::string> paths;  // picture files
    bool flag = false;
    bool is_given = false;  // set by give()
    CLI::Option* option = nullptr;
  };
  std::map<std::string, Typed> typed_;
};

/// The meaning of the field, or of its parameter.
std::string meaning_of(const InputField& field);
/// The help of an option: "meaning (range; default)".
std::string help_of(const InputField& field);

/// True if the input has a field that is read from `source`.
bool reads_from(const Operation& operation, FieldSource source);

/// Runs a job to its end, and shows how far it is where a person is watching.
void run_job(Job& job);

/// Adds the command of an operation that needs nothing but its fields and a checkpoint.
void add_operation(CLI::App& app, const Operation& operation);
/// The lines of an operation's help that follow the options.
std::string footer_of(const Operation& operation);

/// Writes the notes on a job's result to standard error, each behind `model`.
void print_notes(const Job& job, const std::string& model = "");

}  // namespace eigenscope::cli
