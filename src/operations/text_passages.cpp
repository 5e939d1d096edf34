#include "operations/text_passages.h"

#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {

void describe(InputFields& f, TextPassagesInput& in) {
  describe(f, in.reader);
  f.bytes("file", in.file, "file with the text, UTF-8");
  f.number_from(24, shared::kLength, in.length, "tokens of a passage, special tokens included");
  describe_fit_length(f, in.fit_length);
  f.number_from(8, shared::kPassages, in.passages,
                "number of measured passages, drawn from the text");
  f.number(shared::kSeed, in.seed);
}

std::vector<Passage> all_passages(const TextPassagesInput& in, const Reader& reader) {
  if (in.file.empty()) throw InvalidArgument("file", "be given");
  const Eigen::Index length = length_for(in.length, in.fit_length, *reader.model);
  return cut_file(reader, "file", in.file, length);
}

std::vector<Passage> drawn_passages(const TextPassagesInput& in, const std::vector<Passage>& all,
                                    Eigen::Index count, const Reader& reader) {
  return choose_passages(all, count, length_for(in.length, in.fit_length, *reader.model), in.seed);
}

}  // namespace eigenscope
