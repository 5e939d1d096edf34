#include "cli/text_input.h"

#include <cstdint>
#include <filesystem>

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

void check_default_text(const std::string& path) {
  std::error_code error;
  if (path == kDefaultText && !std::filesystem::exists(path, error)) {
    throw FormatError(
        "text",
        std::string("the default text ") + kDefaultText +
            " must exist in this folder; run npm ci in the project, or give a file with --text");
  }
}

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
