// Rotary positions as in the config.json of real models. The angles that are written out were
// made by an independent script in plain Python after the definitions of the papers.
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "safetensors_writer.h"
#include "test_matrices.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

constexpr int kLlamaWidth = 4, kLlamaHeadWidth = 16, kLlamaLayers = 6;

/// One head of width 16 in each of six layers of LLaMA's names, without norms.
std::shared_ptr<const Safetensors> small_llama() {
  SafetensorsWriter writer;
  for (int layer = 0; layer < kLlamaLayers; ++layer) {
    for (const std::string part : {"q", "k"}) {
      const Eigen::MatrixXd w = random_matrix(kLlamaWidth, kLlamaHeadWidth, part == "q" ? 1 : 2);
      writer.add("model.layers." + std::to_string(layer) + ".self_attn." + part + "_proj.weight",
                 "F64", {kLlamaHeadWidth, kLlamaWidth}, {w.data(), w.data() + w.size()});
    }
  }
  return open(writer.bytes());
}

std::vector<double> angles_of(const Rotary& rotary) {
  std::vector<double> angles;
  for (Eigen::Index p = 0; p < rotary.turned / 2; ++p) {
    const double exponent = -2.0 * static_cast<double>(p) / static_cast<double>(rotary.turned);
    const double scale =
        rotary.angle_scale.empty() ? 1 : rotary.angle_scale[static_cast<std::size_t>(p)];
    angles.push_back(scale * std::pow(rotary.base, exponent));
  }
  return angles;
}

/// Of a LLaMA, unless the keys name another model type.
Config config_with(const std::string& keys) {
  const bool own = keys.starts_with(R"(,"model_type")");
  return Config::parse(std::string(R"({"num_attention_heads":1)") +
                       (own ? "" : R"(,"model_type":"llama")") + keys + "}");
}

/// The layers' positions under a config with these keys.
std::vector<Rotary> rotary_under(const std::string& keys, RotaryOffset at = {}) {
  const Config config = config_with("," + keys);
  HeadScan scan(small_llama(), &config, {.fold_gains = false, .offset = at});
  std::vector<Rotary> layers;
  for (const LayerPlan& layer : scan.plan()) layers.push_back(layer.rotary);
  return layers;
}

void check_angles(const Rotary& rotary, const std::vector<double>& expected) {
  const std::vector<double> angles = angles_of(rotary);
  REQUIRE(angles.size() == expected.size());
  for (std::size_t p = 0; p < angles.size(); ++p) {
    CAPTURE(p);
    CHECK(angles[p] == Approx(expected[p]).epsilon(1e-12));
  }
}

std::vector<double> plain(double base) { return angles_of({RotaryPairs::kHalves, 16, base}); }

std::vector<double> over(double factor, std::vector<double> angles) {
  for (double& angle : angles) angle /= factor;
  return angles;
}

const std::vector<double> kLlama3 = {1.0,
                                     0.19392274474868576,
                                     0.03760603093086393,
                                     0.007292664737217109,
                                     0.0005248461609929547,
                                     3.428102195952591e-05,
                                     6.647869871181235e-06,
                                     1.2891731721515574e-06};

const std::string kYarn = R"("rope_theta":1000000,"max_position_embeddings":131072,)"
                          R"("rope_scaling":{"type":"yarn","factor":4.0,)"
                          R"("original_max_position_embeddings":32768})";

}  // namespace

TEST_CASE("scalings that leave the angles, or slow all of them down") {
  for (const std::string type : {"default", "dynamic", "mrope"}) {
    const auto layers = rotary_under(R"("rope_scaling":{"type":")" + type + R"(","factor":4})");
    check_angles(layers[0], plain(10000));
    CHECK(layers[0].logit_factor == 1);
  }
  check_angles(rotary_under(R"("rope_scaling":null)")[0], plain(10000));
  const std::string linear = R"({"rope_type":"linear","factor":2.5})";
  check_angles(rotary_under(R"("rope_scaling":)" + linear)[0], over(2.5, plain(10000)));
  check_angles(rotary_under(R"("text_config":{"rope_theta":500,"rope_scaling":)" + linear + "}")[0],
               over(2.5, plain(500)));
  // A model of several parts reads its text's own keys; those around them are only defaults.
  check_angles(rotary_under(R"("rope_theta":7,"rope_scaling":{"rope_type":"linear","factor":9},)"
                            R"("text_config":{"rope_theta":500,"rope_scaling":)" +
                            linear + "}")[0],
               over(2.5, plain(500)));
  check_angles(rotary_under(R"("rope_theta":500,"text_config":{"rope_scaling":)" + linear + "}")[0],
               over(2.5, plain(500)));
  check_angles(rotary_under(R"("rope_parameters":{"rope_theta":500,"rope_type":"linear",)"
                            R"("factor":2.5})")[0],
               over(2.5, plain(500)));
}

