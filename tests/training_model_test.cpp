// The whole model and its regularizers: against central differences, and against plain loops.
#include "training/model.h"

#include <cmath>

#include "catch.h"
#include "central_differences.h"
#include "checkpoint_failure.h"
#include "small_model.h"
#include "spectrum/traces.h"
#include "test_matrices.h"
#include "training/text_sampler.h"

using namespace eigenscope;
using Eigen::Index;
using Eigen::MatrixXd;
using namespace eigenscope::testing;

namespace {

std::vector<ModelSettings> variants() {
  std::vector<ModelSettings> all(9, small_model());
  all[1].norm = BlockNorm::post;
  all[2].positions = Positions::rotary;
  all[2].key_heads = 2;
  all[3].output = OutputKind::free;
  all[3].mlp_ratio = 0;
  all[4].norm = BlockNorm::post;
  all[4].mlp_ratio = 0;
  all[4].key_heads = 1;
  all[5].depth = 0;
  all[6].positions = Positions::relative;
  all[6].dropped_distance = 0;  // the first query sees no key
  all[7].positions = Positions::relative;
  all[7].objective = Objective::masked;
  all[7].attention_skip = AttentionSkip::without;
  all[7].norm = BlockNorm::post;
  all[7].key_heads = 2;
  all[8].objective = Objective::masked;
  all[8].attention_skip = AttentionSkip::without;
  all[8].dropped_distance = 2;
  return all;
}

// The same forward pass for the first sequence and one head after another, by the definition.
class PlainModel {
 public:
  explicit PlainModel(const Model<double>& model) : model_(model), s_(model.settings()) {}

  double loss(const TokenId* tokens, const TokenId* targets, Index length) {
    std::vector<std::vector<double>> x(static_cast<std::size_t>(length));
    for (Index t = 0; t < length; ++t) {
      for (Index i = 0; i < s_.width; ++i) {
        double value = at("wte.weight", i, tokens[t]);
        if (s_.positions == Positions::learned) value += at("wpe.weight", i, t);
        x[static_cast<std::size_t>(t)].push_back(value);
      }
    }
    for (Index layer = 0; layer < s_.depth; ++layer) run(layer, x);
    if (s_.norm == BlockNorm::pre)
      for (auto& token : x) token = norm("ln_f", token);
    double total = 0;
    for (Index t = 0; t < length; ++t) total += nats(x[static_cast<std::size_t>(t)], targets[t]);
    return total / static_cast<double>(length);
  }

 private:
  using Token = std::vector<double>;

