// Predictions without text: the law of random tokens, mean-field attention against a sampled population,
// models whose attention is known, and that what is measured never enters what is predicted.
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "advance_layer.h"
#include "catch.h"
#include "checkpoint_failure.h"
#include "inference/forward_pass.h"
#include "inference_models.h"
#include "prediction/agreement.h"
#include "prediction/head_prediction.h"
#include "prediction/mean_field.h"
#include "prediction/prediction.h"
#include "prediction/random_tokens.h"
#include "prediction/vocabulary_order.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

namespace {

RandomTokens tokens_of(TokenLaw law) {
  RandomTokens tokens{law};
  for (int id = 0; id < 40; ++id) tokens.ids.push_back(100 - id);
  tokens.before = {7};
  tokens.after = {8, 9};
  return tokens;
}

/// Pearson's statistic of the ids drawn between the special tokens; 39 degrees of freedom.
double chi_square(const RandomTokens& law, const std::vector<Passage>& drawn) {
  VectorXd counts = VectorXd::Zero(40);
  for (const Passage& passage : drawn) {
    for (Index t = passage.leading; t < passage.length() - passage.trailing; ++t) {
      counts[100 - passage.ids[static_cast<std::size_t>(t)]] += 1;
    }
  }
  const VectorXd expected = counts.sum() * token_probabilities(law);
  REQUIRE(expected.minCoeff() > 5);
  return ((counts - expected).array().square() / expected.array()).sum();
}

/// The tiny GPT-2 with `change` made to its values.
std::shared_ptr<const Transformer> model_with(const std::function<void(TinyModel&)>& change) {
  TinyModel tiny = tiny_gpt2();
  change(tiny);
  return transformer_of(tiny);
}

std::vector<Passage> tiny_passages(Index count, std::uint64_t seed, Index length = 12) {
  RandomTokens tokens{TokenLaw::uniform};
  for (int id = 0; id < kTinyTokens; ++id) tokens.ids.push_back(id);
  return random_passages(tokens, count, length, seed);
}

std::vector<HeadPrediction> predicted(const std::shared_ptr<const Transformer>& model,
                                      const PredictionPassages& passages) {
  Prediction prediction(model, passages, {60, 3});
  prediction.advance(100000);
  return prediction.heads();
}

const HeadMeasures& at(const HeadPrediction& head, Level level) {
  return head.levels[static_cast<std::size_t>(level)];
}

}  // namespace

TEST_CASE("random tokens have the law they claim", "[without-text]") {
  // The 0.999 quantile of chi-square with 39 degrees of freedom is 72.1.
  constexpr double kQuantile = 72.1;
  for (const TokenLaw kind : {TokenLaw::zipf, TokenLaw::uniform}) {
    const RandomTokens law = tokens_of(kind);
    const std::vector<Passage> drawn = random_passages(law, 200, 103, 11);
    REQUIRE(drawn.size() == 200);
    for (const Passage& passage : drawn) {
      REQUIRE(passage.length() == 103);
      REQUIRE(passage.ids.front() == 7);
      REQUIRE(passage.ids[101] == 8);
      REQUIRE(passage.ids[102] == 9);
      REQUIRE(passage.leading == 1);
      REQUIRE(passage.trailing == 2);
    }
    CHECK(chi_square(law, drawn) < kQuantile);
    RandomTokens other = law;  // the test tells laws apart that differ by a tenth in the exponent
    other.law = TokenLaw::zipf;
    other.exponent = kind == TokenLaw::zipf ? 1.1 : 0.1;
    CHECK(chi_square(other, drawn) > kQuantile);
  }
  const VectorXd p = token_probabilities(tokens_of(TokenLaw::zipf));
  CHECK(p.sum() == Approx(1));
  CHECK(p[0] / p[9] == Approx(12.7 / 3.7));
}

TEST_CASE("random tokens are the seed's, and independent of their number", "[without-text]") {
  const RandomTokens law = tokens_of(TokenLaw::zipf);
  const std::vector<Passage> few = random_passages(law, 2, 50, 1),
                             more = random_passages(law, 3, 60, 1);
  CHECK(few[1].ids == random_passages(law, 2, 50, 1)[1].ids);
  CHECK(few[0].ids != few[1].ids);
  CHECK(few[1].ids != random_passages(law, 2, 50, 2)[1].ids);
  CHECK(std::equal(few[1].ids.begin(), few[1].ids.end() - 2, more[1].ids.begin()));
  CHECK(failure_of([&] { random_passages(law, 1, 3, 1); }).item == "length");
  RandomTokens bad = law;
  bad.exponent = -1;
  CHECK(failure_of([&] { token_probabilities(bad); }).item == "zipf_exponent");
  bad = law;
  bad.offset = -1;
  CHECK(failure_of([&] { token_probabilities(bad); }).item == "zipf_offset");
  bad = law;
  bad.ids.clear();
  CHECK(failure_of([&] { token_probabilities(bad); }).item == "ids");
}

