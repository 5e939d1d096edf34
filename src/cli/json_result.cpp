#include "cli/json_result.h"

#include <algorithm>
#include <ostream>
#include <utility>

namespace eigenscope::cli {
namespace {

Json entry_of(const ArrayView& array, std::size_t i) {
  switch (array.element) {
    case ArrayView::Element::real:
    case ArrayView::Element::as_f32:
      return array.doubles()[i];
    case ArrayView::Element::whole:
      return static_cast<std::int64_t>(array.doubles()[i]);
    case ArrayView::Element::single:
      return static_cast<double>(std::get<const float*>(array.data)[i]);
    case ArrayView::Element::complex: {
      const auto value = std::get<const std::complex<double>*>(array.data)[i];
      return Json::array({value.real(), value.imag()});
    }
    case ArrayView::Element::choice:
      return array.names[std::get<const std::uint8_t*>(array.data)[i]].name;
  }
  return {};
}

// The entries from `at` on, nested by the shape.
Json nested(const ArrayView& array, std::span<const Dimension> shape, std::size_t& at) {
  Json list = Json::array();
  for (Eigen::Index i = 0; i < shape.front().size; ++i) {
    list.push_back(shape.size() > 1 ? nested(array, shape.subspan(1), at) : entry_of(array, at++));
  }
  return list;
}

std::size_t size_of(std::span<const Dimension> shape) {
  std::size_t size = 1;
  for (const Dimension& dimension : shape) size *= static_cast<std::size_t>(dimension.size);
  return size;
}

void write_matrix(std::ostream& out, const std::vector<Json>& values, Eigen::Index columns) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool last = (i + 1) % static_cast<std::size_t>(columns) == 0;
    out << csv_value(values[i]) << (last ? '\n' : ',');
  }
}

}  // namespace

void JsonResult::open(const char* name, Json value) {
  Json& place = top()[name];
  place = std::move(value);
  open_.push_back(&place);
}

void JsonResult::begin_item() {
  Json& list = top();
  list.push_back(Json::object());
  open_.push_back(&list.back());
}

void JsonResult::text(const char* name, std::string_view value, Help) {
  top()[name] = std::string(value);
}
void JsonResult::choice(const char* name, std::size_t value, Choices names, Help) {
  top()[name] = names[value].name;
}
void JsonResult::put_array(const char* name, const ArrayView& array, Help) {
  std::size_t at = 0;
  top()[name] = nested(array, array.shape, at);
}
void JsonResult::texts(const char* name, std::span<const std::string> values, Dimension, Help) {
  top()[name] = std::vector<std::string>(values.begin(), values.end());
}
void JsonResult::bytes(const char* name, std::span<const std::byte> value, bool nullable, Help) {
  top()[name] = std::string(reinterpret_cast<const char*>(value.data()), value.size());
  if (nullable && value.empty()) top()[name] = nullptr;
}

void ArrayColumns::add(const std::string& name, std::span<const Dimension> shape,
                       std::vector<Json> values) {
  columns_.push_back({name, {shape.begin(), shape.end()}, std::move(values)});
}

void ArrayColumns::put_array(const char* name, const ArrayView& array, Help) {
  std::string prefix;
  for (const std::optional<std::string>& part : prefixes_) {
    if (!part) return;
    prefix += *part;
  }
  std::vector<Json> values;
  for (std::size_t i = 0; i < array.size; ++i) values.push_back(entry_of(array, i));
  if (array.element != ArrayView::Element::complex) return add(prefix + name, array.shape, values);
  for (const std::size_t part : {0, 1}) {
    std::vector<Json> parts;
    for (const Json& value : values) parts.push_back(value[part]);
    add(prefix + name + (part == 0 ? "_re" : "_im"), array.shape, std::move(parts));
  }
}

void ArrayColumns::texts(const char* name, std::span<const std::string> values, Dimension dimension,
                         Help) {
  if (prefixes_.empty()) add(name, {&dimension, 1}, {values.begin(), values.end()});
}

bool ArrayColumns::Column::has_dimensions(const std::vector<Dimension>& other) const {
  return std::equal(
      shape.begin(), shape.end(), other.begin(), other.end(),
      [](const Dimension& a, const Dimension& b) { return std::string_view(a.name) == b.name; });
}

bool ArrayColumns::names(const Dimension& dimension) const {
  return std::any_of(columns_.begin(), columns_.end(),
                     [&](const Column& column) { return column.name == dimension.name; });
}

const ArrayColumns::Column* ArrayColumns::largest() const {
  const auto most = std::max_element(
      columns_.begin(), columns_.end(),
      [](const Column& a, const Column& b) { return a.shape.size() < b.shape.size(); });
  return most == columns_.end() ? nullptr : &*most;
}

bool ArrayColumns::any_row() const {
  const Column* const most = largest();
  return most != nullptr && !most->values.empty() && !most->values.front().is_string();
}

void ArrayColumns::write(std::ostream& out) const {
  const Column* const most = largest();
  if (most == nullptr) return;
  const std::vector<Dimension>& shape = most->shape;
  if (shape.size() == 2 && !names(shape[0]) && !names(shape[1])) {
    return write_matrix(out, most->values, shape[1].size);
  }
  const auto place_of = [&](const char* name) {
    const auto same = [&](const Dimension& dimension) {
      return std::string_view(dimension.name) == name;
    };
    return static_cast<std::size_t>(std::find_if(shape.begin(), shape.end(), same) - shape.begin());
  };
  std::vector<const Column*> shown;
  for (const Column& column : columns_) {
    if (column.has_dimensions(shape) || place_of(column.shape.front().name) < shape.size()) {
      shown.push_back(&column);
    }
  }
  bool header = false;
  for (std::size_t row = 0; row < size_of(shape); ++row) {
    std::vector<std::size_t> place(shape.size());
    for (std::size_t k = shape.size(), left = row; k-- > 0;) {
      place[k] = left % static_cast<std::size_t>(shape[k].size);
      left /= static_cast<std::size_t>(shape[k].size);
    }
    Json json;
    for (std::size_t k = 0; k < shape.size(); ++k) {
      if (!names(shape[k])) {
        json[shape[k].name] = static_cast<Eigen::Index>(place[k]) + shape[k].first;
      }
    }
    for (const Column* column : shown) {
      const bool whole = column->has_dimensions(shape);
      json[column->name] =
          column->values[whole ? row : place[place_of(column->shape.front().name)]];
    }
    if (!std::exchange(header, true)) write_csv_header(out, json);
    write_csv_row(out, json);
  }
}

Json json_of(const Job& job) {
  JsonResult result;
  job.write(result);
  return result.json();
}

Json described(const Job& job) {
  JsonResult result(/*describes=*/true);
  job.write(result);
  return result.json();
}

void print_result(std::ostream& out, const Operation& operation, const Job& job, bool csv,
                  std::string_view error) {
  if (csv) {
    ArrayColumns columns;
    job.write(columns);
    if (operation.rows == nullptr ? columns.any() : columns.any_row()) return columns.write(out);
  }
  Json json = json_of(job);
  if (csv) {
    return write_csv(
        out, scalars_of(operation.rows == nullptr ? Json::array({json}) : json[operation.rows]));
  }
  if (!error.empty()) {
    Json marked{{"error", error}};
    marked.update(json);
    json = std::move(marked);
  }
  out << write_json(json) << '\n';
}

}  // namespace eigenscope::cli
