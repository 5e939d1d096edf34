#include "text/passages.h"

#include <algorithm>
#include <string>
#include <utility>

#include "support/argsort.h"
#include "support/error.h"
#include "support/random.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kStream = 0x7061737361676573;  // of random numbers: "passages" in ASCII
constexpr std::uint64_t kRepeats =
    0x7265706561740000;  // "repeat" in ASCII, plus the number of a passage

std::vector<std::size_t> random_order(std::size_t size, std::uint64_t seed, std::uint64_t stream) {
  // The order of independent numbers is a random order.
  std::vector<float> drawn(size);
  NormalStream(seed, stream).fill(drawn);
  return argsort(std::vector<double>(drawn.begin(), drawn.end()));
}

}  // namespace

std::vector<Passage> cut_passages(const TextTokenizer& tokenizer, std::string_view text,
                                  Eigen::Index length) {
  const std::size_t special = tokenizer.before().size() + tokenizer.after().size();
  if (length <= static_cast<Eigen::Index>(special)) {
    throw InvalidArgument("length",
                          "be an integer from " + std::to_string(special + 1) + " with " +
                              std::to_string(special) + " special tokens",
                          "found " + std::to_string(length));
  }
  const std::vector<int> ids = tokenizer.encode(text);
  if (ids.empty() && special == 0) throw InvalidArgument("text", "have at least one token");
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
    throw InvalidArgument("passages", "be at most those of the text",
                          "it has " + std::to_string(whole.size()) + " of " +
                              std::to_string(length) + " tokens, and " + std::to_string(count) +
                              " are needed");
  }
  const std::vector<std::size_t> order = random_order(whole.size(), seed, kStream);
  std::vector<Passage> chosen;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    chosen.push_back(passages[whole[order[i]]]);
  }
  return chosen;
}

std::vector<Passage> repeated_passages(const std::vector<Passage>& passages, Eigen::Index count,
                                       Eigen::Index length, std::uint64_t seed) {
  const Passage& first = passages.front();
  std::vector<int> ids;
  std::vector<char> seen;
  for (const Passage& passage : passages) {
    for (auto id = passage.ids.begin() + passage.leading;
         id != passage.ids.end() - passage.trailing; ++id) {
      const auto place = static_cast<std::size_t>(*id);
      if (place >= seen.size()) seen.resize(place + 1);
      if (!seen[place]) ids.push_back(*id);
      seen[place] = 1;
    }
  }
  const Eigen::Index room = length - first.leading - first.trailing, half = (room + 1) / 2;
  const auto known = static_cast<Eigen::Index>(ids.size());
  if (known < 2) {
    throw InvalidArgument("text", "have two different tokens for repeated passages",
                          "found " + std::to_string(known));
  }
  if (room < 4 || half > known) {
    const Eigen::Index special = first.leading + first.trailing;
    throw InvalidArgument("length",
                          "be an integer from " + std::to_string(special + 4) + " to " +
                              std::to_string(special + 2 * known) +
                              " for repeated passages of a text with " + std::to_string(known) +
                              " different tokens",
                          "found " + std::to_string(length));
  }
  std::vector<Passage> repeated;
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto order = random_order(ids.size(), seed, kRepeats + static_cast<std::uint64_t>(k));
    Passage passage{
        {first.ids.begin(), first.ids.begin() + first.leading}, first.leading, first.trailing};
    for (Eigen::Index t = 0; t < room; ++t) {
      passage.ids.push_back(ids[order[static_cast<std::size_t>(t % half)]]);
    }
    passage.ids.insert(passage.ids.end(), first.ids.end() - first.trailing, first.ids.end());
    repeated.push_back(std::move(passage));
  }
  return repeated;
}

}  // namespace eigenscope
