// Fuzzes the readers of config.json and of a shard index: whatever the bytes, the outcome is values in
// their range, finite angles, plain file names, or a FormatError. Seeds are in corpus/config, words in
// config.dict.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "checkpoint/config.h"
#include "checkpoint/config_part.h"
#include "checkpoint/family.h"
#include "checkpoint/logit_scale.h"
#include "checkpoint/rotary_config.h"
#include "checkpoint/shard_index.h"
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

void turn(const Config& config, const Family& family, const RotaryOffset& at) {
  const ConfigKeys keys =
      part_keys(&config, part_of(&config, family.attentions.front().config, "", true));
  try {
    const double factor = logit_scale(keys, family, 16);
    if (!(factor > 0 && std::isfinite(factor))) std::abort();
    const Rotary rotary = rotary_of(keys, family, RotaryPairs::kHalves, 16, 5, at);
    if (!std::isfinite(rotary.logit_factor)) std::abort();
    for (const double scale : rotary.angle_scale) {
      if (!(scale >= 0 && scale <= 1e6)) std::abort();
    }
  } catch (const FormatError&) {
  } catch (const InvalidArgument&) {  // a scaling that is not known
  }
}

void read_index(std::string_view text) {
  try {
    for (const std::string& file : ShardIndex::parse(text, "index").files()) {
      if (file.find('/') != std::string::npos) std::abort();
    }
  } catch (const FormatError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_index(text);
  try {
    const Config config = Config::parse(text);
    for (const Family& family : families()) {
      for (const AttentionNames& names : family.attentions) {
        ask(config, std::string(names.head_count_key));
      }
      ask(config, std::string(family.width_key));
      for (const double offset : {1.0, 100000.0}) turn(config, family, {offset});
    }
    ask(config, "model_type");
  } catch (const FormatError&) {
  }
  return 0;
}
