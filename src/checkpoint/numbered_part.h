// Names of the parts of one model: NAME-00001-of-00003.gguf, NAME-00001-of-00002.safetensors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eigenscope {

/// A file's name or path that says which part of a model the file is.
struct NumberedPart {
  std::string model;   ///< what precedes the numbers
  std::string ending;  ///< such as .gguf
  int number = 0;      ///< usually from 1 to count; neither is checked
  int count = 0;

  /// The names of all parts.
  std::vector<std::string> names() const;
};

/// The part that `name` names; nothing for a name that is not of this form.
std::optional<NumberedPart> numbered_part(const std::string& name, std::string_view ending);

}  // namespace eigenscope