TEST_CASE("words begin where the vocabulary lists whole words", "[without-text]") {
  const TextTokenizer tokenizer = TextTokenizer::parse(R"({
    "model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[PAD]": 0, "[UNK]": 1,
      "[unused0]": 2, "!": 3, "é": 4, "##ing": 5, "the": 6, "of": 7, "##s": 8, "whale": 9}},
    "normalizer": {"type": "BertNormalizer"}, "pre_tokenizer": {"type": "BertPreTokenizer"}})");
  const VocabularyLayout layout = vocabulary_layout(tokenizer, 9);
  CHECK(layout.first_word == 6);
  CHECK(layout.ordinary == std::vector<int>{3, 4, 5, 6, 7, 8});
  CHECK(layout.separate == std::vector<int>{3, 6, 7});
  const auto model = model_with([](TinyModel&) {});
  CHECK(ids_by_frequency(TokenOrder::vocabulary, 2.7, layout, *model) == std::vector<int>{6, 7, 8});
}

TEST_CASE("without a tokenizer the config names special tokens", "[without-text]") {
  const auto model = model_with([](TinyModel&) {});
  const Config config =
      Config::parse(R"({"bos_token_id": 5, "eos_token_id": 6, "pad_token_id": 0})");
  const VocabularyLayout layout = vocabulary_layout(config, *model);
  CHECK(layout.before == std::vector<int>{5});
  CHECK(layout.after.empty());  // a causal model
  CHECK(layout.ordinary == std::vector<int>{1, 2, 3, 4, 6});
  CHECK(layout.first_word == 1);
}

TEST_CASE("the embeddings' order finds a frequency that they hold", "[without-text]") {
  // Embeddings with the logarithm of a hidden rank along one direction; the words from id 2 on are in
  // the order of their ranks, ids 0 and 1 belong between them.
  constexpr int kIds = 60;
  const auto rank = [](int id) { return id == 0 ? 4.5 : id == 1 ? 20.5 : id - 1.0; };
  const auto model = model_with([&](TinyModel& tiny) {
    tiny.shapes["wte.weight"] = {kIds, kTinyWidth};
    std::vector<double>& values = tiny.values["wte.weight"];
    std::vector<float> noise(kIds * kTinyWidth);
    NormalStream(4, 4).fill(noise);
    values.assign(noise.size(), 0);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double shift = std::log(rank(static_cast<int>(i / kTinyWidth)) + 2.7);
      values[i] = static_cast<float>((i % kTinyWidth == 2 ? shift : 0) + 1e-4 * noise[i]);
    }
  });
  VocabularyLayout layout;
  for (int id = 0; id < kIds; ++id) layout.separate.push_back(id);
  layout.first_word = 2;
  const std::vector<int> ids = ids_by_frequency(TokenOrder::embedding, 2.7, layout, *model);
  REQUIRE(ids.size() == kIds);
  CHECK(std::vector<int>(ids.begin(), ids.begin() + 6) == std::vector<int>{2, 3, 4, 5, 0, 6});
  CHECK(ids[21] == 1);
}