  double at(const std::string& name, Index row, Index column = 0) const {
    for (const Block& block : model_.layout().blocks) {
      if (block.name == name) {
        return model_.parameters()[block.offset + row + column * block.rows];
      }
    }
    throw std::runtime_error(name);
  }
  Token linear(const std::string& name, const Token& in, Index rows) const {
    Token out;
    for (Index i = 0; i < rows; ++i) {
      double sum = at(name + ".bias", i);
      for (std::size_t j = 0; j < in.size(); ++j) {
        sum += at(name + ".weight", i, static_cast<Index>(j)) * in[j];
      }
      out.push_back(sum);
    }
    return out;
  }
  Token norm(const std::string& name, const Token& in) const {
    double mean = 0, variance = 0;
    for (const double value : in) mean += value / static_cast<double>(in.size());
    for (const double v : in) variance += (v - mean) * (v - mean) / static_cast<double>(in.size());
    Token out;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const auto row = static_cast<Index>(i);
      out.push_back(at(name + ".weight", row) * (in[i] - mean) / std::sqrt(variance + 1e-5) +
                    at(name + ".bias", row));
    }
    return out;
  }
  void turn(Token& fused, Index first, Index position) const {
    const Index half = s_.head_width() / 2;
    for (Index i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) / std::pow(10000, double(i) / double(half));
      double& a = fused[static_cast<std::size_t>(first + i)];
      double& b = fused[static_cast<std::size_t>(first + i + half)];
      const double turned = std::cos(angle) * a - std::sin(angle) * b;
      b = std::sin(angle) * a + std::cos(angle) * b;
      a = turned;
    }
  }
  // Keys before and after the query with the objective `masked`, else those up to it.
  bool sees(Index query, Index key) const {
    return (s_.objective == Objective::masked || key <= query) &&
           std::abs(query - key) != s_.dropped_distance;
  }
  double relative(const std::string& name, Index head, Index query, Index key) const {
    if (s_.positions != Positions::relative) return 0;
    const Index offsets = s_.objective == Objective::masked ? 2 * s_.length - 1 : s_.length;
    return at(name + ".relative_bias", head * offsets + s_.length - 1 + key - query);
  }
  std::vector<Token> attention(const std::string& name, const std::vector<Token>& in) const {
    const Index dh = s_.head_width(), keys = s_.groups();
    std::vector<Token> fused, out;
    for (std::size_t t = 0; t < in.size(); ++t) {
      fused.push_back(linear(name + ".c_attn", in[t], (s_.heads + 2 * keys) * dh));
      if (s_.positions != Positions::rotary) continue;
      for (Index h = 0; h < s_.heads + keys; ++h) turn(fused.back(), h * dh, static_cast<Index>(t));
    }
    for (std::size_t t = 0; t < in.size(); ++t) {
      Token joined;
      for (Index h = 0; h < s_.heads; ++h) {
        const Index key = (s_.heads + h / (s_.heads / keys)) * dh, value = key + keys * dh;
        Token weights;
        double total = 0;
        for (std::size_t j = 0; j < in.size(); ++j) {
          weights.push_back(0);
          if (!sees(static_cast<Index>(t), static_cast<Index>(j))) continue;
          double logit = 0;
          for (Index i = 0; i < dh; ++i) {
            logit += fused[t][static_cast<std::size_t>(h * dh + i)] *
                     fused[j][static_cast<std::size_t>(key + i)];
          }
          logit /= std::sqrt(static_cast<double>(dh));
          weights.back() =
              std::exp(logit + relative(name, h, static_cast<Index>(t), static_cast<Index>(j)));
          total += weights.back();
        }
        for (Index i = 0; i < dh; ++i) {
          double sum = 0;
          for (std::size_t j = 0; j < in.size() && total > 0; ++j) {
            sum += weights[j] / total * fused[j][static_cast<std::size_t>(value + i)];
          }
          joined.push_back(sum);
        }
      }
      out.push_back(linear(name + ".c_proj", joined, s_.width));
    }
    return out;
  }
  Token mlp(const std::string& name, const Token& in) const {
    Token hidden = linear(name + ".c_fc", in, s_.hidden());
    for (double& x : hidden) {
      x = 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    }
    return linear(name + ".c_proj", hidden, s_.width);
  }
  void run(Index layer, std::vector<Token>& x) const {
    const std::string name = "h." + std::to_string(layer) + ".";
    const bool pre = s_.norm == BlockNorm::pre;
    std::vector<Token> in = x;
    if (pre)
      for (Token& token : in) token = norm(name + "ln_1", token);
    const std::vector<Token> moved = attention(name + "attn", in);
    for (std::size_t t = 0; t < x.size(); ++t) {
      const bool skip = s_.attention_skip == AttentionSkip::with;
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] = moved[t][i] + (skip ? x[t][i] : 0);
      if (!pre) x[t] = norm(name + "ln_1", x[t]);
      if (s_.hidden() == 0) continue;
      const Token added = mlp(name + "mlp", pre ? norm(name + "ln_2", x[t]) : x[t]);
      for (std::size_t i = 0; i < x[t].size(); ++i) x[t][i] += added[i];
      if (!pre) x[t] = norm(name + "ln_2", x[t]);
    }
  }
  double nats(const Token& token, TokenId target) const {
    const bool tied = s_.output == OutputKind::tied;
    double total = 0, own = 0;
    for (Index v = 0; v < s_.vocabulary; ++v) {
      double logit = 0;
      for (Index i = 0; i < s_.width; ++i) {
        logit +=
            token[static_cast<std::size_t>(i)] * at(tied ? "wte.weight" : "lm_head.weight", i, v);
      }
      total += std::exp(logit);
      if (v == target) own = logit;
    }
    return std::log(total) - own;
  }

  const Model<double>& model_;
  ModelSettings s_;
};

}  // namespace

