// Training runs: they learn, they go on exactly, they break with a message, their files are checked.
#include "training/trainer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include "catch.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "small_model.h"
#include "small_run.h"
#include "spectrum/traces.h"
#include "support/random.h"
#include "test_matrices.h"
#include "training/training_file.h"

using namespace eigenscope;
using namespace eigenscope::testing;
using Eigen::Index;

namespace {

bool same(const LogRow& a, const LogRow& b) {
  // By their bits: NaN equals NaN.
  const auto equal = [](const auto& x, const auto& y) {
    return std::memcmp(x.data(), y.data(), sizeof(double) * x.size()) == 0;
  };
  bool same = a.step == b.step && equal(a.run, b.run) && a.heads.size() == b.heads.size();
  for (std::size_t i = 0; same && i < a.heads.size(); ++i) same = equal(a.heads[i], b.heads[i]);
  for (std::size_t i = 0; same && i < a.layers.size(); ++i) same = equal(a.layers[i], b.layers[i]);
  return same;
}

/// The value with this name, where `names` lists the names of `values` in their order.
double named(std::span<const LoggedMeasure> measures, std::span<const double> values,
             std::string_view name) {
  const auto it = std::find_if(measures.begin(), measures.end(),
                               [&](const LoggedMeasure& one) { return one.name == name; });
  REQUIRE(it != measures.end());
  return values[static_cast<std::size_t>(it - measures.begin())];
}

std::vector<LogRow> joined(std::vector<LogRow> rows, const std::vector<LogRow>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace

TEST_CASE("a tiny model overfits 100 bytes", "[long]") {
  TrainSettings settings;
  settings.model.width = 32;
  settings.model.depth = 1;
  settings.model.heads = 2;
  settings.model.length = 9;
  settings.batch = 8;
  settings.optimizer.steps = 400;
  settings.optimizer.learning_rate = 1e-2;
  settings.optimizer.weight_decay = 0;
  settings.log_every = 400;
  // Every letter is followed by one letter alone but for where it stands in the sequence.
  std::string text;
  for (int i = 0; i < 100; ++i) text += static_cast<char>('!' + i * 37 % 90);
  Trainer trainer(settings, std::make_shared<const Text>(byte_text(text)));
  CHECK(trainer.advance(400));
  CHECK(trainer.failure().empty());
  CHECK(trainer.take_log().back().measure("train_loss") < 0.01);
}

TEST_CASE("the log has what it says") {
  Trainer trainer(small_run(), small_text());
  CHECK_FALSE(trainer.advance(7));
  const std::vector<LogRow> rows = trainer.take_log();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].step == 0);
  CHECK(rows[2].step == 6);
  CHECK(std::isnan(rows[0].measure("train_loss")));
  CHECK_THAT(rows[0].measure("loss"), WithinAbs(std::log(256.0), 1));
  CHECK_THAT(rows[2].measure("bits_per_byte"),
             WithinRel(rows[2].measure("loss") / std::log(2.0), 1e-12));
  CHECK_THAT(rows[2].measure("perplexity"), WithinRel(std::exp(rows[2].measure("loss")), 1e-12));
  CHECK(trainer.take_log().empty());
  const LogRow now = trainer.evaluate();
  CHECK(now.step == 7);
  REQUIRE(now.heads.size() == 4);
  REQUIRE(now.layers.size() == 2);
  for (Index k = 0; k < 4; ++k) {
    const auto head = [&](std::string_view name) {
      return named(kRunHeadMeasures, now.heads[static_cast<std::size_t>(k)], name);
    };
    const HeadFactors factors = trainer.model().head(k / 2, k % 2);
    const SpectralMoments moments = moments_of_matrix(factors.query * factors.key.transpose());
    CHECK_THAT(head("mean"), WithinAbs(moments.mean(), 1e-9));
    CHECK_THAT(head("variance"), WithinAbs(moments.variance(), 1e-9));
    CHECK_THAT(head("variance_frobenius"), WithinAbs(moments.variance_frobenius(), 1e-9));
    CHECK_THAT(head("eta_s"), WithinAbs(moments.traces.eta_s, 1e-9));
    CHECK_THAT(head("eta_f"), WithinAbs(moments.traces.eta_f, 1e-9));
    CHECK(head("entropy") <= 1);
    CHECK(head("entropy_bound") <= head("entropy"));
    CHECK(head("entropy_bound") >= 0);
  }
  for (const auto& values : now.layers) {
    const auto layer = [&](std::string_view name) {
      return named(kRunLayerMeasures, values, name);
    };
    CHECK((layer("residual") > 0 && layer("residual") <= 1));
    CHECK((layer("effective_rank") >= 1 && layer("effective_rank") <= 8));
    CHECK(layer("gradient_norm") > 0);
  }
}