TEST_CASE("the scalings of Llama 3, YaRN and LongRoPE are those of their definitions") {
  check_angles(rotary_under(R"("rope_theta":500000,"rope_scaling":{"rope_type":"llama3",)"
                            R"("factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
                            R"("original_max_position_embeddings":8192})")[0],
               kLlama3);
  // A step where both factors are one, as in Llama 4 Scout.
  check_angles(rotary_under(R"("rope_scaling":{"rope_type":"llama3","factor":8,)"
                            R"("low_freq_factor":1,"high_freq_factor":1,)"
                            R"("original_max_position_embeddings":64})")[0],
               {1.0, 0.31622776601683794, 0.1, 0.03162277660168379 / 8, 0.01 / 8,
                0.0031622776601683794 / 8, 0.001 / 8, 0.00031622776601683794 / 8});

  const Rotary yarn = rotary_under(kYarn)[0];
  check_angles(yarn, {1.0, 0.1778279410038923, 0.03162277660168379, 0.004217559938927619, 0.0005,
                      4.445698525097307e-05, 7.905694150420949e-06, 1.4058533129758728e-06});
  CHECK(yarn.logit_factor == Approx(1.2964769927807063).epsilon(1e-12));
  const Rotary fine = rotary_under(
      R"("max_position_embeddings":4096,"rope_scaling":{"type":"yarn","factor":40,"beta_fast":16,)"
      R"("beta_slow":2,"truncate":false,"mscale":1,"mscale_all_dim":0.707})")[0];
  check_angles(fine, {1.0, 0.31622776601683794, 0.1, 0.03162277660168379, 0.005790104962447107,
                      0.00012395236926610428, 2.5e-05, 7.905694150420949e-06});
  CHECK(fine.logit_factor == Approx(1.1788018140416932).epsilon(1e-12));

  for (const std::string type : {"longrope", "su"}) {
    const Rotary rotary = rotary_under(
        R"("original_max_position_embeddings":4096,"max_position_embeddings":131072,)"
        R"("rope_scaling":{"type":")" +
        type + R"(","long_factor":[9,9],"short_factor":[1,1.05,1.1,1.15,1.2,1.5,2,2.5]})")[0];
    check_angles(rotary,
                 {1.0, 0.3011693009684171, 0.09090909090909091, 0.02749806661015982,
                  0.008333333333333333, 0.0021081851067789197, 0.0005, 0.00012649110640673518});
    CHECK(rotary.logit_factor == Approx(1.4166666666666667).epsilon(1e-12));
  }
  CHECK(rotary_under(R"("rope_scaling":{"type":"yarn","factor":4,"attention_factor":1.5,)"
                     R"("original_max_position_embeddings":2048})")[0]
            .logit_factor == 2.25);
}

TEST_CASE("LongRoPE's long factors hold for offsets beyond the first training's length") {
  const std::vector<double> long_factors = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto angles_at = [](const RotaryOffset& at) {
    return rotary_under(R"("rope_scaling":{"type":"longrope","factor":8,)"
                        R"("original_max_position_embeddings":64,)"
                        R"("short_factor":[1,1,1,1,1,1,1,1],)"
                        R"("long_factor":[1,2,4,8,16,32,64,128]})",
                        at)[0];
  };
  std::vector<double> slowed = plain(10000);
  for (std::size_t pair = 0; pair < slowed.size(); ++pair) slowed[pair] /= long_factors[pair];
  for (const RotaryOffset at : {RotaryOffset{0}, RotaryOffset{63}, RotaryOffset{0, 64}}) {
    check_angles(angles_at(at), plain(10000));
  }
  for (const RotaryOffset at : {RotaryOffset{64}, RotaryOffset{0, 65}}) {
    check_angles(angles_at(at), slowed);
  }
}

