// Fuzzes the tokenizers: whatever the bytes, the outcome is ids of the vocabulary or one of the
// library's two exceptions. An input up to the first NUL is a tokenizer.json, what follows the text
// that it encodes; without a NUL the file is also the text. Seeds are in corpus/tokenizer, words in
// tokenizer.dict.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "support/error.h"
#include "text/passages.h"
#include "text/tokenizer.h"
#include "text/unicode.h"

namespace {

using namespace eigenscope;

constexpr Eigen::Index kLength = 16;

void encode(const TextTokenizer& tokenizer, std::string_view text) {
  for (const Passage& passage : cut_passages(tokenizer, text, kLength)) {
    if (passage.length() > kLength) std::abort();
    for (const int id : passage.ids) {
      if (!tokenizer.vocabulary().contains(id)) std::abort();
    }
  }
}

void decode(std::string_view text) {
  if (unicode::encode(unicode::decode(text)) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  const std::string_view text = end == std::string_view::npos ? all : all.substr(end + 1);
  try {
    decode(text);
  } catch (const InvalidArgument&) {
  }
  try {
    encode(TextTokenizer::parse(all.substr(0, end)), text);
  } catch (const FormatError&) {
  } catch (const InvalidArgument&) {
  }
  return 0;
}
