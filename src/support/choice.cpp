#include "support/choice.h"

#include "support/error.h"

namespace eigenscope {

std::string Choices::joined(std::string_view separator) const {
  std::string text;
  for (std::size_t k = 0; k < size(); ++k) {
    if (k > 0) text += separator;
    text += (*this)[k].name;
  }
  return text;
}

std::size_t Choices::index_of(std::string_view field, std::string_view name) const {
  for (std::size_t k = 0; k < size(); ++k) {
    if ((*this)[k].name == name) return k;
  }
  refuse_name(field, name, *this);
}

void refuse_name(std::string_view field, std::string_view given, Choices names) {
  throw InvalidArgument(std::string(field), "be one of " + names.joined(),
                        "found '" + std::string(given) + "'");
}

}  // namespace eigenscope
