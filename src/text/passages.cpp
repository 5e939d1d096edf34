#include "text/passages.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "support/error.h"
#include "support/random.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kStream = 0x7061737361676573;  // of its own: "passages"

}  // namespace

std::vector<Passage> cut_passages(const TextTokenizer& tokenizer, std::string_view text,
                                  Eigen::Index length) {
  const std::size_t special = tokenizer.before().size() + tokenizer.after().size();
  if (length <= static_cast<Eigen::Index>(special)) {
    throw InvalidArgument(
        "length", std::to_string(length) + " is not allowed; with " + std::to_string(special) +
                      " special tokens it must be an integer from " + std::to_string(special + 1));
  }
  const std::vector<int> ids = tokenizer.encode(text);
  if (ids.empty() && special == 0) throw InvalidArgument("text", "it gives no token");
  const std::size_t room = static_cast<std::size_t>(length) - special;
  std::vector<Passage> passages;
  for (std::size_t start = 0; start < std::max<std::size_t>(1, ids.size()); start += room) {
    const auto content = std::span(ids).subspan(start, std::min(room, ids.size() - start));
    passages.push_back({tokenizer.wrapped(content),
                        static_cast<Eigen::Index>(tokenizer.before().size()),
                        static_cast<Eigen::Index>(tokenizer.after().size())});
  }
  return passages;
}

std::vector<Passage> choose_passages(const std::vector<Passage>& passages, Eigen::Index count,
                                     Eigen::Index length, std::uint64_t seed) {
  std::vector<std::size_t> whole;
  for (std::size_t i = 0; i < passages.size(); ++i) {
    if (passages[i].length() == length) whole.push_back(i);
  }
  if (static_cast<Eigen::Index>(whole.size()) < count) {
    throw InvalidArgument("passages", "the text has " + std::to_string(whole.size()) +
                                          " passages of " + std::to_string(length) +
                                          " tokens, but " + std::to_string(count) + " are needed");
  }
  // The order of independent numbers is a random order.
  std::vector<float> drawn(whole.size());
  NormalStream(seed, kStream).fill(drawn);
  std::vector<std::size_t> order(whole.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return drawn[a] < drawn[b]; });
  std::vector<Passage> chosen;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    chosen.push_back(passages[whole[order[i]]]);
  }
  return chosen;
}

}  // namespace eigenscope
