#include "cli/text_input.h"

#include <cstdint>

#include "io/byte_source.h"
#include "support/error.h"

namespace eigenscope::cli {
namespace {

constexpr std::uint64_t kLargestText = 1'000'000'000;

std::string read_field(const char* field, const std::string& path) {
  try {
    return read_text(path);
  } catch (const FormatError& error) {
    throw FormatError(field, error.what());
  }
}

}  // namespace

std::string read_text(const std::string& path) {
  return open_source(path)->read_text(kLargestText, "a text");
}

Text read_training_text(const std::string& text, const std::string& validation,
                        const std::string& tokenizer, Eigen::Index min_count) {
  const std::string bytes = read_field("text", text);
  if (validation.empty()) return tokenized_text(tokenizer, bytes, min_count);
  return tokenized_texts(tokenizer, bytes, read_field("validation", validation), min_count);
}

}  // namespace eigenscope::cli
