#include "operations/reader.h"

#include <algorithm>
#include <optional>
#include <string>

#include "checkpoint/gguf_header.h"
#include "io/json_events.h"
#include "support/error.h"
#include "text/gguf_tokenizer.h"

namespace eigenscope {

void describe(InputFields& f, ReaderInput& in) {
  describe(f, in.files);
  f.file(FieldSource::tokenizer, "tokenizer", in.tokenizer,
         "tokenizer.json; a GGUF file has a tokenizer inside");
}

namespace {

TextTokenizer open_tokenizer(const ReaderInput& in) {
  if (in.tokenizer) return TextTokenizer::read(*in.tokenizer);
  const auto& model = in.files.model;
  const bool in_gguf = !model.empty() && std::all_of(model.begin(), model.end(),
                                                     [](const File& it) { return is_gguf(*it); });
  std::optional<TextTokenizer> tokenizer;
  if (in_gguf) tokenizer = tokenizer_of_gguf(model);
  if (!tokenizer) throw missing_beside(in.files, "tokenizer");
  return std::move(*tokenizer);
}

}  // namespace

Reader open_reader(const ReaderInput& in) {
  const Config config = needed_config(in.files);
  TextTokenizer tokenizer = open_tokenizer(in);
  return {std::make_shared<const Transformer>(open_tensors(in.files), config),
          std::move(tokenizer)};
}

std::optional<int> mask_token(const TextTokenizer& tokenizer) {
  const std::optional<int> mask = tokenizer.vocabulary().find("[MASK]");
  return mask ? mask : tokenizer.vocabulary().find("<mask>");
}

std::vector<Passage> cut_text(const Reader& reader, std::string_view text, Eigen::Index length) {
  std::vector<Passage> passages = cut_passages(reader.tokenizer, text, length);
  const Eigen::Index known = reader.model->vocabulary();
  for (const Passage& passage : passages) {
    for (const int id : passage.ids) {
      if (id < known) continue;
      throw FormatError(reader.tokenizer.name(),
                        "it must be that of the model, which has " + std::to_string(known) +
                            " tokens: its token '" +
                            shown_name(reader.tokenizer.vocabulary().token(id)) + "' is number " +
                            std::to_string(id));
    }
  }
  return passages;
}

std::vector<Passage> cut_file(const Reader& reader, const char* name,
                              std::span<const std::byte> file, Eigen::Index length) {
  try {
    return cut_text(reader, as_text(file), length);
  } catch (const InvalidArgument& error) {
    if (error.field() != "text") throw;
    throw error.of(name);
  }
}

void describe_fit_length(InputFields& f, bool& fit_length) {
  f.flag("fit_length", fit_length, "shorten the length to the model's maximum");
}

Eigen::Index length_for(Eigen::Index length, bool fit_length, const Transformer& model) {
  const Eigen::Index longest = model.positions();
  if (length > longest && !fit_length) {
    throw InvalidArgument(
        "length", "be at most " + std::to_string(longest) + ", the tokens that the model takes",
        "found " + std::to_string(length));
  }
  return std::min(length, longest);
}

Eigen::VectorXd ids_of(const std::vector<Passage>& passages) {
  std::vector<double> ids;
  for (const Passage& passage : passages) {
    ids.insert(ids.end(), passage.ids.begin(), passage.ids.end());
  }
  return Eigen::Map<const Eigen::VectorXd>(ids.data(), static_cast<Eigen::Index>(ids.size()));
}

}  // namespace eigenscope
