// Traces and eigenvalues of W_QK Sigma of every head, for the covariance Sigma that the tokens of its layer
// have on a text or on random tokens.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operations/operations.h"
#include "operations/prediction_passages.h"
#include "operations/query_key.h"
#include "operations/settings.h"
#include "prediction/layer_covariance.h"
#include "support/error.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct LayerSpectraInput {
  ReaderInput reader;
  std::vector<std::byte> file;
  RandomTokensInput random;
  std::vector<double> ids;  ///< of passages, instead of those of the file or random ones
  Index leading = 0, trailing = 0;
  Index passages = 0;
  QueryKeyInput query_key;
  TokensInput tokens{.tokens = TokenKind::normalized_walk};
  std::uint64_t seed = 0;
};

void describe(InputFields& f, LayerSpectraInput& in) {
  describe(f, in.reader);
  f.bytes("file", in.file, "text whose passages the model reads, UTF-8; random tokens without it");
  describe(f, in.random);
  f.numbers("ids", "token_id", in.ids,
            "token ids of passages of equal length that `passages` has drawn, instead of a text or "
            "random tokens");
  f.excludes("ids", "file");
  f.number_as("special_tokens", "leading", in.leading,
              "special tokens at the start of each passage of `ids`");
  f.number_as("special_tokens", "trailing", in.trailing, "the same at the end");
  for (const char* name : {"leading", "trailing"}) f.needs(name, "ids");
  f.number("passages", in.passages);
  describe(f, in.query_key);
  describe(f, in.tokens, 128);
  f.number("seed", in.seed);
}

struct LayerSpectraResult {
  std::string model;
  std::vector<HeadReport> heads;
};

void describe(ResultFields& out, const LayerSpectraResult& result) {
  out.list("heads", result.heads, "one row for each head; empty until all are read",
           [&](ResultFields& inner, const HeadReport& head) {
             inner.text("model", result.model, "the checkpoint");
             describe(inner, head);
           });
}

std::vector<Passage> chosen_passages(const LayerSpectraInput& in) {
  if (!in.ids.empty()) return passages_of_ids(in.ids, in.passages, in.leading, in.trailing);
  const Reader reader = open_reader(in.reader);
  const Index length = in.tokens.length;
  if (in.file.empty()) return made_passages(in.random, reader, in.passages, length, in.seed);
  return choose_passages(cut_passages(reader.tokenizer, text_of(in.file), length), in.passages,
                         length, in.seed);
}

class LayerSpectraJob {
 public:
  explicit LayerSpectraJob(const LayerSpectraInput& in)
      : LayerSpectraJob(in, open_model(in.reader.files), needed_config(in.reader.files)) {}

  bool advance(double work) {
    if (!measured_) {
      measured_ = advance_by_work(layers_, work);
      if (!measured_) return false;
      std::vector<ReportSettings> settings;
      for (const auto& covariance : layers_.covariances()) settings.push_back({true, covariance});
      heads_.set_settings(std::move(settings));
      return false;
    }
    return heads_.advance(work);
  }
  double progress() const { return (share_done(layers_) + heads_.share_done()) / 2; }
  LayerSpectraResult result() const {
    LayerSpectraResult result{tensors_->name(), {}};
    if (heads_.scan().done()) result.heads = heads_.reports();
    return result;
  }

 private:
  LayerSpectraJob(const LayerSpectraInput& in, std::shared_ptr<const TextModel> model,
                  const Config& config)
      : tensors_(open_tensors(in.reader.files)),
        layers_(std::move(model), chosen_passages(in), in.query_key.fold_gains == 0),
        heads_(HeadScan(tensors_, &config, in.query_key.settings(in.tokens.length)),
               centred_kernel(in.tokens.process())) {}

  std::shared_ptr<const Safetensors> tensors_;
  LayerCovariance layers_;
  HeadReader heads_;
  bool measured_ = false;
};

}  // namespace

const Operation layer_spectra_operation = operation<LayerSpectraInput, LayerSpectraJob>(
    "layer-spectra",
    "Eigenspectrum of every head with the covariance that the tokens of its layer have",
    "eigenscope layer-spectra all-MiniLM-L6-v2 --file moby-dick.txt --csv\n"
    "eigenscope layer-spectra all-MiniLM-L6-v2 --tokens-law zipf --csv",
    "heads");

}  // namespace eigenscope
