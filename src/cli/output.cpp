#include "cli/output.h"

#include <iostream>
#include <ostream>
#include <string_view>
#include <utility>

namespace eigenscope::cli {
namespace {

constexpr std::string_view kFormulaStarts = "=+-@\t";

// Not a formula, and quoted where it must be (RFC 4180).
std::string csv_text(const std::string& text) {
  std::string cell = without_controls(text);
  if (!cell.empty() && kFormulaStarts.find(cell.front()) != std::string_view::npos) {
    cell.insert(0, 1, '\'');
  }
  if (cell.find_first_of(",\"\n") == std::string::npos) return cell;
  std::string quoted = "\"";
  for (const char c : cell) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

template <class Cell>
void write_line(std::ostream& out, const Json& row, Cell cell) {
  const char* separator = "";
  for (const auto& item : row.items()) out << std::exchange(separator, ",") << cell(item);
  out << '\n';
}

}  // namespace

std::string without_controls(std::string_view text) {
  const auto is_kept = [](char c) { return c == '\n' || c == '\t'; };
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    // U+0080 to U+009F in UTF-8.
    const bool is_second = byte == 0xc2 && at + 1 < text.size() &&
                           (static_cast<unsigned char>(text[at + 1]) & 0xe0u) == 0x80u;
    if ((byte < 0x20 && !is_kept(text[at])) || byte == 0x7f || is_second) {
      shown += "\uFFFD";
      at += is_second ? 1 : 0;
    } else {
      shown += text[at];
    }
  }
  return shown;
}

void note(const std::string& message) {
  std::cerr << "eigenscope: " << without_controls(message) << '\n';
}

std::string csv_value(const Json& value) {
  if (value.is_string()) return csv_text(value.get<std::string>());
  const std::string text = write_json(value);
  return text == "null" ? "" : text;  // also a NaN's text
}

Json scalars_of(const Json& rows) {
  Json flat = Json::array();
  for (const Json& row : rows) {
    Json scalars = Json::object();
    for (const auto& [key, value] : row.items()) {
      if (!value.is_structured()) scalars[key] = value;
    }
    flat.push_back(std::move(scalars));
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
