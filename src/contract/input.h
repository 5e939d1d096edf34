// What goes into an operation: a plain struct, and one function that describes its fields,
//
//   void describe(InputFields& f, SweepInput& in) {
//     describe(f, in.spectrum);
//     f.number(shared::kSamples, in.samples);
//     f.choice("measure", in.measure, kMeasures, "measure that is predicted");
//   }
//
// Whoever has values (the command line, JavaScript) or wants to know the fields (help, schema, the check
// of one typed value) is an InputFields that this function visits. A number's range, default and meaning
// are those of its parameter. A choice's names are its table's.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
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

/// A field, as InputFields sees it.
struct InputField {
  const char* name;
  FieldKind kind;
  void* at;  ///< the member of the input struct: std::string, std::vector, ... by kind
  /// Only for numbers, choices (by their index) and flags.
  void (*set)(void* at, double value) = nullptr;
  double (*get)(const void* at) = nullptr;
  const Parameter* parameter = nullptr;  ///< of number and numbers
  /// A number without a value is allowed; `note` describes its default.
  bool optional = false;
  /// Default of a number; NaN for the parameter's.
  double own_default = std::numeric_limits<double>::quiet_NaN();
  Choices names = {};
  Help meaning = {};  ///< of a number only where it is not the parameter's
  Help note = {};     ///< the default in words, where it is no value

  bool is_number() const { return kind == FieldKind::number; }
  /// Of a number that is not optional.
  double default_number() const;
};

/// Lists of numbers and files that may be absent are empty; an absent file is null.
using File = std::shared_ptr<ByteSource>;

class InputFields {
 public:
  virtual ~InputFields() = default;
  virtual void visit(const InputField& field) = 0;
  /// Two ways to give the same value: whoever gives `name` must not give `other`. Only the command line knows
  /// what was given.
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
  /// With range and default of the parameter and a name of its own.
  template <class Number>
  void number_as(const Parameter& parameter, const char* name, Number& at, Help meaning) {
    visit_number(name, parameter, at, kNone, meaning, {});
  }
  /// With a default of the operation's own.
  template <class Number>
  void number_from(double own_default, const Parameter& parameter, Number& at, Help meaning = {}) {
    visit_number(parameter.name.data(), parameter, at, own_default, meaning, {});
  }
  /// An optional number whose default is described in words.
  template <class Number>
  void number_or(Help note, const Parameter& parameter, std::optional<Number>& at,
                 Help meaning = {}) {
    visit_number(parameter.name.data(), parameter, at, kNone, meaning, note);
  }
  /// The default is the value that the member has.
  template <class Enumeration>
  void choice(const char* name, Enumeration& at, Choices names, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::choice,
           .at = &at,
           .set = &set_as<Enumeration>,
           .get = &get_as<Enumeration>,
           .names = names,
           .meaning = meaning});
  }
  /// Off unless given.
  void flag(const char* name, bool& at, Help meaning) {
    visit({.name = name,
           .kind = FieldKind::flag,
           .at = &at,
           .set = &set_as<bool>,
           .get = &get_as<bool>,
           .meaning = meaning});
  }
  void text(const char* name, std::string& at, Help meaning, Help note = {}) {
    visit({.name = name, .kind = FieldKind::text, .at = &at, .meaning = meaning, .note = note});
  }
  /// Entries are checked as the parameter `element`. The default is the list that
  /// the member has; where it has entries, an empty list is refused.
  void numbers(const char* name, const Parameter& element, std::vector<double>& at, Help meaning);
  void bytes(const char* name, std::vector<std::byte>& at, Help meaning) {
    visit({.name = name, .kind = FieldKind::bytes, .at = &at, .meaning = meaning});
  }
  /// The command line reads PNG and JPEG files, the page what the browser reads.
  void pictures(const char* name, std::vector<std::byte>& at, Help meaning) {
    visit({.name = name, .kind = FieldKind::pictures, .at = &at, .meaning = meaning});
  }
  void file(const char* name, File& at, Help meaning) {
    visit({.name = name, .kind = FieldKind::file, .at = &at, .meaning = meaning});
  }
  void files(const char* name, std::vector<File>& at, Help meaning) {
    visit({.name = name, .kind = FieldKind::files, .at = &at, .meaning = meaning});
  }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  template <class T>
  static void set_as(void* at, double value) {
    *static_cast<T*>(at) = static_cast<T>(static_cast<std::int64_t>(value));
  }
  template <class T>
  static double get_as(const void* at) {
    return static_cast<double>(*static_cast<const T*>(at));
  }
  template <class T>
  static void set_optional(void* at, double value) {
    set_as<T>(&static_cast<std::optional<T>*>(at)->emplace(), value);
  }
  template <class T>
  static double get_optional(const void* at) {
    const auto& value = *static_cast<const std::optional<T>*>(at);
    return value ? static_cast<double>(*value) : kNone;
  }

  template <class T>
  void visit_number(const char* name, const Parameter& parameter, T& at, double own_default,
                    Help meaning, Help note) {
    visit_number(name, parameter, &at, &set_as<T>, &get_as<T>, false, own_default, meaning, note);
  }
  template <class T>
  void visit_number(const char* name, const Parameter& parameter, std::optional<T>& at,
                    double own_default, Help meaning, Help note) {
    visit_number(name, parameter, &at, &set_optional<T>, &get_optional<T>, true, own_default,
                 meaning, note);
  }
  void visit_number(const char* name, const Parameter& parameter, void* at,
                    void (*set)(void*, double), double (*get)(const void*), bool optional,
                    double own_default, Help meaning, Help note);
};

template <>
inline void InputFields::set_as<double>(void* at, double value) {
  *static_cast<double*>(at) = value;
}

/// The content of a field of bytes as text; not checked to be UTF-8.
inline std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Sets the member of a field to its default.
void set_default(const InputField& field);

/// "1,2.5,3" as its items, at least one, or a text with another separator; an item may be empty. Not CLI11's
/// delimiter, which drops empty items before a check can refuse them, and which the page's `check` of a typed list does
/// not have.
std::vector<std::string> list_items(const std::string& text, char separator = ',');

/// Reads what a person typed for a number, choice, flag ("true", "false"), text or list (commas) into
/// the field's member. Throws InvalidArgument naming the field. Files are not read.
void read_text(const InputField& field, const std::string& text);

}  // namespace eigenscope
