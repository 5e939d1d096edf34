// A checkpoint that reads texts or pictures, and passages of them, as inputs of operations.
#pragma once

#include <Eigen/Core>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "contract/result.h"
#include "inference/transformer.h"
#include "operations/checkpoint_input.h"
#include "picture/picture.h"
#include "text/passages.h"

namespace eigenscope {

struct ReaderInput {
  CheckpointFiles files;
  File tokenizer;
};
void describe(InputFields& f, ReaderInput& in);

struct Reader {
  std::shared_ptr<const Transformer> model;
  TextTokenizer tokenizer;
};

/// Throws FormatError naming the file that is missing, and as Transformer and TextTokenizer do.
Reader open_reader(const ReaderInput& in);

/// The id of the token that stands for a hidden one, of BERT or of RoBERTa and T5; none in other vocabularies.
std::optional<int> mask_token(const TextTokenizer& tokenizer);

/// The passages of a text. Throws as cut_passages does, and FormatError naming the tokenizer's file where it gives a
/// token that the model has no embedding for.
std::vector<Passage> cut_text(const Reader& reader, std::string_view text, Eigen::Index length);

/// The passages of a file that an operation has in the field `name`, which refusals of its text name. Throws as
/// cut_text does.
std::vector<Passage> cut_file(const Reader& reader, const char* name,
                              std::span<const std::byte> file, Eigen::Index length);

/// The field `fit_length`.
void describe_fit_length(InputFields& f, bool& fit_length);
/// The length of passages, in tokens. A length above that of the model is reduced to it with `fit_length`; without,
/// throws InvalidArgument ("length").
Eigen::Index length_for(Eigen::Index length, bool fit_length, const Transformer& model);

/// Token ids of passages, one after another.
Eigen::VectorXd ids_of(const std::vector<Passage>& passages);

/// A text and the checkpoint that reads it.
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

struct PicturesInput {
  std::vector<std::byte> image;  ///< binary PPM files, one after another; empty: no pictures
  File preprocessor;
};
void describe(InputFields& f, PicturesInput& in);

/// Pictures as passages of a vision model, a passage for each picture.
struct PicturePassages {
  std::shared_ptr<const Transformer> model;
  std::vector<Passage> passages;
  std::vector<Picture> pictures;  ///< in the model's size
};

/// Throws FormatError as Transformer and Preprocessor do; InvalidArgument ("image") as read_ppm does.
PicturePassages picture_passages(const CheckpointFiles& files, const PicturesInput& in);

}  // namespace eigenscope