TEST_CASE("the mean field is the average over a sampled population, layer by layer",
          "[without-text]") {
  // Small logits: with large ones the tokens of eight coordinates are too far from Gaussian.
  const auto model = model_with([](TinyModel& tiny) {
    for (auto& [name, values] : tiny.values) {
      if (name.find("c_attn.weight") == std::string::npos) continue;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % (3 * kTinyWidth) < 2 * kTinyWidth) values[i] *= 0.25;  // queries and keys
      }
    }
  });
  constexpr Index kPopulation = 60, kLength = 12, kDraws = 4000, kPlace = kLength - 1;
  const std::vector<Passage> passages = tiny_passages(kPopulation, 21, kLength);
  MeanField population(*model, passages, 1);
  double tilt = 0;  // what the covariance of values and keys contributes, in standard errors
  for (int layer = 0; layer < kTinyLayers; ++layer) {
    const LayerWeights weights = model->read_layer(layer);
    const LayerRules& rules = model->rules(layer);
    const auto states = population.states(weights);
    const Index width = rules.head_width;
    for (Index head = 0; head < static_cast<Index>(kTinyHeads); ++head) {
      HeadStates own;
      auto &queries = own.queries, &keys = own.keys, &values = own.values;
      for (const Eigen::MatrixXf& x : states) {
        const auto part = [&](const HeadProjection& projection) -> MatrixXd {
          return projection.head(static_cast<int>(head))(x).cast<double>();
        };
        queries.push_back(part(weights.query) / std::sqrt(static_cast<double>(width)));
        keys.push_back(part(weights.key));
        values.push_back(part(weights.value));
      }
      const KeyValueLaw law = key_value_law(own, {1, 0});
      MatrixXd expected(width, kPopulation);  // of the queries at that position
      for (Index k = 0; k < kPopulation; ++k) {
        const auto passage = static_cast<std::size_t>(k);
        expected.col(k) = mean_field_reads(law, own, passage, {}, rules).mean.col(kPlace);
      }
      // Deviations of key (above) and value (below) of every content token from the means.
      MatrixXd deviations(2 * width, kPopulation * (kLength - 1));
      for (Index j = 0; j < deviations.cols(); ++j) {
        const auto k = static_cast<std::size_t>(j / (kLength - 1));
        const Index t = 1 + j % (kLength - 1);
        deviations.col(j) << keys[k].col(t) - law.key_means.col(t),
            values[k].col(t) - law.value_means.col(t);
      }
      deviations.colwise() -= VectorXd(deviations.rowwise().mean());
      // A query at the last position, and keys drawn from the population for it.
      VectorXd error = VectorXd::Zero(width), square = VectorXd::Zero(width);
      for (Index j = 0; j < kDraws; ++j) {
        const auto own = static_cast<std::size_t>(j % kPopulation);
        const VectorXd query = queries[own].col(kPlace), key = keys[own].col(kPlace),
                       value = values[own].col(kPlace);
        double total = std::exp(query.dot(key));
        VectorXd read = total * value;
        for (Index t = 0; t < kPlace; ++t) {
          const double drawn = random_unit(9, static_cast<std::uint64_t>(j * kLength + t), 0);
          const VectorXd token = t == 0 ? VectorXd::Zero(2 * width)  // the sink, at its mean
                                        : VectorXd(deviations.col(static_cast<Index>(
                                              drawn * static_cast<double>(deviations.cols()))));
          const double weight = std::exp(query.dot(law.key_means.col(t) + token.head(width)));
          read += weight * (law.value_means.col(t) + token.tail(width));
          total += weight;
        }
        const VectorXd difference = read / total - expected.col(j % kPopulation);
        error += difference;
        square += difference.cwiseAbs2();
      }
      const VectorXd standard = square.cwiseSqrt() / static_cast<double>(kDraws);
      for (Index i = 0; i < width; ++i) {
        INFO("layer " << layer << " head " << head << " coordinate " << i);
        CHECK(std::abs(error[i] / kDraws) < 4 * standard[i]);
      }
      const VectorXd shift = law.cross_covariance * queries[0].col(kPlace);
      tilt = std::max(tilt, shift.cwiseQuotient(standard).cwiseAbs().maxCoeff());
      population.read_head(own, rules, {});
    }
    for (Index k = 0; k < kPopulation; ++k) population.finish_passage();
  }
  CHECK(tilt > 8);  // without it the averages would differ
}

namespace {

/// The reads of a passage whose tokens are all alike and have the value 0; no key is hidden from them.
MeanFieldReads reads_of(const KeyValueLaw& law, const VectorXd& query, const VectorXd& key) {
  const Index length = law.key_means.cols();
  const HeadStates tokens{{query.replicate(1, length)},
                          {key.replicate(1, length)},
                          {MatrixXd::Zero(query.size(), length)}};
  return mean_field_reads(law, tokens, 0, {}, {});
}

}  // namespace

