// The input of an operation: a plain struct, and one function that describes its fields,
//
//   void describe(InputFields& f, SweepInput& in) {
//     describe(f, in.spectrum);
//     f.number(shared::kSamples, in.samples);
//     f.choice("measure", in.measure, kMeasures, "measure that is predicted");
//   }
//
// A reader of values (the command line, JavaScript) or of the fields themselves (help, schema, the check
// of one typed value) is an InputFields, to which this function passes every field. A number's range, default and
// meaning are those of its parameter. A choice's names are its table's.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "io/byte_source.h"
#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

enum class FieldKind {
  number,
  choice,
  flag,
  text,
  numbers,   ///< a list, each of whose entries is checked as a parameter
  bytes,     ///< a whole file's content
  pictures,  ///< binary PPM files, one after another
  file,      ///< read by ranges
  files,
};

/// Lists of numbers and files that may be absent are empty; an absent file is null.
using File = std::shared_ptr<ByteSource>;

/// Source of the content of a field on the command line. The page gives every field by its name.
enum class FieldSource {
  option,          ///< an option of the field's name
  text_option,     ///< an option of the field's name, which has the published text as default
  run_option,      ///< an option of the field's name, the checkpoint of a training run
  model,           ///< MODEL: the files of weights
  model_index,     ///< MODEL: the index of its shards
  model_config,    ///< --config, or config.json beside the weights
  model_folder,    ///< MODEL: the name of its folder, or its revision
  trainer_state,   ///< --trainer-state, or trainer_state.json beside the weights
  tokenizer,       ///< --tokenizer, or tokenizer.json beside the weights
  preprocessor,    ///< --preprocessor, or preprocessor_config.json beside the weights
  changed,         ///< --changed: the files of weights of a second checkpoint
  changed_index,   ///< --changed: the index of its shards
  changed_config,  ///< --changed-config, or config.json beside the weights of --changed
  runs,            ///< RUNS: checkpoints of training runs
};

/// A field, as InputFields sees it.
struct InputField {
  /// The member of the input struct; none for numbers, choices and flags.
  using Member = std::variant<std::monostate, std::string*, std::vector<double>*,
                              std::vector<std::byte>*, File*, std::vector<File>*>;

  const char* name;
  FieldKind kind;
  Member member = {};
  /// The value of a number, a choice (its index) or a flag.
  std::function<void(double value)> set = {};
  std::function<double()> get = {};
  const Parameter* parameter = nullptr;  ///< range and default of number and numbers
  /// A number without a value is allowed; `note` describes its default.
  bool optional = false;
  /// Default of a number that replaces the parameter's; NaN for none.
  double default_override = std::numeric_limits<double>::quiet_NaN();
  Choices names = {};
  Help meaning = {};  ///< for a number only where it is not the parameter's
  Help note = {};     ///< the default in words, where it is no value
  FieldSource source = FieldSource::option;

  bool is_number() const { return kind == FieldKind::number; }
  /// The default of a number that is not optional.
  double default_number() const;
  std::string& text() const { return *std::get<std::string*>(member); }
  std::vector<double>& numbers() const { return *std::get<std::vector<double>*>(member); }
  /// The member that a field of bytes or of a picture fills.
  std::vector<std::byte>& bytes() const { return *std::get<std::vector<std::byte>*>(member); }
  File& file() const { return *std::get<File*>(member); }
  std::vector<File>& files() const { return *std::get<std::vector<File>*>(member); }
};

class InputFields {
 public:
  virtual ~InputFields() = default;
  virtual void visit(const InputField& field) = 0;
  /// `name` and `other` are two ways to give one value, of which at most one may be given. Only the command line
  /// checks this, since it alone knows what was given.
  virtual void excludes(const char* /*name*/, const char* /*other*/) {}
  /// `name` is of no use without `other`.
  virtual void needs(const char* /*name*/, const char* /*other*/) {}
  /// Called after the last field.
  virtual void end() {}