TEST_CASE("a model's own scale of its logits is in W") {
  const auto query = [](const std::string& keys) {
    const Config config = config_with(keys);
    HeadScan scan(small_llama(), &config, {.fold_gains = false});
    return in_double(std::move(scan.advance().at(0))).query;
  };
  const Eigen::MatrixXd plain_query = query("");  // d_h = 16
  const auto check_factor = [&](const std::string& keys, double factor) {
    CAPTURE(keys);
    CHECK((query(keys) - factor * plain_query).norm() < 1e-12 * plain_query.norm());
  };
  // A LLaMA reads neither key.
  check_factor(R"(,"query_pre_attn_scalar":16)", 1);
  CHECK(failure_of([&] { query(R"(,"query_pre_attn_scalar":64)"); }).item ==
        "query_pre_attn_scalar");
  CHECK(failure_of([&] { query(R"(,"attention_multiplier":0.0625)"); }).item ==
        "attention_multiplier");
  const std::string gemma = R"(,"model_type":"gemma2")";
  check_factor(gemma + R"(,"query_pre_attn_scalar":144)", 1.0 / 3);
  check_factor(gemma + R"(,"text_config":{"query_pre_attn_scalar":64.0})", 0.5);
  for (const std::string type : {"gemma2", "gemma3_text"}) {  // 256 where it is left out
    CHECK((query(R"(,"model_type":")" + type + "\"") - 0.25 * plain_query).norm() <
          1e-12 * plain_query.norm());
  }
  const auto granite = [&](const std::string& keys) {
    return query(R"(,"model_type":"granite")" + keys);
  };
  CHECK((granite("") - 4 * plain_query).norm() < 1e-12 * plain_query.norm());
  CHECK((granite(R"(,"attention_multiplier":0.0625)") - 0.25 * plain_query).norm() <
        1e-12 * plain_query.norm());
  for (const std::string value : {"0", "-1", "1e7", R"("8")"}) {
    for (const std::string key : {"query_pre_attn_scalar", "attention_multiplier"}) {
      CHECK(failure_of([&] { query(",\"" + key + "\":" + value); }).item == key);
    }
  }
}

TEST_CASE("a factor of the logits is in W at every offset") {
  for (const double offset : {0.0, 3.0}) {
    const auto head = [&](const std::string& keys) {
      const Config config = config_with("," + keys);
      HeadScan scan(small_llama(), &config, {.fold_gains = false, .offset = {offset}});
      return in_double(std::move(scan.advance().at(0))).query;
    };
    const std::string plain_yarn = kYarn.substr(0, kYarn.size() - 1) + R"(,"attention_factor":1})";
    const Eigen::MatrixXd with = head(kYarn), without = head(plain_yarn);
    CHECK((with - 1.2964769927807063 * without).norm() < 1e-12 * with.norm());
  }
}