TEST_CASE("the mean field's linear cap is near the mean of capped Gaussian logits",
          "[without-text]") {
  // One coordinate, one query, content keys of mean m and deviation s, and a first key and an own key of logit 0.
  constexpr Index kKeys = 200;
  constexpr float kCap = 50;
  double worst = 0;
  for (const double m : {-20.0, -5.0, 0.0, 10.0, 20.0}) {
    for (const double s : {0.5, 1.5, 3.0}) {
      KeyValueLaw law{MatrixXd::Constant(1, kKeys, m),
                      MatrixXd::Ones(1, kKeys),
                      MatrixXd::Constant(1, 1, s * s),
                      MatrixXd::Zero(1, 1),
                      {1, 0}};
      law.key_means(0, 0) = m;
      law.value_means(0, 0) = 0;
      const VectorXd one = VectorXd::Ones(1);
      const HeadStates tokens{{MatrixXd::Ones(1, kKeys)},
                              {MatrixXd::Constant(1, kKeys, m)},
                              {MatrixXd::Zero(1, kKeys)}};
      const double read =
          mean_field_reads(law, tokens, 0, {}, {.attention_cap = kCap}).mean(0, kKeys - 1);
      // Weight of the content over that of the first and the own key, which are at the mean.
      const double found = read / (1 - read) * 2 / (kKeys - 2);
      double expected = 0, mass = 0;
      for (double z = -8; z <= 8; z += 0.01) {
        const double density = std::exp(-z * z / 2);
        expected +=
            density * std::exp(kCap * (std::tanh((m + s * z) / kCap) - std::tanh(m / kCap)));
        mass += density;
      }
      expected /= mass;
      worst = std::max(worst, std::abs(found / expected - 1));
    }
  }
  CAPTURE(worst);
  CHECK(worst < 0.08);
  CHECK(worst > 0.01);  // an approximation
}

TEST_CASE("the mean field's fluctuations are those of the sampled population", "[without-text]") {
  // Gaussian keys and values, far from freezing: the spread against sampled rows.
  constexpr Index kWidth = 4, kKeys = 400, kDraws = 3000;
  KeyValueLaw law{MatrixXd::Zero(kWidth, kKeys),
                  MatrixXd::Zero(kWidth, kKeys),
                  MatrixXd::Identity(kWidth, kWidth),
                  MatrixXd::Zero(kWidth, kWidth),
                  {1, 0}};
  const VectorXd query = VectorXd::Constant(kWidth, 0.4);
  const VectorXd far =
      VectorXd::Constant(kWidth, -100);  // the query's own key and the sink: nothing
  law.key_means.col(0) = far;
  const MeanFieldReads reads = reads_of(law, query, far);
  const VectorXd mean = reads.mean.col(5);
  double square = 0;
  std::vector<float> normal(2 * kKeys);
  for (Index j = 0; j < kDraws; ++j) {
    NormalStream(3, static_cast<std::uint64_t>(j)).fill(normal);
    double value = 0, total = 0;
    for (std::size_t t = 2; t < kKeys; ++t) {
      const double weight = std::exp(query.norm() * normal[t]);
      value += weight * normal[kKeys + t];
      total += weight;
    }
    square += value * value / (total * total);
  }
  CHECK(mean.norm() == Approx(0).margin(1e-12));
  CHECK(reads.spread[5] == Approx(std::sqrt(square / kDraws)).epsilon(0.05));
}

TEST_CASE("a frozen row reads no more than one key", "[without-text]") {
  KeyValueLaw law{MatrixXd::Zero(1, 50),
                  MatrixXd::Zero(1, 50),
                  MatrixXd::Identity(1, 1),
                  MatrixXd::Identity(1, 1),
                  {1, 0}};
  const VectorXd query = VectorXd::Constant(1, 30), far = VectorXd::Constant(1, -100);
  law.key_means(0, 0) = -100;
  const MeanFieldReads reads = reads_of(law, query, far);
  // The largest of 48 Gaussian keys is about sqrt(2 log 48).
  CHECK(reads.mean(0, 3) == Approx(std::sqrt(2 * std::log(48))));
  CHECK(reads.spread[3] == Approx(1));
}

TEST_CASE("uniform attention is predicted exactly on every level", "[without-text]") {
  const auto model = model_with([](TinyModel& tiny) {
    for (auto& [name, values] : tiny.values) {
      if (name.find("c_attn") == std::string::npos) continue;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % (3 * kTinyWidth) < kTinyWidth) values[i] = 0;  // W_Q and b_Q
      }
    }
  });
  for (const HeadPrediction& head :
       predicted(model, {tiny_passages(4, 1), tiny_passages(4, 2), {}})) {
    CHECK(head.measured.row.entropy == Approx(1));
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      INFO("level " << kLevels[level].name);
      CHECK(head.levels[level].row.entropy == Approx(1));
      CHECK(head.levels[level].row.participation == Approx(1));
    }
    CHECK(verdict(head) == Verdict::weights);
  }
}