  /// `Number` is double, an integer type, or a std::optional of them. Name, range and default are the
  /// parameter's, which must outlive the fields.
  template <class Number>
  void number(const Parameter& parameter, Number& at, Help meaning = {}) {
    visit_number(parameter.name.data(), parameter, at, kNone, meaning, {});
  }
  /// A number with range and default of the parameter, under another name.
  template <class Number>
  void number_as(const Parameter& parameter, const char* name, Number& at, Help meaning) {
    visit_number(name, parameter, at, kNone, meaning, {});
  }
  /// A number with `default_override` as its default.
  template <class Number>
  void number_from(double default_override, const Parameter& parameter, Number& at,
                   Help meaning = {}) {
    visit_number(parameter.name.data(), parameter, at, default_override, meaning, {});
  }
  /// An optional number whose default is described in words.
  template <class Number>
  void number_or(Help note, const Parameter& parameter, std::optional<Number>& at,
                 Help meaning = {}) {
    visit_number(parameter.name.data(), parameter, at, kNone, meaning, note);
  }
  /// The default is the value that the member has.
  template <class Enumeration>
  void choice(const char* name, Enumeration& member, Choices names, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::choice,
           .set =
               [&member](double value) {
                 member = static_cast<Enumeration>(static_cast<std::int64_t>(value));
               },
           .get = [&member] { return static_cast<double>(member); },
           .names = names,
           .meaning = meaning});
  }
  /// Off unless given.
  void flag(const char* name, bool& member, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::flag,
           .set = [&member](double value) { member = value != 0; },
           .get = [&member] { return member ? 1.0 : 0.0; },
           .meaning = meaning});
  }
  void text(const char* name, std::string& member, Help meaning, Help note = {},
            FieldSource source = FieldSource::option) {
    visit({.name = name,
           .kind = FieldKind::text,
           .member = &member,
           .meaning = meaning,
           .note = note,
           .source = source});
  }
  /// Entries are checked as the parameter `element`. The default is the list that
  /// the member has; where it has entries, an empty list is refused.
  void numbers(const char* name, const Parameter& element, std::vector<double>& at, Help meaning);
  void bytes(const char* name, std::vector<std::byte>& member, Help meaning,
             FieldSource source = FieldSource::option) {
    visit({.name = name,
           .kind = FieldKind::bytes,
           .member = &member,
           .meaning = meaning,
           .source = source});
  }
  /// The command line reads PNG and JPEG files, the page what the browser reads.
  void pictures(const char* name, std::vector<std::byte>& member, Help meaning) {
    visit({.name = name, .kind = FieldKind::pictures, .member = &member, .meaning = meaning});
  }
  void file(FieldSource source, const char* name, File& member, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::file,
           .member = &member,
           .meaning = meaning,
           .source = source});
  }
  void files(FieldSource source, const char* name, std::vector<File>& member, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::files,
           .member = &member,
           .meaning = meaning,
           .source = source});
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  template <class Number>
  void visit_number(const char* name, const Parameter& parameter, Number& member,
                    double default_override, Help meaning, Help note) {
    visit({.name = name,
           .kind = FieldKind::number,
           .set = [&member](double value) { member = converted<Number>(value); },
           .get = [&member] { return static_cast<double>(member); },
           .parameter = &parameter,
           .default_override = default_override,
           .meaning = meaning,
           .note = note});
  }
  template <class Number>
  void visit_number(const char* name, const Parameter& parameter, std::optional<Number>& member,
                    double default_override, Help meaning, Help note) {
    visit({.name = name,
           .kind = FieldKind::number,
           .set = [&member](double value) { member = converted<Number>(value); },
           .get = [&member] { return member ? static_cast<double>(*member) : kNone; },
           .parameter = &parameter,
           .optional = true,
           .default_override = default_override,
           .meaning = meaning,
           .note = note});
  }
  template <class Number>
  static Number converted(double value) {
    if constexpr (std::is_floating_point_v<Number>) {
      return value;
    } else {
      return static_cast<Number>(static_cast<std::int64_t>(value));
    }
  }
};

/// The content of a field of bytes as text; not checked to be UTF-8.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Sets the member of a number to its default; the other members have theirs.
void set_default(const InputField& field);

/// "1,2.5,3" as its items, at least one, or a text with another separator; an item may be empty. Not CLI11's
/// delimiter, which drops empty items before a check can refuse them, and which the page's `check` of a typed list does
/// not have.
std::vector<std::string> list_items(const std::string& text, char separator = ',');

/// Reads what a person typed for a number, choice, flag ("true", "false"), text or list (commas) into
/// the field's member. Throws InvalidArgument naming the field. Files are not read.
void read_text(const InputField& field, const std::string& text);

}  // namespace eigenscope