TEST_CASE("a model type decides which pairs turn, and in which layers") {
  const auto typed = [](const std::string& type, const std::string& keys = "") {
    return rotary_under(R"("model_type":")" + type + "\"" + keys, {7});
  };
  for (const std::string type : {"cohere", "cohere2", "glm", "glm4", "ernie4_5"}) {
    CHECK(typed(type, R"(,"rope_theta":10000)")[0].pairs == RotaryPairs::kNeighbours);
  }
  CHECK(failure_of([&] { typed("cohere"); }).item == "rope_theta");
  const std::string gptj = R"(,"position_embedding_type":"rope_gptj")";
  CHECK(typed("cohere2", gptj)[0].pairs == RotaryPairs::kNeighbours);
  CHECK(failure_of([&] { typed("llama", gptj); }).item == "position_embedding_type");
  CHECK(typed("llama")[0].pairs == RotaryPairs::kHalves);
  CHECK(typed("glm4")[0].turned == kLlamaHeadWidth / 2);
  CHECK(typed("glm4_moe")[0].turned == kLlamaHeadWidth / 2);
  CHECK(typed("mixtral")[0].base == 1e6);
  CHECK(typed("ernie4_5")[0].base == 5e5);
  CHECK(typed("olmo3")[0].base == 5e5);
  CHECK(typed("mllama_text_model")[0].base == 5e5);
  CHECK(typed("minimax_m2", R"(,"rotary_dim":6)")[0].base == 5e6);
  CHECK(typed("nemotron")[0].turned == kLlamaHeadWidth / 2);
  CHECK(typed("stablelm")[0].turned == kLlamaHeadWidth / 4);
  CHECK(typed("minimax_m2", R"(,"rotary_dim":6)")[0].turned == 6);
  CHECK(failure_of([&] { typed("minimax_m2"); }).item == "rotary_dim");
  const std::string types =
      R"(,"layer_types":["sliding_attention","full_attention",)"
      R"("full_attention","full_attention","full_attention","full_attention"])";
  const std::string windows = types + R"(,"sliding_window":8)";
  for (const std::string type : {"cohere2", "exaone4", "afmoe"}) {
    CHECK(typed(type, windows)[0].pairs != RotaryPairs::kNone);
    CHECK(typed(type, windows)[1].pairs == RotaryPairs::kNone);
  }
  for (const std::string type : {"exaone4", "afmoe"}) {  // each fourth layer has no window
    CHECK(typed(type, R"(,"sliding_window":8)")[2].pairs == RotaryPairs::kHalves);
    CHECK(typed(type, R"(,"sliding_window":8)")[3].pairs == RotaryPairs::kNone);
  }
  // Without windows all layers of EXAONE 4 turn, none of Cohere 2, and of Trinity those of the types.
  const std::string null = R"(,"sliding_window":null)";
  CHECK(typed("exaone4")[3].pairs == RotaryPairs::kNone);  // 4096 where it is left out
  CHECK(typed("exaone4", null)[3].pairs == RotaryPairs::kHalves);
  CHECK(typed("cohere2")[0].pairs == RotaryPairs::kNeighbours);
  CHECK(typed("cohere2", null)[0].pairs == RotaryPairs::kNone);
  CHECK(typed("afmoe", null)[0].pairs == RotaryPairs::kHalves);
  CHECK(typed("afmoe", null)[3].pairs == RotaryPairs::kNone);
  CHECK(typed("granitemoehybrid")[0].pairs == RotaryPairs::kNone);
  CHECK(typed("smollm3")[1].pairs == RotaryPairs::kHalves);
  CHECK(typed("smollm3", R"(,"no_rope_layer_interval":2)")[1].pairs == RotaryPairs::kNone);
  const std::string rope = R"(,"position_embedding_type":"rope")";
  CHECK(typed("granitemoehybrid", rope)[0].pairs == RotaryPairs::kHalves);
  const auto olmo = typed("olmo3", windows + "," + kYarn);
  CHECK(olmo[0].logit_factor == 1);
  CHECK(olmo[0].angle_scale.empty());
  CHECK(olmo[1].logit_factor == Approx(1.2964769927807063).epsilon(1e-12));
}

