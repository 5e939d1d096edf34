#include "training/text_sampler.h"

#include <algorithm>
#include <cmath>

#include "attention/softmax.h"
#include "support/error.h"
#include "support/random.h"
#include "support/shared_parameters.h"
#include "training/regularizers/head_products.h"

namespace eigenscope {
namespace {

using Eigen::Index;

constexpr std::uint64_t kSpeechStream = std::uint64_t{1} << 42;

// All heads, layer by layer, with the logit factors gamma log(tr(W^2) + 1e-6)/sqrt(tr(W^2)) of TAME (Tang et al.,
// ICLR 2025); 1 where tr(W^2) is not positive, for which TAME defines none.
std::vector<HeadReading<float>> tame_readings(const Model<float>& model, double gamma) {
  std::vector<HeadReading<float>> readings = model.readings();
  auto reading = readings.begin();
  for (Index layer = 0; layer < model.settings().depth; ++layer) {
    for (Index head = 0; head < model.settings().heads; ++head) {
      const double scale = head_traces(model, layer, head).eta_s;
      (reading++)->factor =
          static_cast<float>(scale > 0 ? gamma * std::log(scale + 1e-6) / std::sqrt(scale) : 1.0);
    }
  }
  return readings;
}

}  // namespace

Intervention<float> intervention_of_name(std::string_view name, double gamma,
                                         const Model<float>& model) {
  const std::size_t kind = Choices(kInterventionNames).index_of("intervention", name);
  if (kind > 0 && !reads_logits(model.settings().attention)) {
    throw InvalidArgument("intervention", "be none for a model with fixed attention weights",
                          "found " + std::string(name));
  }
  if (kind == 1 && model.settings().has_offset_terms()) {
    throw InvalidArgument("intervention",
                          "be none or tame for a model with relative positions or hidden distances",
                          "found " + std::string(name));
  }
  switch (kind) {
    case 1: {
      std::vector<HeadReading<float>> readings = model.readings();
      for (HeadReading<float>& reading : readings) reading.retrieval = Retrieval::hard;
      return {std::move(readings)};
    }
    case 2:
      return {tame_readings(model, checked(kTame, gamma))};
    default:
      return {};
  }
}

TextSampler::TextSampler(TrainedModel trained, std::string_view prompt, Index wanted,
                         double temperature, std::uint64_t seed,
                         const Intervention<float>& intervention)
    : trained_(std::move(trained)),
      tokens_(trained_.tokenizer.encode(prompt)),
      wanted_(static_cast<Index>(checked(kGenerated, static_cast<double>(wanted)))),
      temperature_(checked(shared::kTemperature, temperature)),
      seed_(seed),
      intervention_(intervention) {
  if (trained_.settings.model.objective != Objective::next) {
    throw InvalidArgument("checkpoint",
                          "be of a run with the objective next, which continues a text");
  }
  if (tokens_.empty()) tokens_ = trained_.tokenizer.encode("\n");
  prompt_ = tokens_.size();
}

bool TextSampler::advance(Index tokens) {
  const auto length = static_cast<std::size_t>(trained_.settings.model.length);
  for (; tokens > 0 && done_ < wanted_; --tokens, ++done_) {
    const std::size_t read = std::min(tokens_.size(), length);
    trained_.model.forward(std::span(tokens_).last(read), static_cast<Index>(read), intervention_);
    const Eigen::VectorXd weights = softmax(
        trained_.model.logits().col(static_cast<Index>(read) - 1).cast<double>(), temperature_);
    double left = random_unit(seed_, kSpeechStream, static_cast<std::uint64_t>(done_));
    Index token = 0;
    while (token + 1 < weights.size() && left >= weights[token]) left -= weights[token++];
    tokens_.push_back(static_cast<TokenId>(token));
  }
  return done_ >= wanted_;
}

double TextSampler::work_per_step() const {
  return static_cast<double>(trained_.model.layout().size) *
         static_cast<double>(trained_.settings.model.length);
}

std::string TextSampler::text() const {
  return trained_.tokenizer.decode(std::span(tokens_).subspan(prompt_));
}

Attended attend_to(TrainedModel& trained, std::string_view prompt,
                   const Intervention<float>& intervention) {
  Model<float>& model = trained.model;
  std::vector<TokenId> tokens = trained.tokenizer.encode(prompt);
  tokens.resize(std::min(tokens.size(), static_cast<std::size_t>(model.settings().length)));
  if (tokens.size() < 2) {
    throw InvalidArgument("prompt", "have at least two tokens, which attention needs",
                          "found " + std::to_string(tokens.size()));
  }
  const auto length = static_cast<Index>(tokens.size());
  model.forward(tokens, length, intervention);
  Attended attended;
  for (const TokenId token : tokens)
    attended.tokens.push_back(trained.tokenizer.decode({&token, 1}));
  attended.layers = model.settings().depth;
  attended.heads = model.settings().heads;
  for (Index layer = 0; layer < attended.layers; ++layer) {
    for (Index head = 0; head < attended.heads; ++head) {
      double entropy = 0;
      for (Index query = 0; query < length; ++query) {
        // A column of the model's is a row here.
        const auto row = model.attention(layer).col(head * length + query);
        attended.weights.insert(attended.weights.end(), row.begin(), row.end());
        const Index keys = model.shape().keys(query);
        if (query > 0) entropy += normalized_entropy(row.head(keys).cast<double>());
      }
      attended.entropies.push_back(entropy / static_cast<double>(length - 1));
    }
  }
  return attended;
}

}  // namespace eigenscope
