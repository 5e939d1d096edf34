#include "cli/output.h"

#include <ostream>
#include <utility>

namespace eigenscope::cli {
namespace {

// Quoted where it must be (RFC 4180).
std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

template <class Cell>
void write_line(std::ostream& out, const Json& row, Cell cell) {
  const char* separator = "";
  for (const auto& item : row.items()) out << std::exchange(separator, ",") << cell(item);
  out << '\n';
}

}  // namespace

std::string csv_value(const Json& value) {
  if (value.is_string()) return csv_text(value.get<std::string>());
  const std::string text = write_json(value);
  return text == "null" ? "" : text;  // also a NaN's text
}

Json scalars_of(const Json& rows) {
  Json flat = Json::array();
  for (const Json& row : rows) {
    Json own = Json::object();
    for (const auto& [key, value] : row.items()) {
      if (!value.is_structured()) own[key] = value;
    }
    flat.push_back(std::move(own));
  }
  return flat;
}

void write_csv_header(std::ostream& out, const Json& row) {
  write_line(out, row, [](const auto& item) { return item.key(); });
}

void write_csv_row(std::ostream& out, const Json& row) {
  write_line(out, row, [](const auto& item) { return csv_value(item.value()); });
}

void write_csv(std::ostream& out, const Json& rows, const Json& like) {
  write_csv_header(out, rows.empty() ? like : rows.front());
  for (const Json& row : rows) write_csv_row(out, row);
}

}  // namespace eigenscope::cli