TEST_CASE("lists and objects of config.json that are none are refused by name") {
  CHECK(failure_of([] { rotary_under(R"("model_type":"smollm3","no_rope_layers":"x")"); }).item ==
        "no_rope_layers");
  for (const std::string key : {"rope_scaling", "rope_parameters"}) {
    check_failure(failure_of([&] { rotary_under("\"" + key + R"(":[1,2])"); }), key,
                  "must be an object", "an array");
  }
  check_failure(failure_of([] { rotary_under(R"("layer_types":"x")"); }), "layer_types",
                "must be an array");
  check_failure(failure_of([] { rotary_under(R"("rope_scaling":{"factor":4})"); }),
                "rope_scaling.rope_type", "must be given beside 'rope_scaling.factor'");
}

TEST_CASE("keys of rotary positions that contradict each other or are not read are refused") {
  const auto refused = [](const std::string& keys) {
    return failure_of([&] { rotary_under(keys, {1}); }).item;
  };
  // Objects for kinds of layers, in a model without any and where none is read.
  const std::string kinds = R"({"full_attention":{"rope_theta":500},"rope_theta":100})";
  CHECK(refused(R"("rope_parameters":)" + kinds) == "rope_parameters.full_attention");
  CHECK(refused(R"("model_type":"gemma3_text","rope_scaling":)" + kinds) ==
        "rope_scaling.full_attention");
  CHECK(refused(R"("model_type":"gemma3_text","rope_parameters":)" + kinds).empty());
  CHECK(refused(R"("rope_scaling":{"rope_type":"default","rope_theta":500})") ==
        "rope_scaling.rope_theta");
  CHECK(refused(R"("rope_theta":500,"rope_scaling":{"rope_type":"default","rope_theta":500})")
            .empty());
  // 5 of 16 coordinates, and 4.
  const std::string partial = R"("model_type":"stablelm","partial_rotary_factor":)";
  CHECK(refused(partial + "0.35") == "partial_rotary_factor");
  CHECK(refused(partial + "0.25").empty());
  // Queries that are scaled from a position on, which must be beyond every passage.
  const auto later = [](const std::string& length, const std::string& beta) {
    return R"("rope_scaling":{"rope_type":"default","llama_4_scaling_beta":)" + beta +
           R"(,"original_max_position_embeddings":)" + length + "}";
  };
  CHECK(refused(later("16384", "0.1")).empty());
  CHECK(refused(later("4096", "0")).empty());
  CHECK(refused(later("4096", "0.1")) == "rope_scaling.llama_4_scaling_beta");
  // LLaMA's heads turn whole.
  CHECK(refused(R"("partial_rotary_factor":0.25)") == "partial_rotary_factor");
  CHECK(refused(R"("rope_parameters":{"partial_rotary_factor":0.25})") ==
        "rope_parameters.partial_rotary_factor");
  CHECK(refused(R"("partial_rotary_factor":1)").empty());
  for (const std::string lists :
       {R"("layer_types":["full_attention"])", R"("num_hidden_layers":6,"layer_types":
        ["attention","attention","attention","attention","attention","attention","attention"])"}) {
    CHECK(refused(lists) == "layer_types");
  }
  CHECK(refused(R"("model_type":"smollm3","no_rope_layers":[1,1])") == "no_rope_layers");
  CHECK(refused(R"("text_config":[])") == "text_config");
  CHECK(refused(R"("thinker_config":[])") == "thinker_config");
  CHECK(refused(R"("thinker_config":{"text_config":1})") == "thinker_config.text_config");
  CHECK(refused(R"("model_type":"gpt_oss")") == "rope_scaling");
  CHECK(refused(R"("model_type":"gpt_oss","rope_scaling":null)").empty());
  // Of a factor 0 the original sees no more than of one that is left out.
  const auto scaled = [](const std::string& more) {
    return rotary_under(kYarn.substr(0, kYarn.size() - 1) + more + "}", {1})[0].logit_factor;
  };
  CHECK(scaled(R"(,"mscale":0,"mscale_all_dim":1)") == scaled(""));
  CHECK(scaled(R"(,"mscale":1,"mscale_all_dim":1)") == 1);
}

TEST_CASE("layers of a sliding window have a base of their own") {
  const std::vector<double> local = plain(10000), global = over(8, plain(1e6));
  const auto check_layers = [&](const std::string& keys, int full) {
    CAPTURE(keys);
    const std::vector<Rotary> layers = rotary_under(keys);
    for (int layer = 0; layer < kLlamaLayers; ++layer) {
      check_angles(layers[static_cast<std::size_t>(layer)], layer == full ? global : local);
    }
  };
  const std::string scaling = R"("rope_scaling":{"rope_type":"linear","factor":8})";
  // Gemma 3's config leaves out what its family has by default.
  check_layers(R"("model_type":"gemma3_text",)" + scaling, 5);
  check_layers(R"("model_type":"gemma3","text_config":{)" + scaling + "}", 5);
  const std::string types = R"("layer_types":["sliding_attention","sliding_attention",)"
                            R"("full_attention","sliding_attention","sliding_attention",)"
                            R"("sliding_attention"])";
  check_layers(R"("model_type":"gemma3_text",)" + types + "," + scaling, 2);
  check_layers(R"("rope_theta":1e6,"rope_local_base_freq":10000.0,)" + types + "," + scaling, 2);
  for (const std::string type : {"rope_type", "type"}) {
    check_layers(types + R"(,"rope_parameters":{"sliding_attention":{")" + type +
                     R"(":"default","rope_theta":10000},"full_attention":{")" + type +
                     R"(":"linear","factor":8,"rope_theta":1000000}})",
                 2);
  }
  check_layers(
      R"("rope_theta":1e6,"rope_local_base_freq":1e4,"sliding_window_pattern":7,)" + scaling, -1);
  // Gemma 3n's fifth layer has no window, and the last one of Gemma 4 besides each so many-eth.
  const auto full_layers = [](const std::string& keys) {
    std::vector<int> full;
    for (int layer = 0; const Rotary& rotary : rotary_under(keys)) {
      if (rotary.base == 1e6) full.push_back(layer);
      ++layer;
    }
    return full;
  };
  const std::string count = R"(,"num_hidden_layers":6)";
  CHECK(full_layers(R"("model_type":"gemma3n_text")" + count) == std::vector{4});
  const std::string gemma4 =
      R"("model_type":"gemma4_text","rope_parameters":{"full_attention":{"rope_type":"default",
      "rope_theta":1e6},"sliding_attention":{"rope_type":"default","rope_theta":1e4}})" +
      count;
  CHECK(full_layers(gemma4 + R"(,"sliding_window_pattern":4)") == std::vector{3, 5});
  // The last one also where its type is another.
  const std::string windowed = R"("sliding_attention")";
  CHECK(full_layers(gemma4 + R"(,"layer_types":[)" + windowed + R"(,"full_attention",)" + windowed +
                    "," + windowed + "," + windowed + "," + windowed + "]") == std::vector{1, 5});
}

