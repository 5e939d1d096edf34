#include "operations/prediction_passages.h"

#include <span>
#include <string>

#include "prediction/random_tokens.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {

using Eigen::Index;

void describe(InputFields& f, RandomTokensInput& in) {
  f.choice("tokens_law", in.law, kTokenLawNames,
           "distribution of the random tokens, or text sampled from the language model itself");
  f.choice("tokens_order", in.order, kTokenOrderNames,
           "frequency ranks of the random tokens: order of the vocabulary, or an order fitted to "
           "the token embeddings, which includes punctuation");
  f.number(kZipfExponent, in.exponent);
  f.number(kZipfOffset, in.offset);
}

namespace {

RandomTokens random_tokens(const RandomTokensInput& in, const Reader& reader) {
  RandomTokens tokens{in.law, in.exponent, in.offset};
  const VocabularyLayout layout = vocabulary_layout(reader.tokenizer, reader.model->vocabulary());
  tokens.ids = in.law == TokenLaw::sampled
                   ? layout.ordinary
                   : ids_by_frequency(in.order, in.offset, layout, *reader.model);
  tokens.before = layout.before;
  tokens.after = layout.after;
  return tokens;
}

}  // namespace

std::vector<Passage> made_passages(const RandomTokensInput& in, const Reader& reader, Index count,
                                   Index length, std::uint64_t seed) {
  const RandomTokens tokens = random_tokens(in, reader);
  if (in.law != TokenLaw::sampled) return random_passages(tokens, count, length, seed);
  return sampled_passages(*reader.model, tokens, count, length, seed);
}

void describe(InputFields& f, PassagesInput& in) {
  describe(f, in.reader);
  f.bytes("file", in.file,
          "text for the token statistics and the measurement, UTF-8; random tokens if omitted");
  f.bytes("measure_file", in.measure_file,
          "text for the measurement, in place of other passages of `file`");
  f.bytes("transfer_file", in.transfer_file,
          "another text for the transfer null: its measured attention is compared with that on "
          "`measure_file`");
  f.needs("transfer_file", "measure_file");
  describe(f, in.random);
  f.number_from(128, shared::kLength, in.length);
  describe_fit_length(f, in.fit_length);
  f.number(shared::kPassages, in.passages);
  f.number(shared::kSeed, in.seed);
}

PredictionPassages drawn_passages(const PassagesInput& in, const Reader& reader) {
  const Index length = length_for(in.length, in.fit_length, *reader.model);
  const auto drawn = [&](const char* name, std::span<const std::byte> file, Index count) {
    return choose_passages(cut_file(reader, name, file, length), count, length, in.seed);
  };
  const auto halves = [&](const char* name, std::span<const std::byte> file,
                          std::vector<Passage>& first, std::vector<Passage>& second) {
    const std::vector<Passage> both = drawn(name, file, 2 * in.passages);
    first.assign(both.begin(), both.begin() + in.passages);
    second.assign(both.begin() + in.passages, both.end());
  };
  if (!in.transfer_file.empty() && in.measure_file.empty()) {
    throw InvalidArgument("transfer_file",
                          "be given with `measure_file`, with which it is compared");
  }
  PredictionPassages passages;
  passages.same_text = !in.file.empty() && in.measure_file.empty();
  if (passages.same_text) {
    halves("file", in.file, passages.statistics, passages.measured);
    return passages;
  }
  if (!in.measure_file.empty()) {
    halves("measure_file", in.measure_file, passages.measured, passages.ceiling);
  }
  if (!in.transfer_file.empty()) {
    passages.transfer = drawn("transfer_file", in.transfer_file, in.passages);
  }
  passages.statistics = in.file.empty()
                            ? made_passages(in.random, reader, in.passages, length, in.seed)
                            : drawn("file", in.file, in.passages);
  return passages;
}

}  // namespace eigenscope
