// Between JavaScript values and the fields of operations.
#pragma once

#include <emscripten/val.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "contract/input.h"
#include "contract/result.h"

namespace eigenscope::bindings {

using emscripten::val;

/// A copy of a Uint8Array. Throws InvalidArgument naming the field for another value.
std::vector<std::byte> bytes_of(const char* field, const val& value);

/// Reads a JavaScript object. A field that it lacks has its default; null is an absent number or file.
class ScriptInput final : public InputFields {
 public:
  explicit ScriptInput(val object) : object_(std::move(object)) {}
  /// Throws InvalidArgument naming the field whose value is of another type, out of range or unknown.
  void visit(const InputField& field) override;
  /// Throws InvalidArgument naming a property that is no field.
  void end() override;

 private:
  void read(const InputField& field, const val& value);
  val object_;
  std::vector<const char*> seen_;
};

/// Makes a JavaScript object. Arrays are copied to typed arrays: a view of WASM memory would dangle
/// when the memory grows.
class ScriptResult final : public ResultFields {
 public:
  val value() const { return open_.front(); }

  void flag(const char* name, bool value, Help) override;
  void text(const char* name, std::string_view value, Help) override;
  void choice(const char* name, std::size_t value, Choices names, Help) override;
  void texts(const char* name, std::span<const std::string> values, Dimension, Help) override;
  void bytes(const char* name, std::span<const std::byte> value, bool nullable, Help) override;

 protected:
  void put_number(const char* name, double value, bool nullable, Help) override;
  void put_integer(const char* name, std::optional<Eigen::Index> value, bool, Help) override;
  void put_array(const char* name, const ArrayView& array, Help) override;
  void begin_object(const char* name, Help) override { begin(name, val::object()); }
  void begin_list(const char* name, Help) override { begin(name, val::array()); }
  void begin_item() override;
  void end() override { open_.pop_back(); }

 private:
  void set(const char* name, const val& value);
  void begin(const char* name, val value);
  std::vector<val> open_{val::object()};
};

}  // namespace eigenscope::bindings