TEST_CASE("layers of SmolLM3 that turn nothing are those of its list, or each fourth one") {
  const auto check_layers = [](const std::string& keys, int without) {
    const std::vector<Rotary> layers = rotary_under(R"("model_type":"smollm3")" + keys);
    for (int layer = 0; layer < kLlamaLayers; ++layer) {
      const Rotary& rotary = layers[static_cast<std::size_t>(layer)];
      CHECK((rotary.pairs == RotaryPairs::kNone) == (layer == without));
      if (layer != without) check_angles(rotary, plain(2e6));
    }
  };
  check_layers("", 3);
  check_layers(R"(,"no_rope_layers":[1,0,1,1,1,1])", 1);
}

TEST_CASE("lists of config.json give each layer a base, a share and a scaling of its own") {
  const auto six = [](const std::string& first, const std::string& others) {
    return "[" + first + "," + others + "," + others + "," + others + "," + others + "," + others +
           "]";
  };
  const auto granite = rotary_under(R"("model_type":"granite_swa","rope_theta":7,)"
                                    R"("layer_rope_theta":)" +
                                    six("5e5", "0"));
  check_angles(granite[0], plain(5e5));
  CHECK(granite[1].pairs == RotaryPairs::kNone);
  check_angles(rotary_under(R"("model_type":"granite_swa","layer_rope_theta":null)")[3],
               plain(1e4));
  const std::string step = R"("model_type":"step3p5","yarn_only_types":["full_attention"],)"
                           R"("rope_scaling":{"rope_type":"linear","factor":2},"rope_theta":)" +
                           six("5e6", "1e4") + R"(,"partial_rotary_factors":)" + six("0.5", "1") +
                           R"(,"layer_types":)" +
                           six(R"("full_attention")", R"("sliding_attention")");
  const auto steps = rotary_under(step, {7});
  CHECK(steps[0].turned == kLlamaHeadWidth / 2);
  CHECK(steps[0].base == 5e6);
  CHECK(steps[0].angle_scale == std::vector<double>(4, 0.5));
  check_angles(steps[5], plain(1e4));
  for (const std::string list : {R"("model_type":"granite_swa","layer_rope_theta")",
                                 R"("model_type":"step3p5","partial_rotary_factors")",
                                 R"("model_type":"step3p5","rope_theta")"}) {
    const std::string key = list.substr(list.rfind(",\"") + 2);
    CHECK(failure_of([&] { rotary_under(list + ":[1,1]", {1}); }).item + "\"" == key);
  }
  CHECK(failure_of([&] {
          rotary_under(R"("model_type":"granite_swa","layer_rope_theta":)" + six("0.5", "0"));
        }).item == "layer_rope_theta.0");
}

TEST_CASE("a list without a name is none of the lists of layers") {
  for (const std::string list : {"[0,0,0,0,0,0]", "[2,4,8,16,32,64]"}) {
    for (const Rotary& rotary : rotary_under("\"\":" + list)) check_angles(rotary, plain(10000));
  }
}

