#include "checkpoint/gguf_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "checkpoint/numbered_part.h"
#include "checkpoint/shard_index.h"
#include "support/argsort.h"
#include "support/error.h"

namespace eigenscope {
namespace {

constexpr std::uint64_t kMostParts = 99999;

std::uint64_t count_of(const GgufHeader& header) {
  return std::max<std::uint64_t>(1, header.integer("split.count"));
}

/// The name in messages of part `number`, from 0, of the model to which the file `other` belongs.
std::string part_name(std::uint64_t number, std::uint64_t count, const std::string& other) {
  const std::vector<std::string> names = gguf_part_names(file_name(other));
  if (names.size() == count) return names[static_cast<std::size_t>(number)];
  return "part " + std::to_string(number + 1) + " of " + std::to_string(count);
}

}  // namespace

std::vector<std::string> gguf_part_names(const std::string& name) {
  const std::optional<NumberedPart> part = numbered_part(name, ".gguf");
  const bool is_one = part && part->number >= 1 && part->number <= part->count;
  return is_one ? part->names() : std::vector{name};
}

std::vector<GgufPart> read_gguf_parts(const std::vector<std::shared_ptr<ByteSource>>& files) {
  std::vector<GgufPart> given, parts;
  std::vector<double> numbers;
  for (const auto& file : files) {
    given.push_back({file, GgufHeader::read(*file)});
    numbers.push_back(static_cast<double>(given.back().header.integer("split.no")));
  }
  for (const std::size_t place : argsort(numbers)) parts.push_back(std::move(given[place]));
  const std::uint64_t count = count_of(parts.front().header);
  std::uint64_t tensors = 0;
  for (std::uint64_t number = 0; number < parts.size(); ++number) {
    const auto& [source, header] = parts[static_cast<std::size_t>(number)];
    tensors += header.tensors.size();
    const std::uint64_t split_number = header.integer("split.no");
    if (count_of(header) != count || count > kMostParts || split_number >= count ||
        split_number < number) {
      throw FormatError(source->name(), "it must be another part of the model of " +
                                            parts.front().source->name() + ", but it is part " +
                                            std::to_string(split_number + 1) + " of " +
                                            std::to_string(count_of(header)));
    }
  }
  for (std::uint64_t number = 0; number < count; ++number) {
    const bool there = number < parts.size() &&
                       parts[static_cast<std::size_t>(number)].header.integer("split.no") == number;
    if (there) continue;
    const std::string& other = parts.front().source->name();
    throw FormatError(
        part_name(number, count, other),
        "it is missing; " + other + " is one of " + std::to_string(count) + " parts of a model");
  }
  const std::uint64_t claimed = parts.front().header.integer("split.tensors.count");
  if (count > 1 && claimed != tensors) {
    throw FormatError(parts.front().source->name(),
                      "its parts must have " + std::to_string(claimed) +
                          " tensors together (split.tensors.count), but have " +
                          std::to_string(tensors));
  }
  return parts;
}

}  // namespace eigenscope
