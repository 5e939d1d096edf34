#include "cli/inputs.h"

#include <cstdint>
#include <filesystem>

#include "cli/picture_file.h"
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

std::vector<std::byte> read_pictures(const std::vector<std::string>& paths) {
  constexpr std::uint64_t kLargestFile = 500'000'000;
  std::vector<std::byte> all;
  for (const std::string& path : paths) {
    const std::string bytes = open_source(path)->read_text(kLargestFile, "a picture");
    for (const Picture& picture : decode_pictures(path, bytes)) append_ppm(picture, all);
  }
  return all;
}

}  // namespace eigenscope::cli
