#include "operations/reader.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "checkpoint/gguf_header.h"
#include "inference/transformer.h"
#include "io/json_events.h"
#include "picture/preprocessor.h"
#include "support/error.h"
#include "support/shared_parameters.h"
#include "text/gguf_tokenizer.h"

namespace eigenscope {
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

void describe(InputFields& f, ReaderInput& in) {
  describe(f, in.files);
  f.file(FieldSource::tokenizer, "tokenizer", in.tokenizer,
         "tokenizer.json; a GGUF file has a tokenizer inside");
}

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
      if (id < known + reader.model->picture_tokens()) {
        throw InvalidArgument("text", "have no tokens of pictures",
                              shown_name(reader.tokenizer.vocabulary().token(id)));
      }
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

void describe(InputFields& f, PicturesInput& in) {
  f.pictures("image", in.image, "pictures to run through a vision model, in place of text");
  f.file(FieldSource::preprocessor, "preprocessor", in.preprocessor, "preprocessor_config.json");
}

PicturePassages picture_passages(const CheckpointFiles& files, const PicturesInput& in) {
  const Config config = needed_config(files);
  const auto model =
      std::make_shared<const Transformer>(open_tensors(files), config, ModelInput::pictures);
  const PatchEmbedding& grid = *model->patches();
  std::optional<Config> settings;
  if (in.preprocessor) settings = Config::read(*in.preprocessor);
  const Preprocessor preprocessor(settings ? &*settings : nullptr, grid.pixels());
  PicturePassages result{model, {}, {}};
  for (const Picture& picture : read_ppm(in.image)) {
    Passage& passage = result.passages.emplace_back();
    passage.ids.resize(static_cast<std::size_t>(grid.tokens()));
    std::iota(passage.ids.begin(), passage.ids.end(), 0);
    passage.leading = grid.leading();
    const Picture& seen = result.pictures.emplace_back(preprocessor.resized(picture));
    passage.patches =
        std::make_shared<const Eigen::MatrixXf>(preprocessor.patches(seen, grid.patch()));
  }
  return result;
}

}  // namespace eigenscope