TEST_CASE("attention to the first token alone is predicted exactly", "[without-text]") {
  // Tokens have a negative first coordinate, position 0 a larger positive one; queries are constant and
  // look for it.
  const auto model = model_with([](TinyModel& tiny) {
    for (std::size_t id = 0; id < kTinyTokens; ++id)
      tiny.values["wte.weight"][id * kTinyWidth] = -50;
    for (std::size_t t = 0; t < kTinyPositions; ++t) {
      tiny.values["wpe.weight"][t * kTinyWidth] = t == 0 ? 1000 : 0;
    }
    for (int layer = 0; layer < kTinyLayers; ++layer) {
      const std::string p = "h." + std::to_string(layer) + ".";
      tiny.values[p + "ln_1.weight"].assign(kTinyWidth, 1);
      tiny.values[p + "ln_1.bias"].assign(kTinyWidth, 0);
      std::vector<double>& weight = tiny.values[p + "attn.c_attn.weight"];
      std::vector<double>& bias = tiny.values[p + "attn.c_attn.bias"];
      for (std::size_t i = 0; i < weight.size(); ++i) {
        if (i % (3 * kTinyWidth) < 2 * kTinyWidth) weight[i] = 0;
      }
      for (std::size_t i = 0; i < kTinyWidth; ++i) {
        bias[i] = 100;                // the query
        weight[kTinyWidth + i] = 10;  // the key: coordinate 0
        bias[kTinyWidth + i] = 0;
      }
    }
  });
  for (const HeadPrediction& head :
       predicted(model, {tiny_passages(4, 1), tiny_passages(4, 2), {}})) {
    CHECK(head.measured.row.sink() == Approx(1));
    for (const Level level : {Level::sink, Level::position, Level::separator, Level::neighbours,
                              Level::keys, Level::mean_field, Level::sequences}) {
      INFO("level " << kLevels[static_cast<std::size_t>(level)].name);
      CHECK(at(head, level).row.sink() == Approx(1));
      CHECK(at(head, level).row.entropy == Approx(0).margin(1e-9));
    }
  }
}

TEST_CASE("a measured text never enters a prediction", "[without-text]") {
  const auto model = model_with([](TinyModel&) {});
  const std::vector<Passage> statistics = tiny_passages(4, 1);
  const auto first = predicted(model, {statistics, tiny_passages(4, 2), tiny_passages(4, 3)}),
             second = predicted(model, {statistics, tiny_passages(6, 4), {}}),
             alone = predicted(model, {statistics, {}, {}}),
             other = predicted(model, {tiny_passages(4, 5), tiny_passages(4, 2), {}});
  REQUIRE(first.size() == kTinyLayers * kTinyHeads);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].measured.row.entropy != second[i].measured.row.entropy);
    CHECK(first[i].measured.row.entropy != first[i].ceiling.row.entropy);
    CHECK(first[i].measured.row.entropy == other[i].measured.row.entropy);
    CHECK(alone[i].measured.queries == 0);
    CHECK(std::isnan(alone[i].measured.row.entropy));
    for (std::size_t level = 0; level < kLevels.size(); ++level) {
      for (const PredictedMeasure& measure : kPredictedMeasures) {
        const double value = measure.value(first[i].levels[level]);
        if (std::isnan(value)) {
          CHECK(level == 0);
          continue;
        }
        CHECK(value == measure.value(second[i].levels[level]));
        CHECK(value == measure.value(alone[i].levels[level]));
      }
      if (level >= static_cast<std::size_t>(Level::covariance)) {
        CHECK(first[i].levels[level].row.entropy != other[i].levels[level].row.entropy);
      }
    }
  }
}

TEST_CASE("ceiling and null are what they say", "[without-text]") {
  std::vector<HeadPrediction> heads(5);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    heads[i].measured.row.entropy = 0.1 * static_cast<double>(i * i);
    heads[i].ceiling.row.entropy = heads[i].measured.row.entropy + 0.01;
    heads[i].levels[3].row.entropy = -heads[i].measured.row.entropy;
  }
  const PredictedMeasure& entropy = kPredictedMeasures.front();
  CHECK(ceiling_agreement(heads, entropy, {10, 1}).error.value == Approx(0.01));
  CHECK(ceiling_agreement(heads, entropy, {10, 1}).rank_correlation.value == Approx(1));
  // |0, 0.1, 0.4, 0.9, 1.6 - 0.4| on average.
  CHECK(null_agreement(heads, entropy, {10, 1}).error.value == Approx(0.48));
  CHECK(std::isnan(null_agreement(heads, entropy, {10, 1}).rank_correlation.value));
  CHECK(level_agreement(heads, 3, entropy, {10, 1}).rank_correlation.value == Approx(-1));
}

