#include "bindings/values.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "support/error.h"
#include "support/parameter.h"

namespace eigenscope::bindings {
namespace {

/// Bytes that JavaScript reads, synchronously: {name, size, read(offset, length)}, where read returns a
/// Uint8Array, or in words why the bytes cannot be had.
class ScriptSource final : public ByteSource {
 public:
  explicit ScriptSource(val source)
      : ByteSource(source["name"].as<std::string>(),
                   static_cast<std::uint64_t>(source["size"].as<double>())),
        source_(std::move(source)) {}

 private:
  void read_exactly(std::uint64_t offset, std::span<std::byte> out) override;
  val source_;
};

void copy_into(std::span<std::byte> out, const val& array) {
  val(emscripten::typed_memory_view(out.size(), reinterpret_cast<std::uint8_t*>(out.data())))
      .call<void>("set", array);
}

void ScriptSource::read_exactly(std::uint64_t offset, std::span<std::byte> out) {
  const val bytes =
      source_.call<val>("read", static_cast<double>(offset), static_cast<double>(out.size()));
  if (bytes.isString()) throw FormatError(name(), bytes.as<std::string>());
  if (bytes["length"].as<double>() != static_cast<double>(out.size())) {
    throw FormatError(name(), "it changed during reading: it is shorter than at the start");
  }
  copy_into(out, bytes);
}

double checked_value(const Parameter& parameter, const char* field, const val& value) {
  return checked(parameter, value.isNumber() ? value.as<double>() : std::nan(""), field);
}

std::string string_of(const char* field, const val& value) {
  if (!value.isString()) throw InvalidArgument(field, "be a text");
  return value.as<std::string>();
}

File file_of(const val& value) { return std::make_shared<ScriptSource>(value); }

std::size_t length_of(const InputField& field, const val& list) {
  if (list.isUndefined() || !list["length"].isNumber()) {
    throw InvalidArgument(field.name, "be a list");
  }
  return list["length"].as<std::size_t>();
}

template <class T>
val copied(const T* data, std::size_t size) {
  return val(emscripten::typed_memory_view(size, data)).template call<val>("slice");
}

}  // namespace

std::vector<std::byte> bytes_of(const char* field, const val& value) {
  if (!value.instanceof (val::global("Uint8Array"))) {
    throw InvalidArgument(field, "be a Uint8Array");
  }
  std::vector<std::byte> bytes(value["length"].as<std::size_t>());
  copy_into(bytes, value);
  return bytes;
}

void ScriptInput::visit(const InputField& field) {
  seen_.push_back(field.name);
  const val value = object_[field.name];
  if (value.isUndefined()) return set_default(field);
  read(field, value);
}

void ScriptInput::read(const InputField& field, const val& value) {
  const bool absent = value.isNull();
  switch (field.kind) {
    case FieldKind::number:
      if (absent && field.optional) return;
      return field.set(checked_value(*field.parameter, field.name, value));
    case FieldKind::choice:
      return field.set(
          static_cast<double>(field.names.index_of(field.name, string_of(field.name, value))));
    case FieldKind::flag:
      if (!value.isTrue() && !value.isFalse()) {
        throw InvalidArgument(field.name, "be true or false");
      }
      return field.set(value.isTrue() ? 1 : 0);
    case FieldKind::text:
      field.text() = string_of(field.name, value);
      return;
    case FieldKind::numbers: {
      auto& list = field.numbers();
      const bool needed = !list.empty();
      list.resize(length_of(field, value));
      if (needed && list.empty()) throw InvalidArgument(field.name, "have an entry");
      for (std::size_t i = 0; i < list.size(); ++i) {
        list[i] = checked_value(*field.parameter, field.name, value[i]);
      }
      return;
    }
    case FieldKind::bytes:
    case FieldKind::pictures:
      if (!absent) field.bytes() = bytes_of(field.name, value);
      return;
    case FieldKind::file:
      if (!absent) field.file() = file_of(value);
      return;
    case FieldKind::files: {
      auto& files = field.files();
      const std::size_t count = length_of(field, value);
      for (std::size_t i = 0; i < count; ++i) files.push_back(file_of(value[i]));
      return;
    }
  }
}

void ScriptInput::end() {
  const val names = val::global("Object").call<val>("keys", object_);
  const auto count = names["length"].as<std::size_t>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto name = names[i].as<std::string>();
    bool known = false;
    for (const char* seen : seen_) known = known || name == seen;
    if (!known) throw InvalidArgument(name, "be a field of the operation");
  }
}

void ScriptResult::set(const char* name, const val& value) { open_.back().set(name, value); }
void ScriptResult::begin(const char* name, val value) {
  set(name, value);
  open_.push_back(std::move(value));
}
void ScriptResult::begin_item() {
  val item = val::object();
  open_.back().call<void>("push", item);
  open_.push_back(std::move(item));
}

void ScriptResult::put_number(const char* name, double value, bool nullable, Help) {
  set(name, nullable && std::isnan(value) ? val::null() : val(value));
}
void ScriptResult::put_integer(const char* name, std::optional<Eigen::Index> value, bool, Help) {
  set(name, value ? val(static_cast<double>(*value)) : val::null());
}
void ScriptResult::flag(const char* name, bool value, Help) { set(name, val(value)); }
void ScriptResult::text(const char* name, std::string_view value, Help) {
  set(name, val(std::string(value)));
}
void ScriptResult::choice(const char* name, std::size_t value, Choices names, Help) {
  set(name, val(std::string(names[value].name)));
}

void ScriptResult::put_array(const char* name, const ArrayView& array, Help) {
  switch (array.element) {
    case ArrayView::Element::real:
    case ArrayView::Element::whole:
      return set(name, copied(array.doubles(), array.size));
    case ArrayView::Element::complex:  // laid out as its two parts
      return set(
          name,
          copied(reinterpret_cast<const double*>(std::get<const std::complex<double>*>(array.data)),
                 2 * array.size));
    case ArrayView::Element::single:
      return set(name, copied(std::get<const float*>(array.data), array.size));
    case ArrayView::Element::choice:
      return set(name, copied(std::get<const std::uint8_t*>(array.data), array.size));
    case ArrayView::Element::as_f32:
      const std::vector<float> rounded(array.doubles(), array.doubles() + array.size);
      return set(name, copied(rounded.data(), array.size));
  }
}

void ScriptResult::texts(const char* name, std::span<const std::string> values, Dimension, Help) {
  val list = val::array();
  for (const std::string& value : values) list.call<void>("push", value);
  set(name, list);
}

void ScriptResult::bytes(const char* name, std::span<const std::byte> value, bool nullable, Help) {
  if (nullable && value.empty()) return set(name, val::null());
  set(name, copied(reinterpret_cast<const std::uint8_t*>(value.data()), value.size()));
}

}  // namespace eigenscope::bindings
