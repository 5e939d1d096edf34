// Choices by name: tables whose k-th row belongs to the k-th value of an enumeration.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "support/help.h"

namespace eigenscope {

/// One choice. Tables with more columns derive their row from it.
struct Choice {
  std::string_view name;  ///< text on the command line, in JSON and in the page's link
  Help label = {};        ///< text in the page's controls and the documentation
};

/// A view of a table of choices.
class Choices {
 public:
  constexpr Choices() = default;
  template <class Row, std::size_t Extent>
  constexpr Choices(std::span<Row, Extent> rows)
      : first_(rows.data()), count_(rows.size()), stride_(sizeof(Row)) {
    static_assert(std::is_base_of_v<Choice, Row>);
  }
  template <class Table>
  constexpr Choices(const Table& table) : Choices(std::span(table)) {}

  std::size_t size() const { return count_; }
  const Choice& operator[](std::size_t k) const {
    return *reinterpret_cast<const Choice*>(reinterpret_cast<const char*>(first_) + k * stride_);
  }
  /// "a, b, c".
  std::string joined(std::string_view separator = ", ") const;
  /// The row called `name`. Throws InvalidArgument(field) that lists the names.
  std::size_t index_of(std::string_view field, std::string_view name) const;

 private:
  const Choice* first_ = nullptr;  // the base of the first row
  std::size_t count_ = 0, stride_ = 0;
};

/// Throws InvalidArgument: "field must be one of a, b, c: found 'given'".
[[noreturn]] void refuse_name(std::string_view field, std::string_view given, Choices names);

/// The value of an enumeration that `name` stands for. Throws InvalidArgument(field).
template <class Enumeration>
Enumeration value_of_name(std::string_view field, std::string_view name, Choices names) {
  return static_cast<Enumeration>(names.index_of(field, name));
}

template <class Enumeration>
std::string_view name_of(Enumeration value, Choices names) {
  return names[static_cast<std::size_t>(value)].name;
}

}  // namespace eigenscope
