#include "contract/input.h"

#include <array>
#include <cmath>

#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::array kFlags{Choice{"false", "no"}, Choice{"true", "yes"}};

std::vector<double> number_list(const InputField& field, const std::string& text) {
  std::vector<double> list;
  for (const std::string& item : list_items(text)) {
    list.push_back(parse_parameter(*field.parameter, item, field.name));
  }
  return list;
}

}  // namespace

double InputField::default_number() const {
  return std::isnan(own_default) ? parameter->default_value : own_default;
}

void InputFields::visit_number(const char* name, const Parameter& parameter, void* at,
                               void (*set)(void*, double), double (*get)(const void*),
                               bool optional, double own_default, Help meaning, Help note) {
  InputField field{name, FieldKind::number, at, set, get, &parameter, optional, own_default};
  field.meaning = meaning;
  field.note = note;
  visit(field);
}

void InputFields::flag(const char* name, bool& at, Help meaning) {
  InputField field{name, FieldKind::flag, &at, &set_as<bool>, &get_as<bool>};
  field.meaning = meaning;
  visit(field);
}

void InputFields::text(const char* name, std::string& at, Help meaning, Help note) {
  InputField field{name, FieldKind::text, &at};
  field.meaning = meaning;
  field.note = note;
  visit(field);
}

void InputFields::numbers(const char* name, const Parameter& element, std::vector<double>& at,
                          Help meaning) {
  InputField field{name, FieldKind::numbers, &at};
  field.parameter = &element;
  field.meaning = meaning;
  visit(field);
}

void InputFields::bytes(const char* name, std::vector<std::byte>& at, Help meaning) {
  InputField field{name, FieldKind::bytes, &at};
  field.meaning = meaning;
  visit(field);
}

void InputFields::pictures(const char* name, std::vector<std::byte>& at, Help meaning) {
  InputField field{name, FieldKind::pictures, &at};
  field.meaning = meaning;
  visit(field);
}

void InputFields::file(const char* name, File& at, Help meaning) {
  InputField field{name, FieldKind::file, &at};
  field.meaning = meaning;
  visit(field);
}

void InputFields::files(const char* name, std::vector<File>& at, Help meaning) {
  InputField field{name, FieldKind::files, &at};
  field.meaning = meaning;
  visit(field);
}

std::vector<std::string> list_items(const std::string& text) {
  std::vector<std::string> items;
  for (std::size_t start = 0;;) {
    const std::size_t comma = text.find(',', start);
    items.push_back(text.substr(start, comma - start));
    if (comma == std::string::npos) return items;
    start = comma + 1;
  }
}

void set_default(const InputField& field) {
  if (field.is_number() && !field.optional) field.set(field.at, field.default_number());
}

void read_text(const InputField& field, const std::string& text) {
  switch (field.kind) {
    case FieldKind::number:
      return field.set(field.at, parse_parameter(*field.parameter, text, field.name));
    case FieldKind::choice:
      return field.set(field.at, static_cast<double>(field.names.index_of(field.name, text)));
    case FieldKind::flag:
      return field.set(field.at, static_cast<double>(Choices(kFlags).index_of(field.name, text)));
    case FieldKind::numbers:
      *static_cast<std::vector<double>*>(field.at) = number_list(field, text);
      return;
    case FieldKind::text:
      *static_cast<std::string*>(field.at) = text;
      return;
    default:
      throw InvalidArgument(field.name, "be a file");
  }
}

}  // namespace eigenscope
