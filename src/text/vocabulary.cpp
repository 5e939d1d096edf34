#include "text/vocabulary.h"

#include <algorithm>

#include "io/json_events.h"
#include "support/error.h"

namespace eigenscope {

void Vocabulary::add(const std::string& token, std::uint64_t id) {
  if (id >= kMostTokens) {
    refuse_item(token, {"its id ", std::to_string(id), " is out of range; it must be below ",
                        std::to_string(kMostTokens)});
  }
  const int number = static_cast<int>(id);
  const auto [place, is_new] = tokens_.emplace(number, token);
  if (!is_new && place->second != token) {
    refuse_item(token, {"its id ", std::to_string(id), " is also that of '",
                        shown_name(place->second), "'"});
  }
  ids_[token] = number;
  longest_ = std::max(longest_, token.size());
}

std::optional<int> Vocabulary::find(const std::string& token) const {
  const auto entry = ids_.find(token);
  if (entry == ids_.end()) return std::nullopt;
  return entry->second;
}

std::optional<std::vector<int>> Vocabulary::bytes_of(std::string_view bytes) const {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::vector<int> ids;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const auto id = find({'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15u], '>'});
    if (!id) return std::nullopt;
    ids.push_back(*id);
  }
  return ids;
}

const std::string& Vocabulary::token(int id) const {
  const auto entry = tokens_.find(id);
  if (entry == tokens_.end()) {
    throw InvalidArgument("token", "be the id of a token", "found " + std::to_string(id));
  }
  return entry->second;
}

}  // namespace eigenscope
