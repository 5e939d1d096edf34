// Fuzzes the reader of config.json: whatever the bytes, the outcome is values in their range or a
// FormatError. Seeds are in corpus/config, words in config.dict.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "checkpoint/config.h"
#include "checkpoint/family.h"
#include "support/error.h"

namespace {

using namespace eigenscope;

void ask(const Config& config, const std::string& key) {
  try {
    const auto number = config.positive_integer(key, 4096);
    if (number && (*number < 1 || *number > 4096)) std::abort();
  } catch (const FormatError&) {
  }
  try {
    config.text(key);
  } catch (const FormatError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const Config config =
        Config::parse(std::string_view(reinterpret_cast<const char*>(data), size));
    for (const Family& family : families()) {
      for (const AttentionNames& names : family.attentions) {
        ask(config, std::string(names.head_count_key));
      }
      ask(config, std::string(family.width_key));
    }
    ask(config, "model_type");
  } catch (const FormatError&) {
  }
  return 0;
}
