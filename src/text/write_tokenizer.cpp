#include "text/write_tokenizer.h"

#include "io/json.h"
#include "text/pre_tokenizer.h"
#include "text/unicode.h"

namespace eigenscope {

std::string byte_tokenizer_json() {
  using Json = OrderedJson;
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) {
    const char32_t symbol = byte_symbol(static_cast<unsigned char>(byte));
    vocabulary[unicode::encode({&symbol, 1})] = byte;
  }
  const Json step{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const Json file{{"version", "1.0"},
                  {"added_tokens", Json::array()},
                  {"normalizer", nullptr},
                  {"pre_tokenizer", step},
                  {"post_processor", nullptr},
                  {"decoder", {{"type", "ByteLevel"}}},
                  {"model",
                   {{"type", "BPE"},
                    {"unk_token", nullptr},
                    {"vocab", vocabulary},
                    {"merges", Json::array()}}}};
  return write_json(file, 1) + "\n";
}

}  // namespace eigenscope
