// The result of an operation: a plain struct, and one function that describes its fields,
//
//   void describe(ResultFields& out, const MapResult& result) {
//     out.array("xi_over_lambda", result.x, {{"column", columns}}, "xi/lambda of each column");
//     out.number("localization", result.localization, "localization index");
//   }
//
// A reader of values (JSON, JavaScript) or of the fields themselves (schema, TypeScript) is a ResultFields, to
// which this function passes every field. A NaN is null in JSON, and in JavaScript where the number is declared
// nullable.
#pragma once

#include <Eigen/Core>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/choice.h"
#include "support/parameter.h"

namespace eigenscope {

/// A dimension of an array; the name is that of its index, which begins at `first`, 0 for layers and heads.
struct Dimension {
  const char* name;
  Eigen::Index size;
  Eigen::Index first = 1;
};
using Shape = std::initializer_list<Dimension>;

/// Entries of an array, row-major over its shape.
struct ArrayView {
  enum class Element {
    real,     ///< double
    whole,    ///< double, integers
    single,   ///< float
    as_f32,   ///< double here, single precision where it goes to JavaScript
    complex,  ///< std::complex<double>; in JavaScript interleaved real and imaginary parts
    choice,   ///< std::uint8_t, the rows of `names`
  };
  using Data =
      std::variant<const double*, const float*, const std::complex<double>*, const std::uint8_t*>;

  Element element;
  Data data;  ///< type as `element` names it
  std::size_t size;
  std::span<const Dimension> shape;
  Choices names = {};

  const double* doubles() const { return std::get<const double*>(data); }
};

class ResultFields {
 public:
  virtual ~ResultFields() = default;

  virtual void flag(const char* name, bool value, Help meaning) = 0;
  virtual void text(const char* name, std::string_view value, Help meaning) = 0;
  virtual void choice(const char* name, std::size_t value, Choices names, Help meaning) = 0;
  virtual void texts(const char* name, std::span<const std::string> values, Dimension dimension,
                     Help meaning) = 0;
  /// Any bytes, such as a file or a text that need not be UTF-8. With `nullable` no bytes are null.
  virtual void bytes(const char* name, std::span<const std::byte> value, bool nullable,
                     Help meaning) = 0;

  void number(const char* name, double value, Help meaning) {
    put_number(name, value, false, meaning);
  }
  /// A number with the name, meaning and range of an input's parameter.
  void number(const Parameter& parameter, double value) { put_parameter(parameter, value); }
  void nullable(const char* name, double value, Help meaning) {
    put_number(name, value, true, meaning);
  }
  void integer(const char* name, Eigen::Index value, Help meaning) {
    put_integer(name, value, false, meaning);
  }
  void nullable(const char* name, std::optional<Eigen::Index> value, Help meaning) {
    put_integer(name, value, true, meaning);
  }
  void array(const char* name, const Eigen::VectorXd& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::real, values.data(), values.size(), shape, meaning);
  }
  /// An array of integers.
  void counts(const char* name, const Eigen::VectorXd& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::whole, values.data(), values.size(), shape, meaning);
  }
  void array(const char* name, const Eigen::VectorXcd& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::complex, values.data(), values.size(), shape, meaning);
  }
  void array(const char* name, const std::vector<float>& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::single, values.data(),
                static_cast<Eigen::Index>(values.size()), shape, meaning);
  }
  void array(const char* name, const Eigen::MatrixXf& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::single, values.data(), values.size(), shape, meaning);
  }
  /// Columns of the matrix are rows of the array. Single precision is enough for the page.
  void array_f32(const char* name, const Eigen::MatrixXd& values, Shape shape, Help meaning) {
    visit_array(name, ArrayView::Element::as_f32, values.data(), values.size(), shape, meaning);
  }
  void choices(const char* name, const std::vector<std::uint8_t>& values, Choices names,
               Shape shape, Help meaning);

  /// A list of objects, each of which `each(out, item)` describes.
  template <class Item, class Each>
  void list(const char* name, const std::vector<Item>& items, Help meaning, Each each) {
    begin_list(name, meaning);
    const auto visit_item = [&](const Item& item) {
      begin_item();
      each(*this, item);
      end();
    };
    if (describes()) {
      visit_item(Item{});
    } else {
      for (const Item& item : items) visit_item(item);
    }
    end();
  }
  template <class Item>
  void list(const char* name, const std::vector<Item>& items, Help meaning) {
    list(name, items, meaning, [](ResultFields& out, const Item& item) { describe(out, item); });
  }
  template <class Each>
  void object(const char* name, Help meaning, Each each) {
    begin_object(name, meaning);
    each(*this);
    end();
  }

  /// A sentence about the result, for a person; it is no field of the result.
  virtual void note(const std::string& /*text*/) {}

  /// Whether only the fields are visited, without values: then a list has one item.
  virtual bool describes() const { return false; }

 protected:
  /// `nullable` where a NaN, for a number that does not exist, is to be expected.
  virtual void put_number(const char* name, double value, bool nullable, Help meaning) = 0;
  virtual void put_parameter(const Parameter& parameter, double value) {
    put_number(parameter.name.data(), value, false, parameter.meaning);
  }
  /// `nullable` where it may have no value.
  virtual void put_integer(const char* name, std::optional<Eigen::Index> value, bool nullable,
                           Help meaning) = 0;
  virtual void put_array(const char* name, const ArrayView& array, Help meaning) = 0;
  virtual void begin_object(const char* name, Help meaning) = 0;
  virtual void begin_list(const char* name, Help meaning) = 0;
  virtual void begin_item() = 0;
  virtual void end() = 0;

 private:
  void visit_array(const char* name, ArrayView::Element element, ArrayView::Data data,
                   Eigen::Index size, Shape shape, Help meaning);
};

}  // namespace eigenscope
