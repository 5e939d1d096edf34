// Results as JSON and CSV.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "contract/operation.h"

namespace eigenscope::cli {

/// Makes a JSON object: arrays nested by their shape, complex numbers as [re, im], choices by name.
class JsonResult : public ResultFields {
 public:
  explicit JsonResult(bool describes = false) : describes_(describes) {}
  const Json& json() const { return json_; }
  bool describes() const override { return describes_; }

  void flag(const char* name, bool value, Help) override { top()[name] = value; }
  void text(const char* name, std::string_view value, Help) override;
  void choice(const char* name, std::size_t value, Choices names, Help) override;
  void texts(const char* name, std::span<const std::string> values, Dimension, Help) override;
  void bytes(const char* name, std::span<const std::byte> value, bool nullable, Help) override;
  void note(const std::string& text) override { notes_.push_back(text); }
  const std::vector<std::string>& notes() const { return notes_; }

 protected:
  void put_number(const char* name, double value, bool, Help) override { top()[name] = value; }
  void put_integer(const char* name, std::optional<Eigen::Index> value, bool, Help) override {
    top()[name] = value ? Json(*value) : Json(nullptr);
  }
  void put_array(const char* name, const ArrayView& array, Help) override;
  void begin_object(const char* name, Help) override { open(name, Json::object()); }
  void begin_list(const char* name, Help) override { open(name, Json::array()); }
  void begin_item() override;
  void end() override { open_.pop_back(); }

 private:
  Json& top() { return open_.empty() ? json_ : *open_.back(); }
  void open(const char* name, Json value);

  bool describes_;
  Json json_ = Json::object();
  std::vector<Json*> open_;
  std::vector<std::string> notes_;
};

/// The arrays of a result as columns: one row for each place of the array with the most dimensions, and
/// with it the arrays that have one of its dimensions. A dimension that no array is named after adds a column with its
/// index. A matrix whose rows and columns have no names is written as it stands, without a header.
/// Arrays of objects in the result have the object's name before theirs; those of its lists are left out.
class ArrayColumns final : public ResultFields {
 public:
  /// Whether there is a column.
  bool any() const { return !columns_.empty(); }
  /// True if there is a row, and the largest array is not a list of texts.
  bool any_row() const;
  void write(std::ostream& out) const;

  void texts(const char* name, std::span<const std::string> values, Dimension dimension,
             Help) override;
  void flag(const char*, bool, Help) override {}
  void text(const char*, std::string_view, Help) override {}
  void choice(const char*, std::size_t, Choices, Help) override {}
  void bytes(const char*, std::span<const std::byte>, bool, Help) override {}

 protected:
  void put_array(const char* name, const ArrayView& array, Help) override;
  void put_number(const char*, double, bool, Help) override {}
  void put_integer(const char*, std::optional<Eigen::Index>, bool, Help) override {}
  void begin_object(const char* name, Help) override {
    prefixes_.push_back(std::string(name) + "_");
  }
  void begin_list(const char*, Help) override { prefixes_.emplace_back(std::nullopt); }
  void begin_item() override { prefixes_.emplace_back(std::nullopt); }
  void end() override { prefixes_.pop_back(); }

 private:
  struct Column {
    std::string name;
    std::vector<Dimension> shape;
    std::vector<Json> values;

    /// True if the dimensions have the same names.
    bool has_dimensions(const std::vector<Dimension>& other) const;
  };
  bool names(const Dimension& dimension) const;
  void add(const std::string& name, std::span<const Dimension> shape, std::vector<Json> values);

  const Column* largest() const;
  std::vector<std::optional<std::string>> prefixes_;  // none for lists and their items
  std::vector<Column> columns_;
};

/// The result so far.
Json json_of(const Job& job);
/// A result with one item in every list, whose keys are those of all items.
Json described(const Job& job);

/// Writes a result to `out`; as CSV its arrays, or, where they have no row, the list of the operation, or, where it has
/// neither, its numbers and texts as one row. The JSON of a job that failed begins with `error`, the message; the CSV
/// has its finished rows alone.
void print_result(std::ostream& out, const Operation& operation, const Job& job, bool csv,
                  std::string_view error = {});

}  // namespace eigenscope::cli
