// JSON and CSV of the library's results. One vocabulary: the names here are the page's names too.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"

namespace eigenscope::cli {

using Json = OrderedJson;

/// Writes a message of the program on standard error, without_controls.
void note(const std::string& message);
/// The keys of a flat object as the header of a CSV.
void write_csv_header(std::ostream& out, const Json& row);
/// A text for a terminal: U+FFFD in place of each control character but line feeds and tabs.
std::string without_controls(std::string_view text);
/// A number or text as it stands in a CSV: quoted where it must be (RFC 4180); null as nothing. A text is
/// without_controls, and one that begins with =, +, -, @ or a tab, which a spreadsheet would take for a formula, has an
/// apostrophe before it.
std::string csv_value(const Json& value);
/// Objects without their arrays and objects.
Json scalars_of(const Json& rows);
/// The values of a flat object as a row of a CSV.
void write_csv_row(std::ostream& out, const Json& row);
/// Writes an array of flat objects with equal keys as CSV. `like` has these keys too: it gives the
/// header where there may be no row.
void write_csv(std::ostream& out, const Json& rows, const Json& like = Json::object());

}  // namespace eigenscope::cli
