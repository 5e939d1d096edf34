// Texts for people, which the WASM module leaves out.
#pragma once

#include <string_view>

namespace eigenscope {

#ifdef __EMSCRIPTEN__
inline constexpr bool kHasHelp = false;
#else
inline constexpr bool kHasHelp = true;
#endif

/// A text for people, which the command line and the page's generated types show. In the WASM module all are empty, and
/// the literals are not in the file that a visitor downloads: the page has them from `eigenscope schema`.
class Help {
 public:
#ifdef __EMSCRIPTEN__
  constexpr Help(const char* = "") {}
  constexpr std::string_view text() const { return {}; }
#else
  constexpr Help(const char* text = "") : text_(text) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
#endif
};

}  // namespace eigenscope
