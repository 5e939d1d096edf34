#include "checkpoint/head_counts.h"

#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {

void set_head_counts(std::span<const std::string> texts, HeadSettings& settings) {
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const bool named = equals != std::string::npos;
    const auto count =
        static_cast<int>(parse_parameter(shared::kHeads, named ? text.substr(equals + 1) : text));
    if (equals == 0) {
      throw InvalidArgument("heads", "be N or STACK=N", "found '" + text + "'");
    }
    const bool first = named ? settings.stack_heads.emplace(text.substr(0, equals), count).second
                             : !settings.heads.has_value();
    if (!first) {
      throw InvalidArgument(
          "heads", "be given once for each stack",
          "found two counts for " +
              (named ? "the stack '" + text.substr(0, equals) + "'" : std::string("all stacks")));
    }
    if (!named) settings.heads = count;
  }
}

}  // namespace eigenscope
