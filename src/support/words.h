// Lists of words in one text.
#pragma once

#include <string>
#include <string_view>

namespace eigenscope {

/// Whether a list of words, each between spaces (" llama mistral "), has a word. No list has a text that is empty or has
/// a space, such as "llama mistral".
inline bool lists(std::string_view words, std::string_view word) {
  return !word.empty() && word.find(' ') == std::string_view::npos &&
         words.find(" " + std::string(word) + " ") != std::string_view::npos;
}

}  // namespace eigenscope
