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
  return std::isnan(default_override) ? parameter->default_value : default_override;
}

void InputFields::numbers(const char* name, const Parameter& element, std::vector<double>& member,
                          Help meaning) {
  visit({.name = name,
         .kind = FieldKind::numbers,
         .member = &member,
         .parameter = &element,
         .meaning = meaning});
}

std::vector<std::string> list_items(const std::string& text, char separator) {
  std::vector<std::string> items;
  for (std::size_t start = 0;;) {
    const std::size_t end = text.find(separator, start);
    items.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return items;
    start = end + 1;
  }
}

void set_default(const InputField& field) {
  if (field.is_number() && !field.optional) field.set(field.default_number());
}

void read_text(const InputField& field, const std::string& text) {
  switch (field.kind) {
    case FieldKind::number:
      return field.set(parse_parameter(*field.parameter, text, field.name));
    case FieldKind::choice:
      return field.set(static_cast<double>(field.names.index_of(field.name, text)));
    case FieldKind::flag:
      return field.set(static_cast<double>(Choices(kFlags).index_of(field.name, text)));
    case FieldKind::numbers:
      field.numbers() = number_list(field, text);
      return;
    case FieldKind::text:
      field.text() = text;
      return;
    default:
      throw InvalidArgument(field.name, "be a file");
  }
}

}  // namespace eigenscope