TEST_CASE("a verdict is the first level from which on predictions fit", "[without-text]") {
  HeadPrediction head;
  head.measured.queries = 1;
  head.measured.row.entropy = 0.5;
  const auto entropies = [&](std::vector<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) head.levels[i].row.entropy = values[i];
    return verdict(head);
  };
  CHECK(entropies({0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5}) == Verdict::weights);
  CHECK(entropies({0.5, 0.5, 0.9, 0.46, 0.5, 0.5, 0.5, 0.5, 0.5}) == Verdict::token_statistics);
  CHECK(entropies({0.5, 0.5, 0.9, 0.9, 0.5, 0.5, 0.5, 0.5, 0.5}) == Verdict::sink);
  CHECK(entropies({0.5, 0.5, 0.9, 0.9, 0.9, 0.54, 0.5, 0.5, 0.5}) == Verdict::position);
  CHECK(entropies({0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.56}) == Verdict::unexplained);
  // Without a measurement, level sequences is what is to be explained.
  head.measured.queries = 0;
  head.levels[static_cast<std::size_t>(Level::sequences)].row.entropy = 0.56;
  CHECK(verdict(head) == Verdict::token_statistics);
}

TEST_CASE("the decay of attention over distance is the exponent of a power law", "[without-text]") {
  Eigen::ArrayXd weights(30);
  for (Index i = 0; i < 30; ++i) weights[i] = 0.3 * std::pow(static_cast<double>(i + 1), -0.7);
  CHECK(decay_exponent(weights) == Approx(0.7));
  weights[3] = 0;  // left out
  CHECK(decay_exponent(weights) == Approx(0.7));
  CHECK(std::isnan(decay_exponent(weights.head(1))));
  CHECK(decay_exponent(Eigen::ArrayXd::Constant(9, 0.1)) == Approx(0).margin(1e-12));
}

TEST_CASE("random words through MiniLM have the numbers of an independent script",
          "[without-text][sample]") {
  const nlohmann::json expected = reference("minilm-without-text.json");
  const auto model = minilm_transformer();
  std::vector<Passage> passages;
  for (const auto& ids : expected.at("ids")) {
    passages.push_back({ids.get<std::vector<int>>(), 1, 1});
  }
  std::vector<HeadMeter> meters(72);
  ForwardPass pass(model, passages);
  while (!pass.done()) {
    const int layer = pass.layer();
    const LayerWeights weights = pass.weights();
    std::vector<Eigen::MatrixXf> states;
    for (const PassageTrace& trace : advance_layer(pass)) {
      states.push_back(trace.states);
      for (std::size_t head = 0; head < 12; ++head) {
        const auto& [logits, weights] = trace.heads[head];
        meters[static_cast<std::size_t>(layer) * 12 + head].add(logits, weights,
                                                                model->rules(layer), {1, 1});
      }
    }
    for (const auto& row : expected.at("reads")) {
      if (row.at("layer") != layer) continue;
      const auto head = row.at("head").get<Index>(), place = row.at("place").get<Index>();
      const auto own = row.at("passage").get<std::size_t>();
      HeadStates tokens;
      for (const HeadTokens& of_passage :
           head_tokens(weights, model->rules(layer), static_cast<int>(head), states)) {
        tokens.add(of_passage);
      }
      const MeanFieldReads reads =
          mean_field_reads(key_value_law(tokens, {1, 1}), tokens, own, {}, {});
      INFO("layer " << layer << " head " << head << " position " << place);
      CHECK_THAT(reads.spread[place], WithinAbs(row.at("spread").get<double>(), 1e-4));
      const auto& mean = row.at("mean");
      for (std::size_t i = 0; i < mean.size(); ++i) {
        CHECK_THAT(reads.mean(static_cast<Index>(i), place),
                   WithinAbs(mean[i].get<double>(), 1e-4));
      }
    }
  }
  for (const auto& row : expected.at("heads")) {
    const HeadMeasures measures =
        meters[row.at("layer").get<std::size_t>() * 12 + row.at("head").get<std::size_t>()]
            .measures();
    CHECK_THAT(measures.row.entropy, WithinAbs(row.at("entropy").get<double>(), 1e-5));
    CHECK_THAT(measures.row.sink(), WithinAbs(row.at("sink").get<double>(), 1e-5));
  }
}