TEST_CASE("a run taken up again gives the same log and weights, bit by bit") {
  for (const RegularizerKind kind : regularizer_kinds()) {
    TrainSettings settings = small_run();
    settings.regularizer.kind = kind;
    settings.regularizer.target_kind = TargetKind::initial;
    if (kind == RegularizerKind::locater) {
      settings.model.positions = Positions::rotary;
      settings.model.key_heads = 1;
      settings.model.norm = BlockNorm::post;
      settings.model.output = OutputKind::free;
    }
    const auto text = small_text();
    Trainer whole(settings, text);
    whole.advance(100);
    const std::vector<LogRow> expected = whole.take_log();
    REQUIRE(expected.size() == 5);
    Trainer first(settings, text);
    first.advance(5);
    const auto file = open(first.checkpoint());
    Trainer second(*file, text);
    CHECK(second.steps_done() == 5);
    second.advance(100);
    const std::vector<LogRow> found = joined(first.take_log(), second.take_log());
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(same(found[i], expected[i]));
    CHECK((second.model().parameters().array() == whole.model().parameters().array()).all());
    CHECK(second.checkpoint() == whole.checkpoint());
  }
}

TEST_CASE("a learning rate of a million breaks with a message, and the log stays") {
  TrainSettings settings = small_run();
  settings.optimizer.learning_rate = 1e6;
  settings.optimizer.steps = 100;
  settings.log_every = 1;
  Trainer trainer(settings, small_text());
  CHECK(trainer.advance(100));
  CHECK_THAT(trainer.failure(), StartsWith("step ") && ContainsSubstring("learning_rate") &&
                                    ContainsSubstring("1000000"));
  CHECK(trainer.steps_done() < 100);
  const std::vector<LogRow> rows = trainer.take_log();
  REQUIRE_FALSE(rows.empty());
  for (const LogRow& row : rows) CHECK(std::isfinite(row.measure("loss")));
}

TEST_CASE("texts that are too short are refused, and the message says what is needed") {
  const auto refusal = [](const std::string& text) {
    return failure_of([&] { Trainer(small_run(), std::make_shared<const Text>(byte_text(text))); });
  };
  CHECK(refusal("").item == "text");
  CHECK_THAT(refusal("").message, ContainsSubstring("empty"));
  CHECK(refusal("a").item == "text");
  CHECK_THAT(refusal(std::string(35, 'a')).message, ContainsSubstring("at least 33"));
  CHECK_THAT(refusal(std::string(80, 'a')).message, ContainsSubstring("at least 9"));
  CHECK(refusal(std::string(90, 'a')).kind == "none");
  CHECK(failure_of([] { word_text("   \n", 1); }).item == "text");
  CHECK(failure_of([] { tokenized_text("letters", "a b", 1); }).item == "tokenizer");
  const std::string text = made_text(200);
  CHECK_FALSE(tokenized_text("bytes", text, 1).tokenizer.words());
  CHECK(tokenized_text("words", text, 1).tokenizer.words());
}

TEST_CASE("a validation text of its own: words and gradients are those of the text alone") {
  const std::string words = "a b a\nb c b\n";
  const Text own = tokenized_texts("words", words, "d a d d\n", 1);
  CHECK(own.tokenizer == Tokenizer::of_words(words, 1));
  CHECK(own.training == own.tokenizer.encode(words));
  CHECK(own.validation == std::vector<TokenId>{0, own.tokenizer.encode("a")[0], 0, 0, 1});
  CHECK(own.bytes_per_token == 8.0 / 5);

  TrainSettings settings = small_run();
  settings.eval_batches = 0;
  const std::string text = made_text(300), validation = made_text(400).substr(300);
  struct Found {
    double loss;
    Vector<float> parameters;
  };
  const auto run = [&](const std::string& of) {
    Trainer trainer(settings, std::make_shared<const Text>(tokenized_texts("bytes", text, of, 1)));
    trainer.advance(1);
    return Found{trainer.evaluate().measure("loss"), trainer.model().parameters()};
  };
  const Found found = run(validation);
  std::size_t unread = 0, learned = 0;
  for (std::size_t at = 0; at < validation.size(); ++at) {
    std::string changed = validation;
    changed[at] = 'z';
    const Found other = run(changed);
    unread += other.loss == found.loss;
    learned += other.parameters != found.parameters;
  }
  CHECK(unread == 0);
  CHECK(learned == 0);
}

