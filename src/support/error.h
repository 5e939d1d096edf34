// The errors of the library: values of two exception types, never output and never an abort.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace eigenscope {

/// A number, name or shape that the caller gave is outside what the field allows.
/// `field()` is the name in the parameter table (or of the argument), so that an interface can
/// point at the control it came from; `what()` is a whole sentence that begins with it: what must hold, and what
/// was found, such as "heads must divide the width: width 384, heads 7".
class InvalidArgument : public std::invalid_argument {
 public:
  /// `must` follows the word in the sentence; `found` is empty where `must` says it all.
  InvalidArgument(std::string field, const std::string& must, const std::string& found = "")
      : std::invalid_argument(field + " must " + must + (found.empty() ? "" : ": " + found)),
        field_(std::move(field)) {}
  const std::string& field() const noexcept { return field_; }
  /// This refusal in the name of another field: of the file, say, that a refused text came from.
  InvalidArgument of(std::string field) const {
    return {std::move(field), std::string(what()).substr(field_.size() + sizeof(" must ") - 1)};
  }

 private:
  std::string field_;
};

/// The message for std::bad_alloc and std::length_error, whose texts name neither.
inline constexpr const char* kOutOfMemory =
    "memory: the sizes asked for must fit into memory, but they do not; give smaller ones";

/// A file is not what its format promises. `item()` is the tensor, key or file at fault.
class FormatError : public std::runtime_error {
 public:
  FormatError(std::string item, const std::string& message)
      : std::runtime_error(item + ": " + message), item_(std::move(item)) {}
  const std::string& item() const noexcept { return item_; }

 private:
  std::string item_;
};

}  // namespace eigenscope
