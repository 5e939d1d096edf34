// What a refused input told the caller.
#pragma once

#include <string>

#include "catch.h"
#include "support/error.h"

namespace eigenscope::testing {

struct Failure {
  std::string kind;     ///< "format", "argument", or "none" when nothing was thrown
  std::string item;     ///< the tensor, key or file; the field of an argument
  std::string message;  ///< all of what()
};

/// Runs `action`; exceptions of other types pass through and fail the test.
template <typename Action>
Failure failure_of(Action action) {
  try {
    action();
  } catch (const FormatError& error) {
    return {"format", error.item(), error.what()};
  } catch (const InvalidArgument& error) {
    return {"argument", error.field(), error.what()};
  }
  return {"none", "", ""};
}

/// Checks what was refused, and that the message has these texts.
template <typename... Texts>
void check_failure(const Failure& failure, const std::string& item, const Texts&... texts) {
  CHECK(failure.item == item);
  for (const std::string& text : {std::string(texts)...}) {
    CHECK_THAT(failure.message, ContainsSubstring(text));
  }
}

}  // namespace eigenscope::testing