TEST_CASE("two texts that do not fit are refused by the field of the one at fault") {
  const auto refusal = [](const std::string& text, const std::string& validation) {
    return failure_of([&] {
      Trainer(small_run(),
              std::make_shared<const Text>(tokenized_texts("bytes", text, validation, 1)));
    });
  };
  const std::string enough(33, 'a');
  CHECK(refusal(enough, "123456789").kind == "none");
  CHECK(refusal("", "123456789").item == "text");
  CHECK(refusal(enough, "").item == "validation");
  const auto shorter = refusal(std::string(32, 'a'), "123456789");
  CHECK(shorter.message ==
        "text must have at least 33 tokens for a batch of 4 sequences of 8: found 32");
  const auto window = refusal(enough, "12345678");
  CHECK(window.message == "validation must have at least 9 tokens for a sequence of 8: found 8");
  check_failure(failure_of([] { tokenized_texts("words", "a b a b c", "c d\n", 2); }), "validation",
                "at least 2 times (min_count)");
  CHECK(failure_of([] { tokenized_texts("letters", "a", "a", 1); }).item == "tokenizer");
}

TEST_CASE("settings out of range are refused by their names") {
  const auto refusal = [](auto change) {
    TrainSettings settings = small_run();
    change(settings);
    return failure_of([&] { Trainer(settings, small_text()); }).item;
  };
  CHECK(refusal([](TrainSettings& s) { s.optimizer.beta2 = 1; }) == "beta2");
  CHECK(refusal([](TrainSettings& s) { s.optimizer.learning_rate = -1; }) == "learning_rate");
  CHECK(refusal([](TrainSettings& s) { s.model.heads = 3; }) == "heads");
  CHECK(refusal([](TrainSettings& s) { s.batch = 0; }) == "batch");
  CHECK(refusal([](TrainSettings& s) {
          s.model.width = 4096;
          s.model.depth = 512;
        }) == "width");
  CHECK(refusal([](TrainSettings& s) {
          s.model.length = 2048;
          s.batch = 4096;
        }) == "batch");
}

TEST_CASE("words: frequent ones are tokens, line ends too, and they come back") {
  const Tokenizer tokenizer = Tokenizer::of_words("a b a\nb c % <unk>\n\n", 2);
  CHECK(tokenizer.vocabulary() == 4);
  const std::vector<TokenId> tokens = tokenizer.encode("b a\nz");
  CHECK(tokens == std::vector<TokenId>{3, 2, 1, 0});
  CHECK(tokenizer.decode(tokens) == "b a\n<unk>");
  const Tokenizer odd = Tokenizer::of_words("caf\xc3\xa9 100% \x01 \"q\"", 1);
  CHECK(Tokenizer::parse(odd.serialized()) == odd);
  CHECK(Tokenizer::parse("bytes") == Tokenizer());
  for (const char* bad : {"", "words", "words\n<unk>\n<eos>\n", "words\n<unk>\n<eos>\na\na",
                          "words\n<unk>\n<eos>\n%4", "words\n<unk>\n<eos>\n%G0"}) {
    CHECK(failure_of([&] { Tokenizer::parse(bad); }).item == "tokenizer");
  }
  const std::string bytes("\0\xff z", 4);
  CHECK(Tokenizer().decode(Tokenizer().encode(bytes)) == bytes);
  std::string text;
  for (int i = 0; i < 300; ++i) text += i % 7 == 6 ? "w\n" : "v ";
  const Text cut = word_text(text, 1);
  CHECK_THAT(cut.bytes_per_token, WithinAbs(60.0 / 35, 0.1));
  Trainer trainer(small_run(), std::make_shared<const Text>(cut));
  CHECK(trainer.settings().model.vocabulary == 4);
  CHECK(trainer.advance(12));
  const LogRow row = trainer.take_log().back();
  CHECK_THAT(row.measure("bits_per_byte"),
             WithinRel(row.measure("loss") / std::log(2.0) / cut.bytes_per_token, 1e-12));
}

