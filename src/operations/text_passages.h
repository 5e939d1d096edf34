// Passages of a text and the checkpoint that reads them, as an input of labs.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <vector>

#include "operations/reader.h"

namespace eigenscope {

struct TextPassagesInput {
  ReaderInput reader;
  std::vector<std::byte> file;
  Eigen::Index length = 0, passages = 0;
  bool fit_length = false;
  std::uint64_t seed = 0;
};
void describe(InputFields& f, TextPassagesInput& in);

/// All passages of the text, in its order; the last may be shorter. Throws InvalidArgument: "file" for no text,
/// "length", and as cut_file does.
std::vector<Passage> all_passages(const TextPassagesInput& in, const Reader& reader);

/// `count` of them of full length, in an order drawn from the seed. Throws as choose_passages does.
std::vector<Passage> drawn_passages(const TextPassagesInput& in, const std::vector<Passage>& all,
                                    Eigen::Index count, const Reader& reader);

}  // namespace eigenscope