TEST_CASE("the model's loss equals plain loops, and its gradient central differences") {
  for (const ModelSettings& settings : variants()) {
    Model<double> model = drawn(settings);
    PlainModel plain(model);
    const double expected = (plain.loss(kTokens.data(), kTargets.data(), 5) +
                             plain.loss(kTokens.data() + 5, kTargets.data() + 5, 5)) /
                            2;
    CHECK_THAT(loss_of(model, true), WithinRel(expected, 1e-12));
    model.backward();
    const auto loss = [&] { return loss_of(model); };
    CHECK(gradient_error(loss, model.parameters(), model.gradient()) < 1e-6);
  }
}

TEST_CASE("single precision is the same model") {
  for (const ModelSettings& settings : variants()) {
    Model<double> model = drawn(settings);
    Model<float> single(settings);
    single.parameters() = model.parameters().cast<float>();
    single.forward(kTokens, 5);
    CHECK_THAT(single.loss(kTargets), WithinRel(loss_of(model), 1e-5));
  }
}

TEST_CASE("a token does not see what follows it") {
  Model<double> model = drawn(small_model());
  model.forward(kTokens, 5);
  const MatrixXd before = model.logits();
  std::vector<TokenId> changed = kTokens;
  changed[3] = 0;
  model.forward(changed, 5);
  CHECK((model.logits() - before).leftCols(3).norm() == 0);
  CHECK((model.logits() - before).col(4).norm() > 0);
  CHECK((model.logits() - before).rightCols(5).norm() == 0);
}

TEST_CASE("mimetic initialization has the mean it is asked for") {
  ModelSettings settings;
  Model<float> model(settings);
  for (const double target : {0.125, 1.0, -0.5}) {
    RegularizerSettings wanted;
    wanted.initialization = Initialization::mimetic;
    wanted.target = target;
    initialize(model, wanted, 3);
    for (const double mean : head_means(model)) CHECK_THAT(mean, WithinAbs(target, 0.1));
  }
}

TEST_CASE("interventions: hard attention is 0 or 1, TAME scales the logits") {
  Model<double> model = drawn(small_model());
  Intervention<double> hard{std::vector<HeadReading<double>>(8, {Retrieval::hard})};
  model.forward(kTokens, 5, hard);
  for (const double weight : model.attention(0).reshaped()) CHECK((weight == 0 || weight == 1));
  Model<float> single(model.settings());
  single.parameters() = model.parameters().cast<float>();
  const auto readings = intervention_of_name("tame", 0.5, single).readings;
  const Index layer = 1, index = 2;
  const HeadFactors head = model.head(layer, index);
  const double square = moments_of_matrix(head.query * head.key.transpose()).traces.eta_s;
  const double expected = square > 0 ? 0.5 * std::log(square + 1e-6) / std::sqrt(square) : 1;
  const auto place = static_cast<std::size_t>(layer * model.settings().heads + index);
  CHECK_THAT(static_cast<double>(readings.at(place).factor), WithinRel(expected, 1e-5));
  Intervention<double> none{std::vector<HeadReading<double>>(8, {Retrieval::soft, 0.0})};
  model.forward(kTokens, 5, none);
  CHECK_THAT(model.attention(1)(1, 4), WithinAbs(0.2, 1e-12));
}

TEST_CASE("models that cannot be, and tokens that are not there, are refused") {
  ModelSettings settings = small_model();
  settings.heads = 3;
  CHECK(failure_of([&] { Model<float> model(settings); }).item == "heads");
  settings = small_model();
  settings.key_heads = 3;
  CHECK(failure_of([&] { Model<float> model(settings); }).item == "key_heads");
  settings.key_heads = 0;
  settings.heads = 8;
  settings.positions = Positions::rotary;
  CHECK(failure_of([&] { Model<float> model(settings); }).item == "heads");
  Model<float> model(small_model());
  const std::vector<TokenId> outside{0, 7};
  CHECK(failure_of([&] { model.forward(outside, 2); }).item == "tokens");
  CHECK(failure_of([&] { model.forward(kTokens, 10); }).item == "length");
}
