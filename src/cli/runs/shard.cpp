#include "cli/runs/shard.h"

#include <algorithm>

#include "support/error.h"

namespace eigenscope::cli {

Shard parse_shard(const std::string& text) {
  if (text.empty()) return {};
  const std::size_t slash = text.find('/');
  const auto digits = [](const std::string& part) {
    return !part.empty() && part.size() < 8 &&
           part.find_first_not_of("0123456789") == std::string::npos;
  };
  const std::string first = text.substr(0, slash);
  const std::string second = slash == std::string::npos ? "" : text.substr(slash + 1);
  if (digits(first) && digits(second)) {
    const Shard shard{std::stoul(first), std::stoul(second)};
    if (shard.number >= 1 && shard.number <= shard.of) return shard;
  }
  throw InvalidArgument("shard", "be I/N with I from 1 to N, such as 2/8", "found '" + text + "'");
}

void check_beside_grid(const CLI::App& app, CLI::Option* grid, const std::string& out,
                       std::initializer_list<std::string_view> also) {
  for (const CLI::Option* other : app.get_options()) {
    const std::string name = other->get_single_name();
    const bool allowed = other == grid || other->get_needs().contains(grid) ||
                         std::find(also.begin(), also.end(), name) != also.end();
    if (allowed || other->count() == 0) continue;
    throw InvalidArgument(name, "be omitted with --grid, whose file has the settings");
  }
  if (out.empty())
    throw InvalidArgument("out", "be given with --grid", "it is the folder of the grid's results");
}

}  // namespace eigenscope::cli
