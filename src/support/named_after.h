// Messages about a part of a file get the file's name.
#pragma once

#include <string>
#include <string_view>

#include "support/error.h"

namespace eigenscope {

/// A FormatError of the same item whose message begins with the file that has the item.
class FormatErrorIn : public FormatError {
 public:
  FormatErrorIn(const std::string& file, const FormatError& error)
      : FormatError(error), message_(file + ": " + error.what()) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// The result of `read`. A FormatError whose message does not begin with the file's name, such as one of a tensor or a
/// key, is thrown as a FormatErrorIn; one of a file in a folder of this name is left as it is.
template <class Read>
auto named_after(const std::string& file, const Read& read) {
  try {
    return read();
  } catch (const FormatError& error) {
    const std::string_view text = error.what();
    if (text.starts_with(file + ":") || text.starts_with(file + "/")) throw;
    throw FormatErrorIn(file, error);
  }
}

}  // namespace eigenscope