TEST_CASE("first layers of Cohere 2 MoE turn without a window") {
  const std::string kinds = R"("model_type":"cohere2_moe","layer_types":["full_attention",)"
                            R"("sliding_attention","full_attention","full_attention",)"
                            R"("full_attention","sliding_attention"])";
  const auto turned = [](const std::string& keys) {
    std::string layers;
    for (const Rotary& rotary : rotary_under(keys)) {
      layers += rotary.pairs == RotaryPairs::kNeighbours ? '1' : '0';
    }
    return layers;
  };
  const std::string dense = R"(,"mlp_layer_types":["dense","dense","dense","sparse","sparse",)"
                            R"("sparse"])";
  CHECK(turned(kinds + dense) == "111001");
  CHECK(failure_of([&] { turned(kinds); }).item == "mlp_layer_types");
  CHECK(turned(kinds + dense + R"(,"prefix_dense_sliding_window_pattern":2)") == "010001");
  CHECK(failure_of([&] { turned(R"("model_type":"cohere2_moe")"); }).item == "layer_types");
}

TEST_CASE("the scalings of Phi MoE and Hunyuan are theirs") {
  const std::string phi = R"("model_type":"phimoe","rope_theta":1e4,"rope_scaling":{)"
                          R"("type":"longrope","original_max_position_embeddings":64,)"
                          R"("short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,2,2,2,2,2,2,2])";
  const std::string both = R"(,"short_mscale":1.25,"long_mscale":1.5})";
  CHECK(rotary_under(phi + both)[0].logit_factor == 1.5625);
  check_angles(rotary_under(phi + both, {64})[0], over(2, plain(1e4)));
  CHECK(rotary_under(phi + both, {64})[0].logit_factor == 2.25);
  CHECK(failure_of([&] { rotary_under(phi + R"(,"long_mscale":1.5})"); }).item ==
        "rope_scaling.short_mscale");
  const auto hunyuan = [](const std::string& alpha) {
    return rotary_under(R"("model_type":"hunyuan_v1_dense","rope_scaling":{"type":"dynamic",)"
                        R"("factor":1,"alpha":)" +
                        alpha + "}")[0];
  };
  check_angles(hunyuan("1000"), plain(1e4 * std::pow(1000, 16.0 / 14)));
  check_angles(hunyuan("null"), plain(1e4));
}

TEST_CASE("a scaling that is not known matters only where pairs are turned") {
  for (const std::string type : {"spiral", "ntk"}) {  // the latter is GTE's
    const std::string keys = R"("rope_scaling":{"rope_type":")" + type + R"(","factor":2})";
    check_angles(rotary_under(keys)[0], plain(10000));
    for (const RotaryOffset at : {RotaryOffset{1}, RotaryOffset{0, 8}}) {
      check_failure(failure_of([&] { rotary_under(keys, at); }), "offset",
                    "'rope_scaling.rope_type' in config.json", "'" + type + "'",
                    "linear, llama3, yarn");
    }
  }
}

TEST_CASE("what a scaling needs and does not have is named") {
  const auto item = [](const std::string& scaling) {
    return failure_of([&] { rotary_under(R"("rope_scaling":{)" + scaling + "}"); }).item;
  };
  CHECK(item(R"("type":3)") == "rope_scaling.type");
  CHECK(item(R"("type":"linear")") == "rope_scaling.factor");
  CHECK(item(R"("type":"linear","factor":0)") == "rope_scaling.factor");
  CHECK(item(R"("type":"linear","factor":"2")") == "rope_scaling.factor");
  CHECK(item(R"("type":"yarn","factor":2)") == "rope_scaling.original_max_position_embeddings");
  const std::string llama3 = R"("type":"llama3","factor":8,"low_freq_factor":4,)"
                             R"("original_max_position_embeddings":64)";
  CHECK(item(llama3) == "rope_scaling.high_freq_factor");
  CHECK(item(llama3 + R"(,"high_freq_factor":3)") == "rope_scaling.high_freq_factor");
  const std::string longrope =
      R"("type":"longrope","factor":8,"original_max_position_embeddings":64,"short_factor":)";
  CHECK(item(longrope + "[1,1,1,1,1,1,1]") == "rope_scaling.short_factor.7");
  CHECK(item(longrope + "[1,1,1,1,1,1,1,0]") == "rope_scaling.short_factor.7");
  CHECK(item(longrope + "[1,1,1,1,1,1,1,1,1]") == "rope_scaling.short_factor.8");
  CHECK(item(longrope + "[1,1,1,1,1,1,1,1]").empty());
}