TEST_CASE("a checkpoint has GPT-2's names, and its heads can be read") {
  for (const RegularizerKind kind : {RegularizerKind::none, RegularizerKind::sigma_reparam}) {
    TrainSettings settings = small_run();
    settings.regularizer.kind = kind;
    Trainer trainer(settings, small_text());
    trainer.advance(3);
    const auto file = open(trainer.checkpoint());
    CHECK(file->tensor("wte.weight").shape == std::vector<std::uint64_t>{256, 16});
    CHECK(file->tensor("wpe.weight").shape == std::vector<std::uint64_t>{8, 16});
    CHECK(file->tensor("h.1.attn.c_attn.weight").shape == std::vector<std::uint64_t>{16, 48});
    CHECK(file->tensor("h.1.mlp.c_proj.weight").shape == std::vector<std::uint64_t>{32, 16});
    CHECK(file->tensor("h.0.ln_2.bias").shape == std::vector<std::uint64_t>{16});
    const Config config = Config::parse(config_text(settings.model));
    HeadScan scan(file, &config, {.fold_gains = false});  // as the trainer sees them
    CHECK(scan.plan()[0].family->name == "GPT-2");
    CHECK(scan.total_heads() == 4);
    int heads = 0;
    while (!scan.done()) {
      for (const ScannedHead& head : scan.advance()) {
        const HeadFactors factors = in_double(head);
        const HeadFactors own = trainer.model().head(factors.layer, factors.head);
        CHECK(factors.query == own.query);
        CHECK(factors.key == own.key);
        ++heads;
      }
    }
    CHECK(heads == 4);
    const TrainedModel read = read_model(*file);
    CHECK((read.model.parameters().array() == trainer.model().parameters().array()).all());
  }
}

TEST_CASE("grouped keys have no name in GPT-2, and the reader of heads says so") {
  TrainSettings settings = small_run();
  settings.model.key_heads = 1;
  const auto file = open(Trainer(settings, small_text()).checkpoint());
  check_failure(failure_of([&] { HeadScan scan(file, nullptr, {.heads = 2}); }), "key_heads",
                "h.0.attn.c_attn.weight", "grouped");
}

namespace {

// The bytes of a file with one text of its header replaced by one as long.
Failure refusal_with(Bytes bytes, const std::string& from, const std::string& to) {
  REQUIRE(from.size() == to.size());
  const auto* const begin = reinterpret_cast<const char*>(bytes.data());
  const std::string_view view(begin, bytes.size());
  const std::size_t at = view.find(from);
  REQUIRE(at != std::string_view::npos);
  std::memcpy(bytes.data() + at, to.data(), to.size());
  return failure_of([&] { Trainer(*open(std::move(bytes)), small_text()); });
}

}  // namespace

TEST_CASE("hostile checkpoints and those of another shape are refused by name") {
  const Bytes good = Trainer(small_run(), small_text()).checkpoint();
  CHECK(refusal_with(good, "bytes", "bytes").kind == "none");
  CHECK(refusal_with(good, R"("width":"16")", R"("width":"18")").item == "wte.weight");
  CHECK(refusal_with(good, R"("depth":"2")", R"("depth":"3")").item == "h.2.ln_1.weight");
  CHECK(refusal_with(good, R"("depth":"2")", R"("depth":"1")").item == "training.parameters");
  CHECK(refusal_with(good, R"("heads":"2")", R"("heads":"3")").item == "heads");
  CHECK(refusal_with(good, R"("heads":"2")", R"("heads":"x")").item == "heads");
  CHECK(refusal_with(good, R"("heads":"2")", R"("headz":"2")").item == "heads");
  CHECK(refusal_with(good, R"("step":"0")", R"("step":"-")").item == "step");
  CHECK(refusal_with(good, R"("steps":"12")", R"("steps":"1x")").item == "steps");
  CHECK(refusal_with(good, R"("tokenizer":"bytes")", R"("tokenizer":"bites")").item == "tokenizer");
  CHECK(refusal_with(good, "training 1", "training 9").item == "format");
  CHECK(refusal_with(good, R"("regularizer":"none")", R"("regularizer":"no_e")").item ==
        "regularizer");
  CHECK(refusal_with(good, R"("layer_norm":"pre")", R"("layer_norm":"pro")").item == "layer_norm");
  CHECK(refusal_with(good, R"("targets":"0.125)", R"("targets":"inf  )").item == "targets");
  CHECK_THAT(refusal_with(good, R"("targets":"0.125)", R"("targets":"inf  )").message,
             ContainsSubstring(": targets: it must be finite numbers in the metadata: found 'inf"));
  CHECK(refusal_with(good, "training.first_moment", "training.first_momenx").item ==
        "training.first_moment");
  Bytes broken = good;
  const float infinite = INFINITY;
  std::memcpy(broken.data() + broken.size() - 4, &infinite, 4);
  CHECK(failure_of([&] { Trainer(*open(broken), small_text()); }).item == "training.second_moment");
  const auto other = std::make_shared<const Text>(word_text(made_text(3000), 1));
  CHECK(failure_of([&] { Trainer(*open(good), other); }).item == "tokenizer");
  SafetensorsWriter foreign;
  foreign.add("wte.weight", "F32", {2, 2}, {1, 2, 3, 4});
  CHECK(failure_of([&] { Trainer(*open(foreign.bytes()), small_text()); }).item == "format");
}
