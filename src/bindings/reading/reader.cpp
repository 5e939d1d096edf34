#include "bindings/reading/reader.h"

#include <algorithm>

#include "bindings/files.h"
#include "support/error.h"

namespace eigenscope::bindings {

Reader reader_of(const val& input) {
  for (const char* name : {"config", "tokenizer"}) {
    if (input[name].isNull()) throw FormatError(std::string(name) + ".json", "it is missing");
  }
  ScriptSource source(input["tokenizer"]);
  return {std::make_shared<const TextModel>(tensors_of(input), *config_of(input)),
          TextTokenizer::read(source)};
}

Eigen::Index length_for(const val& input, const TextModel& model) {
  return std::min(integer(input, "length"), model.positions());
}

}  // namespace eigenscope::bindings
