// Every family of the table on a generated checkpoint: the names are those that its models are
// published with, written here a second time, and the heads that come out are those that went in.
#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "checkpoint/attention_window.h"
#include "checkpoint/checkpoint_files.h"
#include "checkpoint/head_counts.h"
#include "checkpoint/head_report.h"
#include "checkpoint/heads.h"
#include "checkpoint_failure.h"
#include "paths.h"
#include "safetensors_writer.h"

using namespace eigenscope;
using namespace eigenscope::testing;

namespace {

constexpr int kWidth = 8, kHeadWidth = 4, kLayers = 2;

/// The tensors of one stack of a model file, by their whole names.
struct Stack {
  std::string name = {};
  std::string query;
  std::string key = {};  // empty where they are fused
  std::string gain = {};
  std::string key_gain = {};  // where it is another
  std::string query_norm = {}, key_norm = {};
  bool whole_norms = false;  ///< their gains are those of all heads together
  std::string sinks = {};
  int heads = 2, key_heads = 2;
  bool rotary = false;
  bool gain_plus_one = false;
  double scale = 1;  // of the logits over 1/sqrt(d_h)
};

struct Model {
  std::string family;
  std::string config;
  HeadLayout layout;  // of the stacks whose projections are fused
  std::vector<Stack> stacks;
  std::vector<std::string> others = {};
  std::set<std::string> neutral = {};  // keys that change nothing in this family alone
};

/// Small integers, which every type holds exactly; another for every place.
double number(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  std::uint32_t hash = a * 2654435761u ^ b * 2246822519u ^ c * 3266489917u ^ d * 668265263u;
  hash ^= hash >> 15;
  hash *= 2246822519u;
  hash ^= hash >> 13;
  return static_cast<double>(hash % 17) - 8;
}

/// A number of the stack, layer and part ("query", "key", "value").
std::uint32_t place(std::size_t stack, int layer, int part) {
  return static_cast<std::uint32_t>(100 * (stack + 1) + 10 * static_cast<std::size_t>(layer)) +
         static_cast<std::uint32_t>(part);
}

/// The true W_Q (part 0), W_K (1) or W_V (2) of a head, d x d_h; for keys and values `head` counts key
/// heads.
Eigen::MatrixXd factor(std::size_t stack, int layer, int part, int head) {
  Eigen::MatrixXd w(kWidth, kHeadWidth);
  for (int i = 0; i < kWidth; ++i) {
    for (int j = 0; j < kHeadWidth; ++j) {
      w(i, j) = number(place(stack, layer, part), static_cast<std::uint32_t>(head),
                       static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
    }
  }
  return w;
}

double gain_at(const std::string& name, int i) {
  return 0.5 + 0.25 * static_cast<double>((name.size() + 3 * static_cast<std::size_t>(i)) % 5);
}

std::string at_layer(std::string pattern, int layer) {
  const std::size_t mark = pattern.find("{n}");
  return mark == std::string::npos ? pattern : pattern.replace(mark, 3, std::to_string(layer));
}

/// All outputs of a projection, d x outputs, from the heads one after another.
Eigen::MatrixXd beside(const std::vector<Eigen::MatrixXd>& parts) {
  Eigen::MatrixXd all(kWidth, static_cast<Eigen::Index>(parts.size()) * kHeadWidth);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    all.middleCols(static_cast<Eigen::Index>(k) * kHeadWidth, kHeadWidth) = parts[k];
  }
  return all;
}

Eigen::MatrixXd heads_of(const Stack& stack, std::size_t index, int layer, int part) {
  std::vector<Eigen::MatrixXd> parts;
  const int count = part == 0 ? stack.heads : stack.key_heads;
  for (int head = 0; head < count; ++head) parts.push_back(factor(index, layer, part, head));
  return beside(parts);
}

Eigen::MatrixXd interleaved(const Stack& stack, std::size_t index, int layer) {
  std::vector<Eigen::MatrixXd> parts;
  const int group = stack.heads / stack.key_heads;
  for (int key = 0; key < stack.key_heads; ++key) {
    for (int q = 0; q < group; ++q) parts.push_back(factor(index, layer, 0, key * group + q));
    for (const int part : {1, 2}) parts.push_back(factor(index, layer, part, key));
  }
  return beside(parts);
}

class Writer {
 public:
  explicit Writer(std::string dtype) : dtype_(std::move(dtype)) {}

  /// A weight (d x outputs), and with it a bias of ones.
  void add_weight(const std::string& name, const Eigen::MatrixXd& w, bool inputs_first) {
    const Eigen::MatrixXd stored = inputs_first ? w : Eigen::MatrixXd(w.transpose());
    std::vector<double> values;
    for (Eigen::Index i = 0; i < stored.rows(); ++i) {
      for (Eigen::Index j = 0; j < stored.cols(); ++j) values.push_back(stored(i, j));
    }
    file.add(name, dtype_, {size(stored.rows()), size(stored.cols())}, values);
    const std::string changed = ".parametrizations.weight.original";
    const std::size_t end = name.size() - (name.ends_with(changed) ? changed.size() - 1 : 6);
    const std::string bias = name.substr(0, end) + "bias";
    file.add(bias, dtype_, {size(w.cols())}, std::vector<double>(values.size() / kWidth, 1.0));
  }
  void add_gain(const std::string& name, int length, double stored_offset) {
    if (name.empty() || !names_.insert(name).second) return;
    std::vector<double> values;
    for (int i = 0; i < length; ++i) values.push_back(gain_at(name, i) - stored_offset);
    file.add(name, dtype_, {static_cast<std::uint64_t>(length)}, values);
  }
  SafetensorsWriter file;

 private:
  static std::uint64_t size(Eigen::Index n) { return static_cast<std::uint64_t>(n); }
  std::string dtype_;
  std::set<std::string> names_;
};

Bytes write(const Model& model, const std::string& dtype) {
  Writer writer(dtype);
  for (const std::string& other : model.others) writer.add_gain(other, 3, 0);
  for (std::size_t s = 0; s < model.stacks.size(); ++s) {
    const Stack& stack = model.stacks[s];
    for (int layer = 0; layer < kLayers; ++layer) {
      const auto part = [&](int which) { return heads_of(stack, s, layer, which); };
      const std::string query = at_layer(stack.query, layer);
      if (!stack.key.empty()) {
        writer.add_weight(query, part(0), false);
        writer.add_weight(at_layer(stack.key, layer), part(1), false);
      } else if (model.layout == HeadLayout::kInterleaved) {
        writer.add_weight(query, interleaved(stack, s, layer), false);
      } else {
        Eigen::MatrixXd all(kWidth, (stack.heads + 2 * stack.key_heads) * kHeadWidth);
        all << part(0), part(1), part(2);
        writer.add_weight(query, all, model.layout == HeadLayout::kConv1D);
      }
      const double offset = stack.gain_plus_one ? 1 : 0;
      for (const std::string& gain : {stack.gain, stack.key_gain}) {
        writer.add_gain(at_layer(gain, layer), kWidth, offset);
      }
      const auto normed = [&](int heads) { return (stack.whole_norms ? heads : 1) * kHeadWidth; };
      writer.add_gain(at_layer(stack.query_norm, layer), normed(stack.heads), offset);
      writer.add_gain(at_layer(stack.key_norm, layer), normed(stack.key_heads), offset);
      writer.add_gain(at_layer(stack.sinks, layer), stack.heads, 0);
    }
  }
  return writer.file.bytes();
}

Eigen::MatrixXd folded(Eigen::MatrixXd w, const std::string& gain, int first = 0) {
  for (Eigen::Index i = 0; i < w.rows() && !gain.empty(); ++i) {
    w.row(i) *= gain_at(gain, first + static_cast<int>(i));
  }
  return w;
}

/// `first`: the place of the gain of the first output.
Eigen::MatrixXd normed(const Eigen::MatrixXd& w, const std::string& gain, int first) {
  return folded(w.transpose(), gain, first).transpose();
}

std::vector<HeadFactors> read_all(HeadScan& scan) {
  std::vector<HeadFactors> heads;
  while (!scan.done()) {
    for (ScannedHead& head : scan.advance()) heads.push_back(in_double(std::move(head)));
  }
  return heads;
}

/// What the scan must say of folded norms: the last parts of their names.
std::string folded_norms(const Stack& stack) {
  std::string names;
  for (const std::string& gain : {stack.gain, stack.key_gain, stack.query_norm, stack.key_norm}) {
    if (gain.empty()) continue;
    const std::string norm = gain.substr(0, gain.rfind(".weight"));
    names += (names.empty() ? "" : " ") + norm.substr(norm.rfind('.') + 1);
  }
  return names;
}

void check_head(const HeadFactors& head, const Stack& stack, std::size_t s, bool fold) {
  const int key_head = head.head / (stack.heads / stack.key_heads);
  const std::string gain = fold ? at_layer(stack.gain, head.layer) : "";
  const std::string own = fold ? at_layer(stack.key_gain, head.layer) : "";
  const Eigen::MatrixXd query = folded(factor(s, head.layer, 0, head.head), gain);
  const Eigen::MatrixXd key = folded(factor(s, head.layer, 1, key_head), own.empty() ? gain : own);
  CHECK(head.bias_query == Approx(std::sqrt(kHeadWidth) / query.norm()).epsilon(1e-12));
  CHECK(head.bias_key == Approx(std::sqrt(kHeadWidth) / key.norm()).epsilon(1e-12));
  const auto first = [&](int of) { return stack.whole_norms ? of * kHeadWidth : 0; };
  CHECK(head.query ==
        stack.scale *
            normed(query, fold ? at_layer(stack.query_norm, head.layer) : "", first(head.head)));
  CHECK(head.key == normed(key, fold ? at_layer(stack.key_norm, head.layer) : "", first(key_head)));
  CHECK(head.stack == stack.name);
  CHECK(head.folded == (fold ? folded_norms(stack) : ""));
  CHECK(head.rotary == stack.rotary);
  CHECK(head.same_tokens == (stack.name != "cross"));
  CHECK(std::isnan(head.sink_logit) == stack.sinks.empty());
  if (stack.sinks.empty()) return;
  CHECK(head.sink_logit == gain_at(at_layer(stack.sinks, head.layer), head.head));
}

void check_heads(const Model& model) {
  CAPTURE(model.family, model.config);
  for (const std::string dtype : {"F16", "BF16", "F32", "F64"}) {
    const auto file = open(write(model, dtype));
    const Config config = Config::parse(model.config);
    for (const bool fold : {false, true}) {
      CAPTURE(dtype, fold);
      HeadScan scan(file, &config, {.fold_gains = fold});
      CHECK(scan.plan()[0].family->name == model.family);
      const std::vector<HeadFactors> heads = read_all(scan);
      std::size_t next = 0;
      for (std::size_t s = 0; s < model.stacks.size(); ++s) {
        for (int i = 0; i < kLayers * model.stacks[s].heads; ++i) {
          REQUIRE(next < heads.size());
          check_head(heads[next++], model.stacks[s], s, fold);
        }
      }
      CHECK(next == heads.size());
    }
  }
}

/// The name of a tensor in the first layer of a stack: beside its attention, or in it.
std::string beside_attention(const std::string& query, const std::string& tensor) {
  return query.substr(0, query.find("{n}")) + "0." + tensor;
}
std::string in_attention(const std::string& query, const std::string& tensor) {
  const std::size_t layer = query.find("{n}.") + 4;
  const std::string weight = ".weight";
  const std::size_t end = query.size() - (query.ends_with(weight) ? weight.size() + 1 : 1);
  return beside_attention(query, query.substr(layer, query.rfind('.', end) + 1 - layer) + tensor);
}

/// The config with one more key in each of its objects.
std::string with_key(std::string config, const std::string& key) {
  for (std::size_t at = config.find('{'); at != std::string::npos; at = config.find('{', at)) {
    ++at;
    config.insert(at, config[at] == '}' ? key : key + ",");
  }
  return config;
}

/// An unknown norm, scale, adapter or convolution, and an unknown key, whatever their names begin with, are refused.
void check_guards(const Model& model) {
  const auto refused = [&](const Model& changed, const std::string& name, HeadSettings settings) {
    const Config config = Config::parse(changed.config);
    CAPTURE(model.family, model.config, name);
    const std::string item =
        failure_of([&] { HeadScan(open(write(changed, "F32")), &config, settings); }).item;
    CHECK(item == name);
  };
  for (std::uint32_t seed = 0; seed < 3; ++seed) {
    const std::string odd = "x" + std::to_string(std::lround(number(seed, 1, 2, 3)) + 8) + "_";
    for (const Stack& stack : model.stacks) {
      for (const std::string& name : {beside_attention(stack.query, odd + "norm.weight"),
                                      beside_attention(stack.query, odd + "ln.weight"),
                                      beside_attention(stack.query, odd + "scale"),
                                      beside_attention(stack.query, odd + "attn.norm.weight"),
                                      in_attention(stack.query, odd + "norm.weight"),
                                      in_attention(stack.query, odd + "scale"),
                                      in_attention(stack.query, "q_" + odd + "conv1d.weight"),
                                      in_attention(stack.query, "q_proj.lora_A." + odd)}) {
        Model changed = model;
        changed.others.push_back(name);
        refused(changed, name, {});
      }
    }
  }
  struct Key {
    std::string name, value;
  };
  const std::string shifted = model.stacks[0].gain_plus_one ? "false" : "true";
  for (const Key& key :
       {Key{"x_multiplier", "2"}, Key{"attn_output_gate", "true"}, Key{"clip_qkv", "8.0"},
        Key{"attn_logit_softcap", "8.0"}, Key{"no_rope_interval", "4"},
        Key{"use_gemma_norm", shifted}, Key{"alibi", "true"}, Key{"use_attn_gate", "true"},
        Key{"gated_attention", "true"}, Key{"attention_type", "\"linear\""},
        Key{"add_unit_offset", shifted}, Key{"rotary_emb_fraction", "0.5"},
        Key{"partial_rotary_factors", "[0.5,1]"}, Key{"rope_ratio", "2"}, Key{"nope_layers", "[0]"},
        Key{"position_encoding", "\"alibi\""}, Key{"floor_scale", "2"}}) {
    if (model.neutral.contains(key.name)) continue;
    Model changed = model;
    changed.config = with_key(model.config, "\"" + key.name + "\":" + key.value);
    const Config config = Config::parse(changed.config);
    CAPTURE(model.family, changed.config);
    const HeadSettings turned{.offset = {1}};
    const std::string item =
        failure_of([&] { HeadScan(open(write(changed, "F32")), &config, turned); }).item;
    CHECK(item.substr(item.rfind('.') + 1) == key.name);
  }
}

void check(const Model& model) {
  check_guards(model);
  check_heads(model);
}

/// A config.json of two heads, and what else it has.
std::string two_heads(const std::string& type, const std::string& more = "") {
  return R"({"model_type":")" + type + R"(","num_attention_heads":2,"hidden_size":8)" + more + "}";
}

/// LLaMA's names, of a model_type of one's own.
Model llama(const std::string& family, const std::string& type, const std::string& more = "") {
  return {family,
          two_heads(type, R"(,"num_key_value_heads":1)" + more),
          HeadLayout::kSeparate,
          {{.query = "model.layers.{n}.self_attn.q_proj.weight",
            .key = "model.layers.{n}.self_attn.k_proj.weight",
            .gain = "model.layers.{n}.input_layernorm.weight",
            .key_heads = 1,
            .rotary = true}}};
}

/// The same with norms of queries and keys.
Model head_normed(const std::string& family, const std::string& type,
                  const std::string& more = "") {
  Model model = llama(family, type, more);
  model.stacks[0].query_norm = "model.layers.{n}.self_attn.q_norm.weight";
  model.stacks[0].key_norm = "model.layers.{n}.self_attn.k_norm.weight";
  return model;
}

/// Half of a CLIP, of as many key heads as heads.
Stack clip_stack(const std::string& name, int heads) {
  const std::string layer = name + "_model.encoder.layers.{n}.";
  return {.name = name,
          .query = layer + "self_attn.q_proj.weight",
          .key = layer + "self_attn.k_proj.weight",
          .gain = layer + "layer_norm1.weight",
          .heads = heads,
          .key_heads = heads};
}

/// The same stack as a part of a larger model.
Stack under(const std::string& prefix, Stack stack) {
  for (std::string* name : {&stack.query, &stack.key, &stack.gain}) *name = prefix + *name;
  return stack;
}

const std::string kTwoHeads = R"({"num_attention_heads":2,"hidden_size":8})";

}  // namespace

TEST_CASE("encoders: BERT, RoBERTa, DistilBERT, ALBERT, ModernBERT, USE-lite and ViT") {
  for (const std::string type : {"bert", "roberta"}) {
    const std::string prefix = type + ".";
    check({type == "bert" ? "BERT" : "RoBERTa",
           two_heads(type),
           HeadLayout::kSeparate,
           {{.query = prefix + "encoder.layer.{n}.attention.self.query.weight",
             .key = prefix + "encoder.layer.{n}.attention.self.key.weight"}},
           {prefix + "encoder.layer.0.attention.output.LayerNorm.weight"}});
  }
  check({"DistilBERT",
         R"({"model_type":"distilbert","n_heads":2,"dim":8})",
         HeadLayout::kSeparate,
         {{.query = "distilbert.transformer.layer.{n}.attention.q_lin.weight",
           .key = "distilbert.transformer.layer.{n}.attention.k_lin.weight"}}});
  // Each layer in the file is that of a group of layers.
  check({"ALBERT",
         two_heads("albert"),
         HeadLayout::kSeparate,
         {{.query = "albert.encoder.albert_layer_groups.{n}.albert_layers.0.attention.query.weight",
           .key = "albert.encoder.albert_layer_groups.{n}.albert_layers.0.attention.key.weight"}}});
  check({"ModernBERT",
         two_heads("modernbert", R"(,"position_embedding_type":"absolute")"),
         HeadLayout::kFused,
         {{.query = "model.layers.{n}.attn.Wqkv.weight",
           .gain = "model.layers.{n}.attn_norm.weight",
           .rotary = true}}});
  check(
      {"USE-lite",
       R"({"model_type":"use-lite","num_attention_heads":[2,2]})",
       HeadLayout::kConv1D,
       {{.query = "layers.{n}.attention.qkv.weight", .gain = "layers.{n}.attention_norm.weight"}}});
  check({"ViT",
         two_heads("vit"),
         HeadLayout::kSeparate,
         {{.query = "vit.encoder.layer.{n}.attention.attention.query.weight",
           .key = "vit.encoder.layer.{n}.attention.attention.key.weight",
           .gain = "vit.encoder.layer.{n}.layernorm_before.weight"}}});
  check({"DINOv2",
         two_heads("dinov2"),
         HeadLayout::kSeparate,
         {{.query = "dinov2.encoder.layer.{n}.attention.attention.query.weight",
           .key = "dinov2.encoder.layer.{n}.attention.attention.key.weight",
           .gain = "dinov2.encoder.layer.{n}.norm1.weight"}},
         {"dinov2.encoder.layer.0.layer_scale1.lambda1"}});
  check({"ViT (timm)",
         R"({"architecture":"vit_tiny_patch16_224","num_features":8,"num_heads":2})",
         HeadLayout::kFused,
         {{.query = "blocks.{n}.attn.qkv.weight", .gain = "blocks.{n}.norm1.weight"}}});
}

TEST_CASE("decoders with fused projections: GPT-2, GPT-NeoX, Phi-3 and the first Qwen") {
  check(
      {"GPT-2",
       R"({"model_type":"gpt2","n_head":2,"n_embd":8})",
       HeadLayout::kConv1D,
       {{.query = "transformer.h.{n}.attn.c_attn.weight", .gain = "transformer.h.{n}.ln_1.weight"}},
       {"transformer.h.0.ln_cross_attn.weight", "transformer.h.0.crossattention.bias",
        "transformer.h.0.crossattention.masked_bias"}});
  // The same names with torch's linear layers, told from Conv1D by their shape.
  check({"nanoGPT",
         R"({"model_type":"nanogpt","n_head":2,"n_embd":8})",
         HeadLayout::kFused,
         {{.query = "_orig_mod.transformer.h.{n}.attn.c_attn.weight",
           .gain = "_orig_mod.transformer.h.{n}.ln_1.weight"}},
         {"_orig_mod.transformer.wpe.weight"}});
  check({"GPT-BigCode",
         R"({"model_type":"gpt_bigcode","n_head":2,"n_embd":8,"multi_query":false})",
         HeadLayout::kInterleaved,
         {{.query = "transformer.h.{n}.attn.c_attn.weight",
           .gain = "transformer.h.{n}.ln_1.weight"}}});
  check({"GPT-2",  // of a training run
         R"({"model_type":"gpt2","n_head":2,"n_embd":8,"positions":"rotary"})",
         HeadLayout::kConv1D,
         {{.query = "h.{n}.attn.c_attn.weight", .gain = "h.{n}.ln_1.weight", .rotary = true}}});
  check({"Qwen 1",
         two_heads("qwen"),
         HeadLayout::kFused,
         {{.query = "transformer.h.{n}.attn.c_attn.weight",
           .gain = "transformer.h.{n}.ln_1.weight",
           .rotary = true}}});
  check({"GPT-NeoX",
         two_heads("gpt_neox", R"(,"rotary_pct":0.5)"),
         HeadLayout::kInterleaved,
         {{.query = "gpt_neox.layers.{n}.attention.query_key_value.weight",
           .gain = "gpt_neox.layers.{n}.input_layernorm.weight",
           .rotary = true}}});
  check({"GPT",  // its norms come after attention and MLP
         R"({"model_type":"openai-gpt","n_head":2,"n_embd":8})",
         HeadLayout::kConv1D,
         {{.query = "h.{n}.attn.c_attn.weight"}},
         {"h.0.ln_1.weight", "h.1.ln_2.weight"}});
  for (const int key_heads : {2, 1}) {
    check({"Phi-3",
           two_heads("phi3", R"(,"num_key_value_heads":)" + std::to_string(key_heads)),
           HeadLayout::kFused,
           {{.query = "model.layers.{n}.self_attn.qkv_proj.weight",
             .gain = "model.layers.{n}.input_layernorm.weight",
             .key_heads = key_heads,
             .rotary = true}}});
  }
}

TEST_CASE("decoders with separate projections: LLaMA, Mistral, Qwen 2 and 3, Gemma, gpt-oss, Phi") {
  for (const std::string type : {"llama", "mistral", "qwen2"}) {
    check(llama("LLaMA", type));
  }
  const std::string divided = R"(,"attention_multiplier":0.5)";  // by sqrt(d_h)
  check(llama("Granite", "granite", divided));
  check(llama("SmolLM3", "smollm3"));
  check(llama("Llama 4", "llama4_text"));
  check(llama("Cohere", "cohere", R"(,"rope_theta":10000)"));
  check({"llama2.c",
         R"({"model_type":"llama2.c","dim":8,"n_heads":2,"n_kv_heads":1})",
         HeadLayout::kSeparate,
         {{.query = "_orig_mod.layers.{n}.attention.wq.weight",
           .key = "_orig_mod.layers.{n}.attention.wk.weight",
           .gain = "_orig_mod.layers.{n}.attention_norm.weight",
           .key_heads = 1,
           .rotary = true}},
         {"_orig_mod.layers.0.attention.inner_attention.rope.freqs"}});
  Model hybrid = llama("Jamba", "jamba");
  hybrid.stacks[0].rotary = false;
  hybrid.others = {"model.layers.2.mamba.A_log"};
  check(hybrid);
  Model sinks = llama("gpt-oss", "gpt_oss", R"(,"rope_scaling":null)");
  sinks.stacks[0].sinks = "model.layers.{n}.self_attn.sinks";
  check(sinks);
  // A head width that is not the width over the heads.
  Model wide = llama("LLaMA", "mistral", R"(,"head_dim":4)");
  wide.config.replace(wide.config.find(R"(heads":2)"), 8, R"(heads":4)");
  wide.stacks[0].heads = 4;
  check(wide);
  const std::string scalar = R"(,"query_pre_attn_scalar":4)";  // d_h
  Model gemma3 = head_normed("Gemma 3", "gemma3_text", scalar);
  gemma3.stacks[0].gain_plus_one = true;
  check(gemma3);
  for (const std::string type : {"gemma", "gemma2"}) {
    Model gemma = llama(type == "gemma" ? "Gemma" : "Gemma 2", type, scalar);
    gemma.stacks[0].gain_plus_one = true;
    check(gemma);
  }
  for (const auto& [family, type] :
       {std::pair{"Cohere 2", "cohere2"}, std::pair{"GLM-4", "glm4"},
        std::pair{"ERNIE 4.5", "ernie4_5"}, std::pair{"Mixtral", "mixtral"},
        std::pair{"GLM-4.5", "glm4_moe"}, std::pair{"Qwen 2 MoE", "qwen2_moe"},
        std::pair{"MiniCPM-V", "minicpmv"}, std::pair{"Qwen 2 VL", "qwen2_vl"},
        std::pair{"StarCoder2", "starcoder2"}}) {
    check(llama(family, type));
  }
  for (const auto& [family, type] :
       {std::pair{"Qwen 3", "qwen3"}, std::pair{"Qwen 3 MoE", "qwen3_moe"},
        std::pair{"Qwen 3 VL", "qwen3_vl_text"}, std::pair{"Trinity", "afmoe"},
        std::pair{"MiniCPM-V", "minicpmv"}}) {
    check(head_normed(family, type));
  }
  Model olmoe = head_normed("OLMoE", "olmoe");
  olmoe.stacks[0].whole_norms = true;
  check(olmoe);
  check(head_normed("GLM-4.5", "glm4_moe", R"(,"use_qk_norm":true)"));
  for (const std::string type : {"step3p5", "step3p7"}) {
    Model step = head_normed("Step 3.5, 3.7", type);
    step.stacks[0].gain_plus_one = true;
    step.neutral = {"partial_rotary_factors"};
    check(step);
  }
  Model windows = llama("Granite SWA", "granite_swa", divided + R"(,"layer_rope_theta":[1e4,0])");
  windows.stacks[0].sinks = "model.layers.{n}.self_attn.sinks";
  check_guards(windows);
  windows.config.replace(windows.config.rfind(",0]"), 3, ",5e5]");
  check(windows);
  check(llama("HyperCLOVA X", "hyperclovax"));
  check(llama("Cohere 2 MoE", "cohere2_moe",
              R"(,"layer_types":["full_attention","sliding_attention"],)"
              R"("mlp_layer_types":["dense","sparse"])"));
  check(llama("Phi MoE", "phimoe", R"(,"rope_theta":1e4)"));
  Model olmo = llama("OLMo", "olmo");
  olmo.stacks[0].gain = {};
  check(olmo);
  check(llama("MiniMax M2", "minimax_m2", R"(,"rotary_dim":2)"));
  Model minimax = llama("MiniMax M3", "minimax_m3", R"(,"rotary_dim":2)");
  minimax.stacks[0].gain_plus_one = true;
  check(minimax);
  check(llama("Llama 3.2 Vision", "mllama_text_model"));
  Model falcon =
      llama("Falcon-H1", "falcon_h1", R"(,"attention_in_multiplier":2,"key_multiplier":0.5)");
  falcon.stacks[0].scale = 2;
  check(falcon);
  Model mimo = llama("MiMo V2", "mimo_v2_flash");
  mimo.stacks[0].sinks = "model.layers.{n}.self_attn.attention_sink_bias";
  check(mimo);
  Model mamba = llama("Nemotron-H", "nemotron_h");
  mamba.stacks[0] = {.query = "backbone.layers.{n}.mixer.q_proj.weight",
                     .key = "backbone.layers.{n}.mixer.k_proj.weight",
                     .gain = "backbone.layers.{n}.norm.weight",
                     .key_heads = 1};
  check(mamba);
  const std::string kinds =
      R"(,"rope_parameters":{"full_attention":{"rope_type":"default","rope_theta":1e6},
                             "sliding_attention":{"rope_type":"default","rope_theta":1e4}})";
  for (const auto& [family, type, keys] :
       {std::tuple{"Gemma 3n", "gemma3n_text", std::string(R"(,"rope_scaling":null)")},
        std::tuple{"Gemma 4", "gemma4_text", kinds},
        std::tuple{"Gemma 4", "embedding_gemma2_text", kinds}}) {
    Model undivided = head_normed(family, type, keys);
    undivided.stacks[0].scale = 2;
    check(undivided);
  }
  Model nemotron = llama("Nemotron", "nemotron");
  nemotron.stacks[0].gain_plus_one = true;
  check(nemotron);
  Model nope =
      llama("Granite 4", "granitemoehybrid", divided + R"(,"position_embedding_type":"nope")");
  nope.stacks[0].rotary = false;
  check(nope);
  Model apertus = head_normed("Apertus", "apertus", R"(,"rope_scaling":null)");
  apertus.stacks[0].gain = "model.layers.{n}.attention_layernorm.weight";
  check(apertus);
  Model lfm2 = llama("LFM2", "lfm2");
  lfm2.stacks[0].gain = "model.layers.{n}.operator_norm.weight";
  lfm2.stacks[0].query_norm = "model.layers.{n}.self_attn.q_layernorm.weight";
  lfm2.stacks[0].key_norm = "model.layers.{n}.self_attn.k_layernorm.weight";
  check(lfm2);
  for (const auto& [family, type] : {std::pair{"OLMo 2", "olmo2"}, std::pair{"OLMo 3", "olmo3"},
                                     std::pair{"EXAONE 4", "exaone4"}}) {
    Model after = head_normed(family, type);
    after.stacks[0].gain = {};
    after.stacks[0].whole_norms = type != std::string("exaone4");
    after.others = {"model.layers.0.post_attention_layernorm.weight"};
    check(after);
  }
  for (const auto& [family, type] :
       {std::pair{"EXAONE MoE", "exaone_moe"}, std::pair{"GLM-4.5", "glm4v_moe_text"}}) {
    check(head_normed(family, type));
  }
  check(llama("ERNIE 4.5", "ernie4_5_vl_moe_text"));
  // Keys whose defaults have been others by the version of the original, or hide a scaling.
  for (const auto& [model_of, family, type, key, given] :
       {std::tuple{&llama, "EuroBERT", "eurobert", "rope_theta", R"(,"rope_theta":25e4)"},
        std::tuple{&llama, "PaddleOCR", "paddleocr_vl_text", "rope_theta", R"(,"rope_theta":5e5)"},
        std::tuple{&llama, "Solar Open", "solar_open", "rope_theta", R"(,"rope_theta":1e6)"},
        std::tuple{&head_normed, "Hy3", "hy_v3", "rope_theta", R"(,"rope_theta":1e7)"},
        std::tuple{&llama, "GLM-V", "glm_ocr_text", "partial_rotary_factor",
                   R"(,"partial_rotary_factor":1)"},
        std::tuple{
            &head_normed, "Gemma 4", "gemma4_unified_text",
            "rope_parameters.sliding_attention.rope_type",
            R"(,"num_hidden_layers":2,"rope_parameters":{"full_attention":{"rope_type":"default",
                       "rope_theta":9},"sliding_attention":{"rope_type":"default","rope_theta":9}})"}}) {
    const HeadSettings turned{.offset = {1}};
    const auto item = [&](const Model& model) {
      const Config config = Config::parse(model.config);
      HeadScan(open(write(model, "F32")), &config);  // at offset 0
      return failure_of([&] { HeadScan(open(write(model, "F32")), &config, turned); }).item;
    };
    const Model whole = model_of(family, type, given);
    CHECK(item(model_of(family, type, R"(,"num_hidden_layers":2)")) == key);
    CHECK(item(whole).empty());
    if (whole.config.find('{', 1) == std::string::npos) check(whole);
  }
  minimax = head_normed("MiniMax M3", "minimax_m3_vl_text", R"(,"rotary_dim":2)");
  minimax.stacks[0].gain_plus_one = true;
  minimax.others = {"model.layers.0.self_attn.index_q_norm.weight"};
  check(minimax);
  Model phi = llama("Phi", "phi");
  phi.others = {"model.layers.0.self_attn.dense.weight"};
  check(phi);
}

TEST_CASE("GPT-J and GPT-Neo, whose logits are not divided") {
  check({"GPT-J",
         R"({"model_type":"gptj","n_head":2,"n_embd":8,"rotary_dim":2})",
         HeadLayout::kSeparate,
         {{.query = "transformer.h.{n}.attn.q_proj.weight",
           .key = "transformer.h.{n}.attn.k_proj.weight",
           .gain = "transformer.h.{n}.ln_1.weight",
           .rotary = true}}});
  check({"GPT-Neo",
         R"({"model_type":"gpt_neo","num_heads":2,"hidden_size":8})",
         HeadLayout::kSeparate,
         {{.query = "transformer.h.{n}.attn.attention.q_proj.weight",
           .key = "transformer.h.{n}.attn.attention.k_proj.weight",
           .gain = "transformer.h.{n}.ln_1.weight",
           .scale = 2}}});  // sqrt(d_h)
  check({"EXAONE 3",
         two_heads("exaone", R"(,"num_key_value_heads":1)"),
         HeadLayout::kSeparate,
         {{.query = "transformer.h.{n}.attn.attention.q_proj.weight",
           .key = "transformer.h.{n}.attn.attention.k_proj.weight",
           .gain = "transformer.h.{n}.ln_1.weight",
           .key_heads = 1,
           .rotary = true}}});
}

TEST_CASE("decoders of one fused tensor: BLOOM, Falcon, MPT, ChatGLM, StarCoder, InternLM2, Ling") {
  const auto fused = [](const std::string& family, const std::string& config, HeadLayout layout,
                        const std::string& query, const std::string& gain, int key_heads) {
    return Model{family,
                 config,
                 layout,
                 {{.query = query, .gain = gain, .key_heads = key_heads, .rotary = true}}};
  };
  const auto inner = HeadLayout::kInterleaved;
  Model bloom = fused("BLOOM", two_heads("bloom"), inner,
                      "transformer.h.{n}.self_attention.query_key_value.weight",
                      "transformer.h.{n}.input_layernorm.weight", 2);
  bloom.stacks[0].rotary = false;
  bloom.neutral = {"alibi"};
  check(bloom);
  bloom.config = R"({"model_type":"bloom","n_head":2,"hidden_size":8,"offset_alibi":100})";
  check(bloom);
  check(fused("Falcon", two_heads("falcon", R"(,"num_kv_heads":1)"), inner,
              "transformer.h.{n}.self_attention.query_key_value.weight",
              "transformer.h.{n}.ln_attn.weight", 1));
  // Only the new architecture reads the count.
  for (const auto& [keys, key_heads] :
       {std::pair(R"(,"num_kv_heads":2,"multi_query":true)", 1),
        std::pair(R"(,"num_kv_heads":1,"multi_query":false)", 2),
        std::pair(R"(,"num_kv_heads":1,"new_decoder_architecture":true,"multi_query":false)", 1),
        std::pair(R"(,"new_decoder_architecture":true)", 2)}) {
    CAPTURE(keys);
    check(fused("Falcon 7B", two_heads("falcon", keys), inner,
                "transformer.h.{n}.self_attention.query_key_value.weight",
                "transformer.h.{n}.input_layernorm.weight", key_heads));
  }
  for (const int key_heads : {1, 2}) {
    const std::string single = key_heads == 1 ? "true" : "false";
    check(fused("Falcon 7B", two_heads("falcon", R"(,"multi_query":)" + single), inner,
                "transformer.h.{n}.self_attention.query_key_value.weight",
                "transformer.h.{n}.input_layernorm.weight", key_heads));
    Model code = fused(
        "GPT-BigCode",
        R"({"model_type":"gpt_bigcode","n_head":2,"n_embd":8,"multi_query":)" + single + "}", inner,
        "transformer.h.{n}.attn.c_attn.weight", "transformer.h.{n}.ln_1.weight", key_heads);
    code.stacks[0].rotary = false;
    check(code);
  }
  Model mpt =
      fused("MPT", R"({"model_type":"mpt","n_heads":2,"d_model":8,"attn_config":{"alibi":true}})",
            HeadLayout::kFused, "transformer.blocks.{n}.attn.Wqkv.weight",
            "transformer.blocks.{n}.norm_1.weight", 2);
  mpt.stacks[0].rotary = false;
  mpt.neutral = {"alibi"};
  check(mpt);
  const Config scaled = Config::parse(
      R"({"model_type":"mpt","n_heads":2,"d_model":8,"attn_config":{"softmax_scale":2}})");
  CHECK(failure_of([&] { HeadScan(open(write(mpt, "F32")), &scaled); }).item ==
        "attn_config.softmax_scale");
  for (const int key_heads : {1, 2}) {
    const std::string grouped = key_heads == 1 ? "true" : "false";
    check(fused("ChatGLM",
                two_heads("chatglm", R"(,"multi_query_group_num":1,"kv_channels":4,)"
                                     R"("multi_query_attention":)" +
                                         grouped),
                HeadLayout::kFused,
                "transformer.encoder.layers.{n}.self_attention.query_key_value.weight",
                "transformer.encoder.layers.{n}.input_layernorm.weight", key_heads));
  }
  check(fused("InternLM2", two_heads("internlm2", R"(,"num_key_value_heads":1)"), inner,
              "model.layers.{n}.attention.wqkv.weight", "model.layers.{n}.attention_norm.weight",
              1));
  Model ling = fused("Ling", two_heads("bailing_moe", R"(,"num_key_value_heads":1)"),
                     HeadLayout::kFused, "model.layers.{n}.attention.query_key_value.weight",
                     "model.layers.{n}.input_layernorm.weight", 1);
  ling.stacks[0].query_norm = "model.layers.{n}.attention.query_layernorm.weight";
  ling.stacks[0].key_norm = "model.layers.{n}.attention.key_layernorm.weight";
  check(ling);
  // As in GGUF.
  check(llama("Ling with separate projections", "bailing_moe"));
}

TEST_CASE(
    "more encoders of text and pictures: MPNet, DeBERTa, XLM-RoBERTa XL, Nomic, SAM, DINOv3") {
  check({"MPNet",
         two_heads("mpnet"),
         HeadLayout::kSeparate,
         {{.query = "mpnet.encoder.layer.{n}.attention.attn.q.weight",
           .key = "mpnet.encoder.layer.{n}.attention.attn.k.weight"}}});
  const Model deberta{"DeBERTa",
                      two_heads("deberta-v2"),
                      HeadLayout::kSeparate,
                      {{.query = "deberta.encoder.layer.{n}.attention.self.query_proj.weight",
                        .key = "deberta.encoder.layer.{n}.attention.self.key_proj.weight"}}};
  check(deberta);
  for (const auto& [terms, count] :
       {std::pair{R"(["p2c","c2p"])", 3}, std::pair{R"("c2p|p2c")", 3},
        std::pair{R"("C2P|P2C")", 3}, std::pair{R"(["c2p"])", 2}, std::pair{"[]", 1}}) {
    const Config config =
        Config::parse(two_heads("deberta-v2", R"(,"pos_att_type":)" + std::string(terms)));
    HeadScan scan(open(write(deberta, "F64")), &config);
    CHECK(
        (in_double(scan.advance().front()).query * std::sqrt(count)).isApprox(factor(0, 0, 0, 0)));
  }
  for (const std::string terms : {R"(["C2P"])", R"("c2p|p2p")", "7"}) {
    const Config config = Config::parse(two_heads("deberta-v2", R"(,"pos_att_type":)" + terms));
    CHECK_THAT(failure_of([&] { HeadScan(open(write(deberta, "F64")), &config); }).item,
               StartsWith("pos_att_type"));
  }
  check({"XLM-RoBERTa XL",
         two_heads("xlm-roberta-xl"),
         HeadLayout::kSeparate,
         {{.query = "roberta.encoder.layer.{n}.attention.self.query.weight",
           .key = "roberta.encoder.layer.{n}.attention.self.key.weight",
           .gain = "roberta.encoder.layer.{n}.attention.self_attn_layer_norm.weight"}}});
  // Norms come after its branches, also where the key is left out.
  for (const std::string keys : {R"(,"prenorm":false)", ""}) {
    Model nomic{
        "Nomic",
        R"({"model_type":"nomic_bert","n_head":2,"n_embd":8,"rotary_emb_base":1000)" + keys + "}",
        HeadLayout::kFused,
        {{.query = "encoder.layers.{n}.attn.Wqkv.weight", .rotary = true}},
        {"encoder.layers.0.norm1.weight"}};
    nomic.neutral = {"rotary_emb_fraction"};
    check(nomic);
    const Config before =
        Config::parse(R"({"model_type":"nomic_bert","n_head":2,"n_embd":8,"prenorm":true})");
    CHECK(failure_of([&] { HeadScan(open(write(nomic, "F32")), &before); }).item == "prenorm");
  }
  for (const std::string own : {"", R"(,"model_type":"")", R"(,"model_type":"sam_vision_model")"}) {
    check({"SAM",
           R"({"model_type":"sam","vision_config":{"num_attention_heads":2,"hidden_size":8)" + own +
               "}}",
           HeadLayout::kFused,
           {{.query = "vision_encoder.layers.{n}.attn.qkv.weight",
             .gain = "vision_encoder.layers.{n}.layer_norm1.weight"}}});
  }
  const Model dino{"DINOv3",
                   two_heads("dinov3_vit"),
                   HeadLayout::kSeparate,
                   {{.query = "layer.{n}.attention.q_proj.weight",
                     .key = "layer.{n}.attention.k_proj.weight",
                     .gain = "layer.{n}.norm1.weight",
                     .rotary = true}}};
  check_heads(dino);
  const Config config = Config::parse(dino.config);
  const HeadSettings turned{.offset = {1}};
  check_failure(failure_of([&] { HeadScan(open(write(dino, "F32")), &config, turned); }), "offset",
                "two axes");
}

TEST_CASE("encoders with positions in their heads: ESM and RoFormer") {
  const std::string layer = "encoder.layer.{n}.attention.";
  const auto encoder = [&](const std::string& family, const std::string& type) {
    return Model{family,
                 two_heads(type, R"(,"position_embedding_type":"rotary")"),
                 HeadLayout::kSeparate,
                 {{.query = type + "." + layer + "self.query.weight",
                   .key = type + "." + layer + "self.key.weight",
                   .rotary = true}}};
  };
  check(encoder("RoFormer", "roformer"));
  Model esm = encoder("ESM", "esm");
  esm.stacks[0].gain = "esm." + layer + "LayerNorm.weight";
  check(esm);
  check({"ELECTRA",
         two_heads("electra"),
         HeadLayout::kSeparate,
         {{.query = "electra." + layer + "self.query.weight",
           .key = "electra." + layer + "self.key.weight"}},
         {"electra.embeddings.LayerNorm.weight", "electra.embeddings.LayerNorm.bias"}});
}

TEST_CASE(
    "encoders with positions in their heads and norms after their branches: GTE, Jina embeddings 2 "
    "and 3") {
  const std::string layer = "new.encoder.layer.{n}.attention.";
  for (const std::string positions : {"rope", "absolute"}) {
    const bool turns = positions == "rope";
    for (const std::string type : {"new", "gte"}) {
      const std::string config =
          two_heads(type, R"(,"position_embedding_type":")" + positions + "\"");
      check({"GTE",
             config,
             HeadLayout::kFused,
             {{.query = layer + "qkv_proj.weight", .rotary = turns}},
             {"new.encoder.layer.0.attn_ln.weight", "new.encoder.layer.0.mlp.down_proj.weight"}});
      check({"GTE with separate projections",
             config,
             HeadLayout::kSeparate,
             {{.query = layer + "q_proj.weight", .key = layer + "k_proj.weight", .rotary = turns}},
             {"new.encoder.layer.0.attention.v_proj.weight"}});
    }
  }
  // The base times the factor, and each angle over factor^(2/d_h).
  const Model separate{"",
                       "",
                       HeadLayout::kSeparate,
                       {{.query = layer + "q_proj.weight", .key = layer + "k_proj.weight"}}};
  for (const auto& [mixed, first] :
       {std::pair{R"(,"mixed_b":null)", 0.5}, std::pair{R"(,"mixed_b":2)", 0.25}}) {
    const Config scaled =
        Config::parse(two_heads("new", R"(,"position_embedding_type":"rope","rope_theta":500000,)"
                                       R"("rope_scaling":{"type":"ntk","factor":8)" +
                                           std::string(mixed) + "}"));
    const HeadScan scan(open(write(separate, "F32")), &scaled, {.offset = {1}});
    const Rotary& rotary = scan.plan()[0].rotary;
    CHECK(rotary.base == 5e5);
    CHECK(rotary.logit_factor == 1);
    REQUIRE(rotary.angle_scale.size() == 2);
    CHECK(rotary.angle_scale[0] == Approx(std::pow(8, -first)).epsilon(1e-12));
    CHECK(rotary.angle_scale[1] == Approx(0.125).epsilon(1e-12));
  }
  const Config untold = Config::parse(two_heads("new"));
  CHECK(failure_of([&] { HeadScan(open(write(separate, "F32")), &untold); }).item ==
        "position_embedding_type");
  const std::string attention = "bert.encoder.layer.{n}.attention.self.";
  check({"Jina embeddings 2",
         two_heads("bert", R"(,"position_embedding_type":"alibi")"),
         HeadLayout::kSeparate,
         {{.query = attention + "query.weight", .key = attention + "key.weight"}},
         {"bert.encoder.layer.0.mlp.gated_layers.weight", "bert.encoder.layer.0.mlp.wo.weight",
          "bert.encoder.layer.1.mlp.wo.weight"}});
  const std::string jina = R"(,"position_embedding_type":"rotary","rotary_emb_base":20000)";
  const std::string wqkv = "roberta.encoder.layers.{n}.mixer.Wqkv.";
  const Model model{"Jina embeddings 3",
                    two_heads("xlm-roberta", jina),
                    HeadLayout::kFused,
                    {{.query = wqkv + "parametrizations.weight.original", .rotary = true}},
                    {"roberta.encoder.layers.0.norm2.weight",
                     "roberta.encoder.layers.0.mixer.Wqkv.parametrizations.weight.0.lora_A",
                     "roberta.encoder.layers.0.mlp.fc1.parametrizations.weight.0.lora_B"}};
  check(model);
  const Config config = Config::parse(model.config);
  const HeadScan scan(open(write(model, "F32")), &config);
  REQUIRE(scan.notes().size() == 1);
  CHECK_THAT(scan.notes()[0], StartsWith("adapters of tasks are left out"));
}

TEST_CASE("gains of Hunyuan, which come after the rotation, are refused") {
  for (const std::string type : {"hunyuan_v1_dense", "hunyuan_v1_moe"}) {
    Model model = llama("Hunyuan", type);
    check(model);
    Stack& stack = model.stacks[0];
    stack.query_norm = "model.layers.{n}.self_attn.query_layernorm.weight";
    stack.key_norm = "model.layers.{n}.self_attn.key_layernorm.weight";
    const Config config = Config::parse(model.config);
    const auto file = open(write(model, "F32"));
    for (const HeadSettings& settings : {HeadSettings{}, HeadSettings{.offset = {1}}}) {
      check_failure(failure_of([&] { HeadScan(file, &config, settings); }),
                    "model.layers.0.self_attn.query_layernorm.weight", "must not turn before");
    }
    HeadScan bare(file, &config, {.fold_gains = false});
    for (const HeadFactors& head : read_all(bare)) check_head(head, stack, 0, false);
  }
}

TEST_CASE("T5Gemma has Gemma 2's attention in both halves and across them") {
  const auto stack = [](const std::string& name, const std::string& layers,
                        const std::string& attention, bool rotary) {
    return Stack{.name = name,
                 .query = layers + attention + ".q_proj.weight",
                 .key = layers + attention + ".k_proj.weight",
                 .gain = layers + "pre_" + attention + "_layernorm.weight",
                 .key_heads = 1,
                 .rotary = rotary,
                 .gain_plus_one = true};
  };
  const std::string heads = R"({"num_attention_heads":2,"num_key_value_heads":1,"hidden_size":8,)"
                            R"("query_pre_attn_scalar":4})";
  Model model{"T5Gemma",
              R"({"model_type":"t5gemma","encoder":)" + heads + R"(,"decoder":)" + heads + "}",
              HeadLayout::kSeparate,
              {stack("encoder", "model.encoder.layers.{n}.", "self_attn", true),
               stack("decoder", "model.decoder.layers.{n}.", "self_attn", true),
               stack("cross", "model.decoder.layers.{n}.", "cross_attn", false)},
              {"model.decoder.layers.0.post_cross_attn_layernorm.weight"}};
  model.stacks[2].key_gain = "model.encoder.norm.weight";
  check(model);
}

TEST_CASE("Baichuan turns at the width of its 7B models and not at that of the 13B") {
  for (const int width : {4096, 5120, 2048}) {
    SafetensorsWriter writer;
    const auto inputs = static_cast<std::uint64_t>(width);
    const std::string layer = "model.layers.0.";
    const std::vector<double> weights(6 * kHeadWidth * inputs, 0.5);
    writer.add(layer + "self_attn.W_pack.weight", "F32", {6 * kHeadWidth, inputs}, weights);
    writer.add(layer + "input_layernorm.weight", "F32", {inputs}, std::vector<double>(inputs, 1.0));
    const Config config =
        Config::parse(R"({"model_type":"baichuan","num_attention_heads":2,"head_dim":4,)"
                      R"("hidden_size":)" +
                      std::to_string(width) + "}");
    const auto file = open(writer.bytes());
    if (width == 2048) {
      check_failure(failure_of([&] { HeadScan(file, &config); }), "hidden_size",
                    "must be 4096 or 5120 in config.json, but is 2048");
      continue;
    }
    const HeadScan scan(file, &config, {.offset = {7}});
    const Rotary& rotary = scan.plan()[0].rotary;
    CHECK(rotary.pairs == (width == 4096 ? RotaryPairs::kHalves : RotaryPairs::kNone));
    CHECK(rotary.base == 1e4);
    CHECK(scan.plan()[0].family->name == "Baichuan");
    const Config untold =
        Config::parse(R"({"model_type":"baichuan","num_attention_heads":2,"head_dim":4})");
    check_failure(failure_of([&] { HeadScan(file, &untold); }), "hidden_size",
                  "must be 4096 or 5120");
  }
}

TEST_CASE("docs/checkpoints.md has a row for each family, with its model types") {
  const std::vector<std::byte> bytes = test_file("../docs/checkpoints.md");
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  std::set<std::string> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::string plain;  // without the padding of cells
    std::unique_copy(line.begin(), line.end(), std::back_inserter(plain),
                     [](char a, char b) { return a == ' ' && b == ' '; });
    const std::size_t second = plain.find(" | ", 2);
    if (plain.starts_with("| ") && second != std::string::npos) {
      rows.insert(plain.substr(2, plain.find(" | ", second + 3) - 2));
    }
  }
  for (const Family& family : families()) {
    std::string types;
    std::istringstream words{std::string(family.model_types)};
    for (std::string type; words >> type;) types += (types.empty() ? "`" : ", `") + type + "`";
    if (family.others == Others::everything) types = "any";
    CAPTURE(family.name, types);
    CHECK(rows.contains(std::string(family.name) + " | " + types));
  }
}

TEST_CASE("of a model type that no row lists only the stored weights are read") {
  const Model known = llama("LLaMA", "llama");
  const auto file = open(write(known, "F32"));
  const std::string counts = R"("num_attention_heads":2,"num_key_value_heads":1)";
  const std::string declared = "give `model_type` where the model follows one";
  for (const std::string& text :
       {"{" + counts + "}", R"({"model_type":"unlisted",)" + counts + "}"}) {
    CAPTURE(text);
    const Config config = Config::parse(text);
    const auto failure = [&](const HeadSettings& settings) {
      return failure_of([&] { HeadScan(file, &config, settings); });
    };
    check_failure(failure({}), "fold_gains", "names of LLaMA", "model_type", declared);
    check_failure(failure({.fold_gains = false, .offset = {3}}), "offset", declared);
    check_failure(failure({.fold_gains = false, .offset = {0, 8}}), "offset", declared);
    HeadScan scan(file, &config, {.fold_gains = false});
    REQUIRE(scan.notes().size() == 1);
    CHECK_THAT(scan.notes()[0], ContainsSubstring("'model_type'"));
    for (const HeadFactors& head : read_all(scan)) {
      check_head(head, known.stacks[0], 0, false);
      CHECK(!head.known_scale);
      CHECK(!head.query_input.has_value());
    }
  }
  // A scale of a model that nobody knows is not applied.
  const Config scaled = Config::parse(R"({"query_pre_attn_scalar":1,)" + counts + "}");
  HeadScan scan(file, &scaled, {.fold_gains = false});
  CHECK(in_double(scan.advance().front()).query == factor(0, 0, 0, 0));
  // Nor is a default count of heads.
  const Model clip{"CLIP", "{}", HeadLayout::kSeparate, {clip_stack("text", 8)}};
  const Config other = Config::parse(R"({"model_type":"siglip9"})");
  CHECK(failure_of([&] { HeadScan(open(write(clip, "F32")), &other, {}); }).item == "heads");
}

TEST_CASE("the order in a fused tensor is not guessed for a model type that no row lists") {
  const auto fused = [](HeadLayout layout, const std::string& query) {
    return Model{"", "", layout, {{.query = query}}};
  };
  struct Names {
    Model model;
    bool by_shape;  // read where no model type is given
  };
  Model nano = fused(HeadLayout::kFused, "transformer.h.{n}.attn.c_attn.weight");
  nano.others = {"transformer.wpe.weight"};
  for (const Names& names :
       {Names{fused(HeadLayout::kConv1D, "h.{n}.attn.c_attn.weight"), true}, Names{nano, true},
        Names{fused(HeadLayout::kInterleaved, "layers.{n}.attention.query_key_value.weight"),
              false},
        Names{fused(HeadLayout::kFused, "model.layers.{n}.self_attn.qkv_proj.weight"), false},
        Names{fused(HeadLayout::kFused, "layers.{n}.attn.Wqkv.weight"), false},
        Names{fused(HeadLayout::kFused, "blocks.{n}.attn.qkv.weight"), false}}) {
    const std::string query = names.model.stacks[0].query;
    CAPTURE(query);
    const auto file = open(write(names.model, "F32"));
    const Config typed = Config::parse(R"({"model_type":"unlisted"})");
    const HeadSettings plain{.heads = 2, .fold_gains = false};
    check_failure(failure_of([&] { HeadScan(file, &typed, plain); }), at_layer(query, 0),
                  "'unlisted'", "--model-type", "--map-query with --map-layout");
    const Failure untyped = failure_of([&] { HeadScan(file, nullptr, plain); });
    CHECK(untyped.item == (names.by_shape ? "" : at_layer(query, 0)));
    HeadSettings mapped = plain;
    mapped.mapping = Mapping{query, "", "", names.model.layout};
    HeadScan scan(file, &typed, mapped);
    for (const HeadFactors& head : read_all(scan))
      check_head(head, names.model.stacks[0], 0, false);
  }
}

TEST_CASE("a known type of the whole or of another part does not vouch for an unknown one") {
  const auto file = open(write(llama("LLaMA", "llama"), "F32"));
  const std::string counts = R"("num_attention_heads":2,"num_key_value_heads":1)";
  for (const std::string& text :
       {R"({"model_type":"llava","text_config":{"model_type":"unlisted",)" + counts + "}}",
        R"({"model_type":"unlisted","vision_config":{"model_type":"qwen2_5_vl"},)" + counts +
            "}"}) {
    const Config config = Config::parse(text);
    check_failure(failure_of([&] { HeadScan(file, &config); }), "fold_gains", "'unlisted'");
  }
  // timm's variants with norms after their branches, or with rotary positions.
  const Model vit{"ViT (timm)",
                  "{}",
                  HeadLayout::kFused,
                  {{.query = "blocks.{n}.attn.qkv.weight", .gain = "blocks.{n}.norm1.weight"}}};
  for (const std::string name : {"vit_base_patch16_rpn_224", "vit_base_patch16_rope_224"}) {
    const Config config =
        Config::parse(R"({"architecture":")" + name + R"(","num_features":8,"num_heads":2})");
    check_failure(failure_of([&] { HeadScan(open(write(vit, "F32")), &config); }),
                  "blocks.0.attn.qkv.weight", name);
  }
}

TEST_CASE("keys of the configuration that change nothing are read, and others refused by row") {
  struct Key {
    std::string name, value, item = {};  // no item: read
  };
  const auto check_key = [](const Model& model, const Key& key) {
    const Config config =
        Config::parse(with_key(model.config, "\"" + key.name + "\":" + key.value));
    CAPTURE(model.family, key.name, key.value);
    const HeadSettings turned{.offset = {1}};
    CHECK(failure_of([&] { HeadScan(open(write(model, "F32")), &config, turned); }).item ==
          key.item);
  };
  for (const Key& key :
       {Key{"qk_norm", "false"},
        Key{"qk_norm", "true", "qk_norm"},
        Key{"use_attn_gate", "false"},
        Key{"attention_type", "\"full\""},
        Key{"nope_layers", "[]"},
        Key{"rope_ratio", "1.0"},
        Key{"add_unit_offset", "false"},
        Key{"rotary_emb_fraction", "1.0"},
        Key{"partial_rotary_factors", "[1.0,1]"},
        Key{"position_encoding", "\"rope\""},
        Key{"floor_scale", "8192.0"},
        Key{"use_rope", "true"},
        Key{"use_rope", "false", "use_rope"},
        Key{"logn_attention_scale", "false"},
        Key{"logn_attention_scale", "true", "logn_attention_scale"},
        Key{"rotary_emb_dim", "4"},
        Key{"rotary_emb_dim", "2", "rotary_emb_dim"},
        Key{"rotary_emb_scale_base", "512", "rotary_emb_scale_base"},
        Key{"layers_block_type", R"(["attention","attention"])"},
        Key{"layers_block_type", R"(["attention","mamba"])", "layers_block_type.1"}}) {
    check_key(llama("LLaMA", "llama"), key);
  }
  const Model bert{"BERT",
                   two_heads("bert"),
                   HeadLayout::kSeparate,
                   {{.query = "encoder.layer.{n}.attention.self.query.weight",
                     .key = "encoder.layer.{n}.attention.self.key.weight"}}};
  for (const Key& key : {Key{"use_rope", "true", "use_rope"}, Key{"use_rope", "false"},
                         Key{"rotary_pct", "1.0", "rotary_pct"}, Key{"rotary_emb_fraction", "0.0"},
                         Key{"position_encoding", "\"rotary\"", "position_encoding"}}) {
    check_key(bert, key);
  }
  for (const std::string scale : {"2", "1"}) {
    check_key(llama("Llama 4", "llama4_text"), {"floor_scale", scale, "floor_scale"});
  }
}

TEST_CASE("a norm that some layers lack is refused by name") {
  SafetensorsWriter writer;
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    for (const std::string what : {"q_proj", "k_proj"}) {
      writer.add(layer + "self_attn." + what + ".weight", "F32", {4, 8},
                 std::vector<double>(32, 1.0));
    }
  }
  writer.add("model.layers.0.input_layernorm.weight", "F32", {8}, std::vector<double>(8, 1.0));
  const auto file = open(writer.bytes());
  const Config config = Config::parse(two_heads("llama"));
  check_failure(failure_of([&] { HeadScan(file, &config); }),
                "model.layers.1.input_layernorm.weight", "it is missing");
  CHECK_NOTHROW(HeadScan(file, &config, {.fold_gains = false}));
}

TEST_CASE("query-key norms without gains leave no bound of the logits") {
  const auto file = open(write(llama("Llama 4", "llama4_text"), "F32"));
  for (const std::string more : {"", R"(,"use_qk_norm":true)", R"(,"use_qk_norm":false)"}) {
    CAPTURE(more);
    const Config config =
        Config::parse(two_heads("llama4_text", R"(,"num_key_value_heads":1)" + more));
    HeadScan scan(file, &config);
    CHECK(in_double(scan.advance().front()).query_input.has_value() ==
          (more.find("false") != std::string::npos));
  }
}

TEST_CASE("layers from the configuration's count on are left out, and noted") {
  Model model = llama("LLaMA", "llama", R"(,"num_hidden_layers":1)");
  const Config one = Config::parse(model.config);
  HeadScan scan(open(write(model, "F32")), &one);
  CHECK(scan.plan().size() == 1);
  REQUIRE(scan.notes().size() == 1);
  CHECK_THAT(scan.notes()[0], ContainsSubstring("1 layer of the file beyond 'num_hidden_layers'"));
  const Config more = Config::parse(two_heads("llama", R"(,"num_hidden_layers":9)"));
  const HeadScan part(open(write(model, "F32")), &more);
  REQUIRE(part.notes().size() == 1);
  CHECK(part.notes()[0] ==
        "layers 2-8 of the 9 that 'num_hidden_layers' counts are not in the file");
  // Beside the model's layers, those for multi-token prediction.
  model = llama("LLaMA", "llama");
  model.stacks.push_back(model.stacks[0]);
  for (std::string* const name :
       {&model.stacks[1].query, &model.stacks[1].key, &model.stacks[1].gain}) {
    *name = "mtp." + name->substr(6);
  }
  const Config config = Config::parse(model.config);
  const HeadScan with_mtp(open(write(model, "F32")), &config);
  CHECK(with_mtp.plan().size() == 2);
  REQUIRE(with_mtp.notes().size() == 1);
  CHECK_THAT(with_mtp.notes()[0], ContainsSubstring("multi-token prediction"));
}

namespace {

/// Small numbers of a matrix outputs x inputs.
std::vector<double> numbers(std::uint32_t seed, int outputs, int inputs) {
  std::vector<double> values;
  for (int i = 0; i < outputs * inputs; ++i) {
    values.push_back(number(seed, 1, static_cast<std::uint32_t>(i), 2));
  }
  return values;
}

Eigen::MatrixXd matrix(std::uint32_t seed, int outputs, int inputs) {
  std::vector<double> values = numbers(seed, outputs, inputs);
  return Eigen::Map<Eigen::MatrixXd>(values.data(), inputs, outputs).transpose();
}

void add(SafetensorsWriter& file, const std::string& name, const std::string& dtype,
         std::uint32_t seed, int outputs, int inputs) {
  std::vector<std::uint64_t> shape;
  if (outputs > 1) shape.push_back(static_cast<std::uint64_t>(outputs));
  shape.push_back(static_cast<std::uint64_t>(inputs));
  file.add(name, dtype, shape, numbers(seed, outputs, inputs));
}

}  // namespace

TEST_CASE("layers of linear attention beside latent keys without positions are left out by name") {
  const auto file_with = [](bool linear) {
    SafetensorsWriter file;
    const std::string attention = "model.layers.1.self_attn.";
    add(file, "model.layers.1.input_layernorm.weight", "F32", 1, 1, kWidth);
    add(file, attention + "kv_a_proj_with_mqa.weight", "F32", 2, 5, kWidth);
    add(file, attention + "kv_a_layernorm.weight", "F32", 3, 1, 3);
    add(file, attention + "kv_b_proj.weight", "F32", 4, 10, 3);
    add(file, attention + "q_proj.weight", "F32", 7, 8, kWidth);
    for (const std::string name : {"q_proj", "k_proj", "v_proj", "q_conv1d"}) {
      if (linear) add(file, "model.layers.0.self_attn." + name + ".weight", "F32", 8, 6, kWidth);
    }
    return open(file.bytes());
  };
  const auto kimi = [](const std::string& more) {
    return Config::parse(
        two_heads("kimi_linear", R"(,"linear_attn_config":{"head_dim":3})" + more));
  };
  const Config config = kimi(R"(,"mla_use_nope":true)");
  HeadScan scan(file_with(true), &config, {.offset = {3}});
  REQUIRE(scan.plan().size() == 1);
  CHECK(scan.plan()[0].family->name == "Kimi Linear");
  CHECK(scan.plan()[0].tensors.layer == 1);
  REQUIRE(scan.notes().size() == 1);
  CHECK_THAT(scan.notes()[0], ContainsSubstring("layer 0"));
  const std::vector<HeadFactors> heads = read_all(scan);
  // At offset 0 nothing turns in DeepSeek V3.
  const Config other = Config::parse(two_heads("deepseek_v3"));
  HeadScan plain(file_with(false), &other, {});
  const std::vector<HeadFactors> same = read_all(plain);
  REQUIRE(heads.size() == 2);
  REQUIRE(same.size() == 2);
  for (std::size_t head = 0; head < 2; ++head) {
    const Eigen::MatrixXd w = heads[head].query * heads[head].key.transpose();
    CHECK((same[head].query * same[head].key.transpose()).isApprox(w, 1e-12));
  }
  const Config silent = kimi("");
  CHECK_THAT(failure_of([&] { HeadScan(file_with(true), &silent, {.offset = {3}}); }).message,
             ContainsSubstring("mla_use_nope"));
}

TEST_CASE("latent attention: queries and keys are products with the compressions of the tokens") {
  // Two heads of 2 coordinates without positions and 2 that turn, with values of width 3.
  constexpr int kQueryRank = 5, kKeyRank = 3, kHead = 4, kOwn = 2, kStride = 5;
  const std::string layer = "model.layers.0.", attention = layer + "self_attn.";
  for (const bool compressed : {true, false}) {
    for (const std::string dtype : {"F32", "BF16"}) {
      SafetensorsWriter file;
      add(file, layer + "input_layernorm.weight", dtype, 1, 1, kWidth);
      add(file, attention + "kv_a_proj_with_mqa.weight", dtype, 2, kKeyRank + 2, kWidth);
      add(file, attention + "kv_a_layernorm.weight", dtype, 3, 1, kKeyRank);
      add(file, attention + "kv_b_proj.weight", dtype, 4, 2 * kStride, kKeyRank);
      add(file, attention + "q_a_proj.weight", dtype, 5, kQueryRank, kWidth);
      add(file, attention + "q_a_layernorm.weight", dtype, 6, 1, kQueryRank);
      add(file, attention + "q_b_proj.weight", dtype, 7, 2 * kHead, kQueryRank);
      if (!compressed) {
        file = {};
        add(file, layer + "input_layernorm.weight", dtype, 1, 1, kWidth);
        add(file, attention + "kv_a_proj_with_mqa.weight", dtype, 2, kKeyRank + 2, kWidth);
        add(file, attention + "kv_a_layernorm.weight", dtype, 3, 1, kKeyRank);
        add(file, attention + "kv_b_proj.weight", dtype, 4, 2 * kStride, kKeyRank);
        add(file, attention + "q_proj.weight", dtype, 7, 2 * kHead, kWidth);
      }
      const std::string scaling =
          R"(,"rope_scaling":{"type":"yarn","factor":4,"mscale":1,"mscale_all_dim":1,)"
          R"("original_max_position_embeddings":8})";
      const Config config = Config::parse(two_heads("deepseek_v3", scaling));
      HeadScan scan(open(file.bytes()), &config, {.offset = {3}});
      CHECK(scan.plan()[0].family->name == (compressed ? "Latent attention" : "Latent keys"));
      const Eigen::VectorXd gain = matrix(1, 1, kWidth).transpose();
      const Eigen::MatrixXd down = matrix(2, kKeyRank + 2, kWidth);
      const Eigen::MatrixXd key_gain = matrix(3, 1, kKeyRank).row(0).asDiagonal();
      Eigen::MatrixXd queries = matrix(7, 2 * kHead, compressed ? kQueryRank : kWidth);
      const Eigen::MatrixXd before =
          queries * (compressed ? Eigen::MatrixXd(matrix(6, 1, kQueryRank).row(0).asDiagonal())
                                : Eigen::MatrixXd::Identity(8, 8));
      queries = compressed ? Eigen::MatrixXd(before * matrix(5, kQueryRank, kWidth)) : before;
      const double root = 0.1 * std::log(4.0) + 1;
      const Rotary& rotary = scan.plan()[0].rotary;
      CHECK(rotary.turned == 2);
      CHECK(rotary.pairs == RotaryPairs::kNeighbours);
      const double angle = 3 * angle_of(rotary, 0);
      Eigen::Matrix2d turn;
      turn << std::cos(angle), std::sin(angle), -std::sin(angle), std::cos(angle);
      const std::vector<HeadFactors> heads = read_all(scan);
      REQUIRE(heads.size() == 2);
      if (compressed) {  // those of Mistral Small 4 are alike
        // The share is that of the whole head.
        const Config mistral = Config::parse(
            two_heads("mistral4", R"(,"rope_parameters":{"rope_type":"yarn","factor":4,"mscale":1,)"
                                  R"("mscale_all_dim":1,"original_max_position_embeddings":8,)"
                                  R"("partial_rotary_factor":0.5},"qk_rope_head_dim":2)"));
        HeadScan other(open(file.bytes()), &mistral, {.offset = {3}});
        const std::vector<HeadFactors> same = read_all(other);
        REQUIRE(same.size() == 2);
        for (std::size_t head = 0; head < 2; ++head) {
          const Eigen::MatrixXd w = heads[head].query * heads[head].key.transpose();
          CHECK((same[head].query * same[head].key.transpose()).isApprox(w, 1e-12));
        }
        const Config plain = Config::parse(two_heads("mistral4"));
        check_failure(failure_of([&] { HeadScan(open(file.bytes()), &plain); }), "rope_scaling",
                      "it must be given");
        const Config sparse = Config::parse(
            two_heads("glm_moe_dsa", R"(,"layer_types":["deepseek_sparse_attention"])"));
        HeadScan glm(open(file.bytes()), &sparse);
        CHECK(glm.plan()[0].family->name == "GLM with latent attention");
      }
      for (int head = 0; head < 2; ++head) {
        const Eigen::MatrixXd q = queries.middleRows(kHead * head, kHead);
        const Eigen::MatrixXd key = matrix(4, 2 * kStride, kKeyRank).middleRows(kStride * head, 2);
        const Eigen::MatrixXd own = key * key_gain * down.topRows(kKeyRank);
        const Eigen::MatrixXd w = root * root * gain.asDiagonal() *
                                  (q.topRows(kOwn).transpose() * own +
                                   q.bottomRows(2).transpose() * turn * down.bottomRows(2)) *
                                  gain.asDiagonal();
        const HeadFactors& factors = heads[static_cast<std::size_t>(head)];
        CHECK((factors.query * factors.key.transpose() - w).norm() <= 1e-6 * w.norm());
        CHECK(factors.rotary);
        CHECK(factors.folded == (compressed ? "input_layernorm q_a_layernorm kv_a_layernorm"
                                            : "input_layernorm kv_a_layernorm"));
        // The bound holds for what the norms can give.
        for (std::uint32_t seed = 0; seed < 20; ++seed) {
          const auto on_sphere = [&](std::uint32_t salt, int size) {
            const Eigen::VectorXd x = matrix(100 + 3 * seed + salt, 1, size).transpose();
            return Eigen::VectorXd(x * std::sqrt(size) / x.norm());
          };
          const Eigen::VectorXd token = on_sphere(2, kWidth).cwiseProduct(gain);
          const Eigen::VectorXd q_token =
              compressed ? on_sphere(0, kQueryRank)
                         : Eigen::VectorXd(on_sphere(0, kWidth).cwiseProduct(gain));
          const Eigen::VectorXd query = before.middleRows(kHead * head, kHead) * q_token;
          const Eigen::VectorXd latent = key * key_gain * on_sphere(1, kKeyRank);
          const double logit = root * root *
                               (query.head(kOwn).dot(latent) +
                                query.tail(2).dot(turn * down.bottomRows(2) * token)) /
                               std::sqrt(kHead);
          CHECK(std::abs(logit) <= factors.latent_bound * (1 + 1e-6));
        }
      }
      // Products alone come from Gram matrices of the compressions.
      HeadScan alone(open(file.bytes()), &config, {.offset = {3}});
      for (const ScannedHead& head : alone.advance(0, Needed::bounded_products)) {
        std::visit(
            [&](const auto& own) {
              const HeadFactors& whole = heads[static_cast<std::size_t>(own.head)];
              CHECK((own.latents != nullptr) == compressed);
              CHECK(own.width() == kWidth);
              CHECK(own.folded == whole.folded);
              CHECK(own.rotary == whole.rotary);
              CHECK(std::abs(own.latent_bound - whole.latent_bound) <= 1e-5 * whole.latent_bound);
              if (!own.latents) return;
              const FactorProducts found = products_of_latents(*own.latents, own.query, own.key);
              const FactorProducts expected = products_of_factors(whole.query, whole.key);
              CHECK(found.width == kWidth);
              CHECK((found.core - expected.core).norm() <= 1e-6 * expected.core.norm());
              CHECK((found.query - expected.query).norm() <= 1e-6 * expected.query.norm());
              CHECK((found.key - expected.key).norm() <= 1e-6 * expected.key.norm());
            },
            head);
      }
      // Without gains nothing bounds the logits.
      HeadScan stored(open(file.bytes()), &config, {.fold_gains = false});
      CHECK(std::isnan(in_double(stored.advance().front()).latent_bound));
      // A switch has halves instead; the indexer is known, another tensor is not.
      const Config halves = Config::parse(two_heads("deepseek_v3", R"(,"rope_interleave":false)"));
      CHECK(HeadScan(open(file.bytes()), &halves).plan()[0].rotary.pairs == RotaryPairs::kHalves);
      add(file, attention + "indexer.wk.weight", dtype, 8, 4, kWidth);
      CHECK_NOTHROW(HeadScan(open(file.bytes()), &config));
      for (const std::string rank : {"qk_nope_head_dim", "q_lora_rank", "v_head_dim"}) {
        const Config ranks = Config::parse(two_heads("deepseek_v3", ",\"" + rank + "\":17"));
        check_failure(failure_of([&] { HeadScan(open(file.bytes()), &ranks); }),
                      attention + "kv_b_proj.weight", "'" + rank + "', which is 17");
      }
      for (const std::string odd : {"odd_norm.weight", "q_conv1d.weight", "scale"}) {
        SafetensorsWriter changed = file;
        add(changed, attention + odd, dtype, 9, 1, 3);
        CHECK(failure_of([&] { HeadScan(open(changed.bytes()), &config); }).item ==
              attention + odd);
      }
    }
  }
}

TEST_CASE("DeepSeek V4: compressed queries and one key, whose last coordinates turn") {
  constexpr int kRank = 5, kHead = 6, kTurned = 4, kHeads = 2;
  const auto file = [](int count) {
    SafetensorsWriter writer;
    for (int n = 0; n < count; ++n) {
      const std::string layer = "layers." + std::to_string(n) + ".", attention = layer + "attn.";
      add(writer, layer + "attn_norm.weight", "F32", 1, 1, kWidth);
      add(writer, attention + "wq_a.weight", "F32", 2, kRank, kWidth);
      add(writer, attention + "q_norm.weight", "F32", 3, 1, kRank);
      add(writer, attention + "wq_b.weight", "F32", 4, kHeads * kHead, kRank);
      add(writer, attention + "wkv.weight", "F32", 5, kHead, kWidth);
      add(writer, attention + "kv_norm.weight", "F32", 6, 1, kHead);
      add(writer, attention + "compressor.ape", "F32", 7, 4, kHead);
      add(writer, layer + "hc_attn_fn", "F32", 8, 3, kWidth);
    }
    return writer;
  };
  const auto config_of = [](const std::string& more) {
    return Config::parse(
        R"({"model_type":"deepseek_v4","num_attention_heads":2,"num_key_value_heads":1,)"
        R"("head_dim":6,"rope_scaling":{"type":"yarn","factor":16,)"
        R"("original_max_position_embeddings":64})" +
        more + "}");
  };
  const std::string share = R"(,"qk_rope_head_dim":4)", ratios = R"(,"compress_ratios":[0,4,128])",
                    bases = R"(,"rope_theta":100,"compress_rope_theta":1000)";
  const Config config = config_of(share + ratios + bases);
  HeadScan scan(open(file(3).bytes()), &config, {.offset = {3}});
  const Eigen::VectorXd gain = matrix(1, 1, kWidth).transpose();
  const Eigen::MatrixXd query_gain = matrix(3, 1, kRank).row(0).asDiagonal();
  const Eigen::MatrixXd queries =
      matrix(4, kHeads * kHead, kRank) * query_gain * matrix(2, kRank, kWidth);
  const Eigen::MatrixXd key_gain = matrix(6, 1, kHead).row(0).asDiagonal();
  const Eigen::MatrixXd key = key_gain * matrix(5, kHead, kWidth);
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 3 * kHeads);
  for (const HeadFactors& head : heads) {
    CAPTURE(head.layer, head.head);
    // Layers that see the tokens of their window alone have another base, and unscaled angles.
    const Rotary& rotary = scan.plan()[static_cast<std::size_t>(head.layer)].rotary;
    CHECK(rotary.turned == kTurned);
    CHECK(rotary.base == (head.layer == 0 ? 100 : 1000));
    CHECK(rotary.angle_scale.empty() == (head.layer == 0));
    CHECK(rotary.logit_factor == 1);
    Eigen::MatrixXd turn = Eigen::MatrixXd::Identity(kHead, kHead);
    for (int pair = 0; pair < kTurned / 2; ++pair) {
      const double angle = 3 * angle_of(rotary, pair);
      turn.block(kHead - kTurned + 2 * pair, kHead - kTurned + 2 * pair, 2, 2) << std::cos(angle),
          std::sin(angle), -std::sin(angle), std::cos(angle);
    }
    const Eigen::MatrixXd w =
        gain.asDiagonal() *
        (queries.middleRows(kHead * head.head, kHead).transpose() * turn * key) * gain.asDiagonal();
    CHECK((head.query * head.key.transpose() - w).norm() <= 1e-6 * w.norm());
    CHECK(head.folded == "attn_norm q_norm kv_norm");
    CHECK(std::isnan(head.latent_bound));
  }
  const auto item = [&](const std::string& more, int offset) {
    const Config other = config_of(more);
    return failure_of([&] {
             HeadScan(open(file(3).bytes()), &other, {.offset = {static_cast<double>(offset)}});
           })
        .item;
  };
  CHECK(item(share + ratios + bases, 1).empty());
  CHECK(item(share + bases, 0) == "compress_ratios.0");
  CHECK(item(share + bases + R"(,"compress_ratios":[0,2,128])", 0) == "compress_ratios.1");
  CHECK(item(ratios + bases, 0).empty());
  CHECK(item(ratios + bases, 1) == "qk_rope_head_dim");
  CHECK(item(share + ratios + R"(,"rope_theta":100)", 1) == "compress_rope_theta");
  // As transformers saves it, with objects that precede the keys beside them.
  const Config saved = Config::parse(
      R"({"model_type":"deepseek_v4","num_attention_heads":2,"num_key_value_heads":1,"head_dim":6,)"
      R"("rope_theta":7,"compress_rope_theta":8,"layer_types":["sliding_attention",)"
      R"("compressed_sparse_attention","heavily_compressed_attention"],"rope_parameters":{)"
      R"("main":{"rope_type":"default","rope_theta":100,"partial_rotary_factor":0.6667},)"
      R"("compress":{"rope_type":"yarn","factor":16,"original_max_position_embeddings":64,)"
      R"("rope_theta":1000,"partial_rotary_factor":0.6667}}})");
  const HeadScan same(open(file(3).bytes()), &saved, {.offset = {3}});
  for (std::size_t layer = 0; layer < 3; ++layer) {
    const Rotary &own = same.plan()[layer].rotary, &other = scan.plan()[layer].rotary;
    CHECK(own.turned == other.turned);
    CHECK(own.base == other.base);
    CHECK(own.angle_scale == other.angle_scale);
    CHECK(own.logit_factor == other.logit_factor);
  }
  CHECK(item(share + ratios + bases + R"(,"rope_parameters":{"full_attention":{"rope_theta":9}})",
             1) == "rope_parameters.full_attention");
  // A factor of the logits that is given counts.
  const Config given = Config::parse(
      R"({"model_type":"deepseek_v4","num_attention_heads":2,"compress_ratios":[4],)"
      R"("qk_rope_head_dim":4,"compress_rope_theta":1000,"rope_scaling":{"type":"yarn",)"
      R"("factor":16,"attention_factor":3,"original_max_position_embeddings":64}})");
  CHECK(HeadScan(open(file(1).bytes()), &given, {.offset = {1}}).plan()[0].rotary.logit_factor ==
        9);
}

TEST_CASE(
    "gains of Qwen 3.5 that MLX's conversion stores whole are told by the layout beside them") {
  const auto gains_of = [&](const std::vector<std::uint64_t>& shape, const std::string& more = "") {
    SafetensorsWriter file;
    const std::string layer = "model.layers.1.", attention = layer + "self_attn.";
    add(file, layer + "input_layernorm.weight", "F64", 1, 1, kWidth);
    add(file, attention + "q_proj.weight", "F64", 2, 4 * kHeadWidth, kWidth);
    add(file, attention + "k_proj.weight", "F64", 3, kHeadWidth, kWidth);
    add(file, attention + "q_norm.weight", "F64", 4, 1, kHeadWidth);
    add(file, attention + "k_norm.weight", "F64", 5, 1, kHeadWidth);
    file.add("model.layers.0.linear_attn.conv1d.weight", "F64", shape, std::vector<double>(8, 1.0));
    if (!more.empty()) add(file, more, "F64", 6, 1, 1);
    const Config config = Config::parse(two_heads("qwen3_5_text", R"(,"num_key_value_heads":1)"));
    HeadScan scan(open(file.bytes()), &config);
    CHECK(scan.plan()[0].family->name == "Qwen 3.5");
    return scan.plan()[0].family->gain_plus_one;
  };
  CHECK(gains_of({2, 1, 4}));
  CHECK_FALSE(gains_of({2, 4, 1}));
  CHECK(gains_of({2, 1, 4}, "mtp.norm.weight"));
  check_failure(failure_of([&] {
                  gains_of({2, 4, 1}, "mtp.norm.weight");
                }),
                "mtp.norm.weight", "MLX's layout");
}

TEST_CASE("layers without a window have heads of another width, and last layers use earlier keys") {
  const std::string config_of = R"(,"num_key_value_heads":2,"head_dim":2,"global_head_dim":4,
      "num_global_key_value_heads":1,"num_hidden_layers":4,"num_kv_shared_layers":2,
      "layer_types":["sliding_attention","full_attention","sliding_attention","full_attention"],
      "rope_parameters":{"full_attention":{"rope_type":"proportional","rope_theta":100,
      "partial_rotary_factor":0.5},
      "sliding_attention":{"rope_type":"default","rope_theta":10,"partial_rotary_factor":0.5}})";
  SafetensorsWriter file;
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = "model.layers." + std::to_string(layer) + ".";
    const auto seed = static_cast<std::uint32_t>(10 * layer);
    const bool full = layer % 2 == 1;
    add(file, name + "input_layernorm.weight", "F64", seed, 1, kWidth);
    add(file, name + "self_attn.q_proj.weight", "F64", seed + 1, full ? 8 : 4, kWidth);
    add(file, name + "self_attn.q_norm.weight", "F64", seed + 3, 1, full ? 4 : 2);
    if (layer >= 2) continue;
    add(file, name + "self_attn.k_proj.weight", "F64", seed + 2, 4, kWidth);
    add(file, name + "self_attn.k_norm.weight", "F64", seed + 4, 1, full ? 4 : 2);
  }
  const Config config = Config::parse(two_heads("gemma4_text", config_of));
  HeadScan scan(open(file.bytes()), &config, {.offset = {1}});
  REQUIRE(scan.plan().size() == 4);
  CHECK(scan.plan()[0].head_width == 2);
  CHECK(scan.plan()[0].key_heads == 2);
  CHECK(scan.plan()[0].rotary.base == 10);
  CHECK(scan.plan()[1].head_width == 4);
  CHECK(scan.plan()[1].key_heads == 1);
  CHECK(scan.plan()[1].rotary.turned == 4);
  CHECK(scan.plan()[1].rotary.base == 100);
  CHECK(scan.plan()[1].rotary.angle_scale == std::vector<double>{1, 0});
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 8);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(heads[i].layer == static_cast<int>(i / 2));
    CHECK(heads[4 + i].key == heads[i].key);
    CHECK(heads[4 + i].query != heads[i].query);
  }
  // The theory has one set of tokens.
  const CentredKernel kernel = centred_kernel(token_process("normalized-walk", 8, 0));
  for (std::size_t i = 0; i < 8; ++i) {
    const HeadReport report = report_head(heads[i], kernel);
    CHECK(report.outside_theory.empty() == (i < 4));
    CHECK(std::isnan(report.localization) == (i >= 4));
    CHECK(std::isnan(report.rho_mean) == (i >= 4));
    CHECK((report.signal == Signal::none) == (i >= 4));
  }
  CHECK_THAT(scan.notes().back(), ContainsSubstring("tokens of another layer or stack"));
  // As version 5.15 of transformers writes it.
  std::string by_layer = config_of;
  by_layer.replace(
      by_layer.find(R"("global_head_dim":4)"), 19,
      R"("per_layer_config":{"1":{"head_dim":4,"num_key_value_heads":1,"attention_bias":false},
                      "3":{"head_dim":4,"num_key_value_heads":1,"intermediate_size":9}},"attention_bias":false)");
  by_layer.replace(by_layer.find(R"("num_global_key_value_heads":1,)"), 31, "");
  const auto scan_under = [&](const std::string& keys) {
    const Config changed = Config::parse(two_heads("gemma4_text", keys));
    HeadScan under(open(file.bytes()), &changed, {.offset = {1}});
    return read_all(under);
  };
  const std::vector<HeadFactors> same = scan_under(by_layer);
  REQUIRE(same.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(same[i].query == heads[i].query);
    CHECK(same[i].key == heads[i].key);
  }
  for (const auto& [from, to, item] :
       {std::tuple{R"("3":{)", R"("03":{)", "per_layer_config.03"},
        std::tuple{R"("3":{)", R"("4":{)", "per_layer_config.4"},
        std::tuple{R"("attention_bias":false})", R"("attention_bias":true})",
                   "per_layer_config.1.attention_bias"},
        std::tuple{R"("intermediate_size":9)", R"("skip":["mlp"])", "per_layer_config.3.skip"},
        std::tuple{R"("head_dim":4,"num_)", R"("head_dim":8,"num_)",
                   "model.layers.1.self_attn.q_proj.weight"},
        std::tuple{R"("num_key_value_heads":1)", R"("num_key_value_heads":2)",
                   "model.layers.1.self_attn.k_proj.weight"}}) {
    std::string changed = by_layer;
    changed.replace(changed.find(from), std::string(from).size(), to);
    CHECK(failure_of([&] { scan_under(changed); }).item == item);
  }
  const Config odd = Config::parse(two_heads(
      "gemma4_text", R"(,"head_dim":2,"global_head_dim":8,"layer_types":["sliding_attention",
      "full_attention","sliding_attention","full_attention"],"num_hidden_layers":4,
      "num_kv_shared_layers":2)"));
  check_failure(failure_of([&] { HeadScan(open(file.bytes()), &odd); }),
                "model.layers.1.self_attn.q_proj.weight", "'global_head_dim'");
  const Config shared =
      Config::parse(two_heads("gemma4_text", R"(,"num_hidden_layers":4,"num_kv_shared_layers":4)"));
  check_failure(failure_of([&] { HeadScan(open(file.bytes()), &shared); }), "num_kv_shared_layers",
                "from 0 to 3");
}

TEST_CASE(
    "of stacks with alike layers that of the token embeddings is read, or one that is named") {
  const std::string counts = R"("num_attention_heads":2,"num_key_value_heads":1,"hidden_size":8)";
  for (const std::string text : {"text_config", "llm_config", "language_config"}) {
    Model towers = llama("LLaMA", "llama");
    towers.config = R"({"model_type":"voxtral",")" + text + R"(":{"model_type":"llama",)" + counts +
                    R"(},"vision_config":{"model_type":"qwen2",)" + counts + "}}";
    towers.stacks[0] = under("language_model.", towers.stacks[0]);
    Stack vision = under("vision_tower.", llama("", "").stacks[0]);
    vision.rotary = true;
    towers.stacks.push_back(vision);
    towers.others = {"language_model.model.embed_tokens.weight"};
    const Bytes bytes = write(towers, "F32");
    const Config config = Config::parse(towers.config);
    HeadScan scan(open(bytes), &config);
    REQUIRE(scan.notes().size() == 1);
    CHECK_THAT(scan.notes()[0], ContainsSubstring("'vision_tower.model'"));
    const std::vector<HeadFactors> heads = read_all(scan);
    REQUIRE(heads.size() == 4);
    for (const HeadFactors& head : heads) check_head(head, towers.stacks[0], 0, true);
    // The other one by its name, with its own part of the configuration.
    CheckpointFiles files;
    files.model = {std::make_shared<MemorySource>("model.safetensors", bytes)};
    files.stack = "vision_tower.model";
    HeadScan named(open_tensors(files), &config);
    for (const HeadFactors& head : read_all(named)) check_head(head, vision, 1, true);
    const Config plain = Config::parse(R"({"model_type":"voxtral",")" + text +
                                       R"(":{"model_type":"llama",)" + counts + "}}");
    check_failure(failure_of([&] { HeadScan(open_tensors(files), &plain); }), "heads",
                  "has no 'vision_config.num_attention_heads'");
    files.stack = "audio_tower";
    check_failure(failure_of([&] { open_tensors(files); }), "stack", "found 'audio_tower'");
    // Not one alone has token embeddings.
    towers.others.push_back("vision_tower.model.embed_tokens.weight");
    const Failure both = failure_of([&] { HeadScan(open(write(towers, "F32")), &config); });
    CHECK_THAT(both.message, ContainsSubstring("--stack, one of 'language_model.model', "
                                               "'vision_tower.model'"));
  }
}

TEST_CASE("the thinker of Qwen-Omni is read, and the parts that make sound are noted") {
  Model omni = llama("Qwen 2 VL", "qwen2_5_omni");
  omni.config = R"({"model_type":"qwen2_5_omni","thinker_config":{"text_config":)" +
                two_heads("qwen2_5_omni_text", R"(,"num_key_value_heads":1)") +
                R"(},"talker_config":)" + two_heads("qwen2_5_omni_talker") + "}";
  const Stack plain = omni.stacks[0];
  omni.stacks[0] = under("thinker.", plain);
  omni.stacks.push_back(under("talker.", plain));
  // The talker has token embeddings of its own.
  omni.others = {"thinker.model.embed_tokens.weight", "talker.model.embed_tokens.weight"};
  const Config config = Config::parse(omni.config);
  HeadScan scan(open(write(omni, "F32")), &config);
  REQUIRE(scan.notes().size() == 1);
  CHECK(scan.notes()[0] == "the parts that make sound are left out: 'talker'");
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 4);
  for (const HeadFactors& head : heads) check_head(head, omni.stacks[0], 0, true);
  const Config other =
      Config::parse(R"({"model_type":"qwen2_5_omni","thinker_config":{"text_config":)" +
                    two_heads("unknown") + "}}");
  HeadScan unknown(open(write(omni, "F32")), &other, {.fold_gains = false});
  REQUIRE(unknown.notes().size() == 2);
  CHECK_THAT(unknown.notes()[1], ContainsSubstring("'thinker_config.text_config.model_type'"));
}

TEST_CASE(
    "norms that layers lack are refused by name, and so are those that a model does not have") {
  const auto refused = [](Model model, const std::function<void(Stack&)>& change) {
    change(model.stacks[0]);
    const Config config = Config::parse(model.config);
    const auto file = open(write(model, "F32"));
    CHECK_NOTHROW(HeadScan(file, &config, {.fold_gains = false}));
    return failure_of([&] { HeadScan(file, &config); }).item;
  };
  const std::string attention = "model.layers.0.self_attn.";
  const Model normed = head_normed("Qwen 3", "qwen3"), plain = llama("LLaMA", "llama");
  CHECK(refused(normed, [](Stack& stack) { stack.query_norm = {}; }) ==
        attention + "q_norm.weight");
  CHECK(refused(normed, [](Stack& stack) { stack.key_norm = {}; }) == attention + "k_norm.weight");
  CHECK(refused(normed, [](Stack& stack) { stack.query_norm = stack.key_norm = {}; }) ==
        attention + "q_norm.weight");
  CHECK(refused(plain, [](Stack& stack) { stack.gain = {}; }) ==
        "model.layers.0.input_layernorm.weight");
  CHECK(refused(plain, [&](Stack& stack) { stack.query_norm = attention + "q_norm.weight"; }) ==
        attention + "q_norm.weight");
  // In one layer alone, of a model that may have them.
  const Model cohere = llama("Cohere", "cohere");
  CHECK(refused(cohere, [&](Stack& stack) {
          stack.query_norm = attention + "q_norm.weight";
          stack.key_norm = attention + "k_norm.weight";
        }) == "model.layers.1.self_attn.q_norm.weight");
  // A switch and the file contradict each other.
  CHECK(refused(head_normed("Cohere", "cohere", R"(,"use_qk_norm":false)"), [](Stack&) {}) ==
        "use_qk_norm");
  CHECK(refused(llama("Cohere", "cohere", R"(,"use_qk_norm":true)"), [](Stack&) {}) ==
        "use_qk_norm");
  // Left out or null it is false.
  for (const auto& [family, type] :
       {std::pair{"Cohere", "cohere"}, std::pair{"GLM-4.5", "glm4_moe"}}) {
    for (const std::string more : {"", R"(,"use_qk_norm":null)"}) {
      CHECK(refused(head_normed(family, type, more), [](Stack&) {}) == "use_qk_norm");
    }
  }
  for (const auto& [more, item] : {std::pair{"", "qk_layernorm"},
                                   {R"(,"qk_layernorm":false)", "qk_layernorm"},
                                   {R"(,"qk_layernorm":true)", ""}}) {
    Model phi = llama("Phi", "phi", more);
    phi.others = {"model.layers.0.self_attn.dense.weight"};
    CHECK(refused(phi, [&](Stack& stack) {
            stack.query_norm = "model.layers.{n}.self_attn.q_layernorm.weight";
            stack.key_norm = "model.layers.{n}.self_attn.k_layernorm.weight";
          }) == item);
  }
  CHECK(
      refused(head_normed("GLM-4.5", "glm4_moe", R"(,"use_qk_norm":true)"), [](Stack&) {}).empty());
}

TEST_CASE("gains of norms of queries and keys have the size of the family's norms") {
  const std::string query = "model.layers.0.self_attn.q_norm.weight";
  for (const auto& [family, type, whole] :
       {std::tuple{"Qwen 3", "qwen3", false}, std::tuple{"Gemma 3", "gemma3_text", false},
        std::tuple{"OLMo 2", "olmo2", true}, std::tuple{"OLMoE", "olmoe", true},
        std::tuple{"MiniMax M2", "minimax_m2", true}}) {
    CAPTURE(family);
    Model model = head_normed(family, type, R"(,"rotary_dim":4)");
    if (type == std::string("olmo2")) model.stacks[0].gain = {};
    const Config config = Config::parse(model.config);
    for (const bool given : {false, true}) {
      model.stacks[0].whole_norms = given;
      const auto file = open(write(model, "F32"));
      const Failure failure = failure_of([&] { HeadScan(file, &config); });
      CHECK(failure.item == (given == whole ? "" : query));
      if (given != whole) CHECK_THAT(failure.message, ContainsSubstring("for the family"));
      CHECK_NOTHROW(HeadScan(file, &config, {.fold_gains = false}));
    }
  }
}

TEST_CASE("the last 15 layers of Gemma 3n use earlier keys where config.json does not say") {
  for (const int layers : {15, 17}) {
    SafetensorsWriter file;
    std::string types;
    for (int layer = 0; layer < layers; ++layer) {
      const std::string name = "model.layers." + std::to_string(layer) + ".";
      const auto seed = static_cast<std::uint32_t>(10 * layer);
      add(file, name + "input_layernorm.weight", "F64", seed, 1, kWidth);
      for (const std::string part : {"q", "k"}) {
        add(file, name + "self_attn." + part + "_proj.weight", "F64", seed + (part == "q" ? 1 : 2),
            8, kWidth);
        add(file, name + "self_attn." + part + "_norm.weight", "F64", seed + 3, 1, 4);
      }
      types += (layer > 0 ? "," : "") +
               std::string(layer % 2 == 0 ? "\"sliding_attention\"" : "\"full_attention\"");
    }
    const Config config = Config::parse(
        two_heads("gemma3n_text", R"(,"head_dim":4,"layer_types":[)" + types +
                                      R"(],"num_hidden_layers":)" + std::to_string(layers)));
    HeadScan scan(open(file.bytes()), &config);
    const std::vector<HeadFactors> heads = read_all(scan);
    REQUIRE(heads.size() == 2 * static_cast<std::size_t>(layers));
    CHECK((heads[8].key == heads[0].key) == (layers == 17));
    CHECK((heads[10].key == heads[2].key) == (layers == 17));
    CHECK(heads[2].key != heads[0].key);
  }
}

TEST_CASE("layers without queries and keys are named") {
  Model hybrid = llama("Jamba", "jamba");
  hybrid.stacks[0].rotary = false;
  for (const std::string layer : {"3", "4", "6"}) {
    hybrid.others.push_back("model.layers." + layer + ".mamba.A_log");
  }
  const Config config = Config::parse(hybrid.config);
  const HeadScan scan(open(write(hybrid, "F32")), &config);
  CHECK(scan.total_heads() == 4);
  REQUIRE(scan.notes().size() == 1);
  CHECK_THAT(scan.notes()[0],
             ContainsSubstring("layers 3-4, 6, such as with 'model.layers.3.mamba.A_log'"));
}

TEST_CASE("a tensor of all layers that scales attention is refused, and a mask is read") {
  for (const std::string name : {"model.attn_scale", "model.attention_mask"}) {
    Model model = llama("LLaMA", "llama");
    model.others = {name};
    const Config config = Config::parse(model.config);
    const Failure failure = failure_of([&] { HeadScan(open(write(model, "F32")), &config); });
    CHECK(failure.item == (name == "model.attn_scale" ? name : ""));
  }
}

TEST_CASE("layers of Step 3.7 have as many heads as their rows make of the width in config.json") {
  const auto heads_of = [](const std::string& more) {
    SafetensorsWriter file;
    for (const auto& [layer, rows] : {std::pair(0, 8), std::pair(1, 12)}) {
      const std::string attention = "model.layers." + std::to_string(layer) + ".self_attn.";
      add(file, attention + "q_proj.weight", "F32", 1, rows, kWidth);
      add(file, attention + "k_proj.weight", "F32", 2, 4, kWidth);
    }
    const Config config = Config::parse(two_heads("step3p7", R"(,"num_key_value_heads":1)" + more));
    const HeadScan scan(open(file.bytes()), &config, {.fold_gains = false});
    std::vector<int> heads;
    for (const LayerPlan& layer : scan.plan()) heads.push_back(layer.heads);
    return heads;
  };
  CHECK(heads_of(R"(,"head_dim":4)") == std::vector{2, 3});
}

TEST_CASE("windows of SmolLM3 need the types of its layers") {
  const auto window = [](const std::string& more) {
    const Config config = Config::parse(two_heads("smollm3", R"(,"sliding_window":4)" + more));
    for (const Family& family : families()) {
      if (family.name == "SmolLM3")
        return attention_window(ConfigKeys(&config, {""}), family.window, 3);
    }
    return std::optional<std::uint64_t>();
  };
  CHECK(!window(""));
  const std::string on = R"(,"use_sliding_window":true)";
  CHECK(failure_of([&] { window(on); }).item == "layer_types");
  const std::string full = R"("full_attention","full_attention","full_attention",)";
  CHECK(window(on + R"(,"layer_types":[)" + full + R"("sliding_attention"])") == 4u);
  CHECK(!window(on + R"(,"layer_types":[)" + full + R"("full_attention"])"));
}

TEST_CASE("OPT folds its gains where its norms come first") {
  Model opt{"OPT",
            two_heads("opt", R"(,"do_layer_norm_before":true)"),
            HeadLayout::kSeparate,
            {{.query = "model.decoder.layers.{n}.self_attn.q_proj.weight",
              .key = "model.decoder.layers.{n}.self_attn.k_proj.weight",
              .gain = "model.decoder.layers.{n}.self_attn_layer_norm.weight"}}};
  check(opt);
  const Config after = Config::parse(two_heads("opt", R"(,"do_layer_norm_before":false)"));
  HeadScan scan(open(write(opt, "F32")), &after);
  CHECK(scan.plan()[0].family->name == "OPT");
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 4);
  for (const HeadFactors& head : heads) check_head(head, opt.stacks[0], 0, false);
  const Config odd = Config::parse(two_heads("opt", R"(,"do_layer_norm_before":2)"));
  CHECK(failure_of([&] { HeadScan(open(write(opt, "F32")), &odd); }).item ==
        "do_layer_norm_before");
}

TEST_CASE("encoder, decoder and cross attention: Whisper, Moonshine, torch.nn") {
  // The norm of cross attention reads the decoder's tokens; keys are those of the encoder, after its last norm.
  const auto stacks = [](const std::string& self_norm, const std::string& cross_norm) {
    const auto stack = [](const std::string& name, const std::string& layer,
                          const std::string& attention, const std::string& gain) {
      return Stack{.name = name,
                   .query = layer + attention + ".q_proj.weight",
                   .key = layer + attention + ".k_proj.weight",
                   .gain = layer + gain + ".weight"};
    };
    const std::string encoder = "model.encoder.layers.{n}.", decoder = "model.decoder.layers.{n}.";
    Stack cross = stack("cross", decoder, "encoder_attn", cross_norm);
    cross.key_gain = "model.encoder.layer_norm.weight";
    return std::vector<Stack>{stack("encoder", encoder, "self_attn", self_norm),
                              stack("decoder", decoder, "self_attn", self_norm), cross};
  };
  // As the original's layers have them beside the attention.
  const auto with_mlps = [](std::vector<std::string> others) {
    for (const std::string layer : {"model.encoder.layers.0.", "model.decoder.layers.0."}) {
      for (const char* const map : {"fc1", "fc2", "final_layer_norm"}) {
        for (const char* const part : {".weight", ".bias"}) others.push_back(layer + map + part);
      }
    }
    return others;
  };
  check({"Whisper",
         R"({"model_type":"whisper","encoder_attention_heads":2,"decoder_attention_heads":2,
             "d_model":8})",
         HeadLayout::kSeparate, stacks("self_attn_layer_norm", "encoder_attn_layer_norm"),
         with_mlps({"model.encoder.conv1.weight"})});
  std::vector<Stack> after = stacks("self_attn_layer_norm", "encoder_attn_layer_norm");
  const std::string counts =
      R"("encoder_attention_heads":2,"decoder_attention_heads":2,"d_model":8})";
  check({"NLLB", R"({"model_type":"m2m_100",)" + counts, HeadLayout::kSeparate, after,
         with_mlps({})});
  for (Stack& stack : after) stack.gain = stack.key_gain = {};
  check({"BART", R"({"model_type":"bart",)" + counts, HeadLayout::kSeparate, after, with_mlps({})});
  const auto t5 = [](const std::string& name, const std::string& part, const std::string& layer,
                     const std::string& attention) {
    const std::string block = part + ".block.{n}.layer." + layer + ".";
    return Stack{.name = name,
                 .query = block + attention + ".q.weight",
                 .key = block + attention + ".k.weight",
                 .gain = block + "layer_norm.weight",
                 .scale = 2};
  };
  std::vector<Stack> undivided{t5("encoder", "encoder", "0", "SelfAttention"),
                               t5("decoder", "decoder", "0", "SelfAttention"),
                               t5("cross", "decoder", "1", "EncDecAttention")};
  undivided[2].key_gain = "encoder.final_layer_norm.weight";
  check({"T5", R"({"model_type":"t5","num_heads":2,"d_model":8,"d_kv":4})", HeadLayout::kSeparate,
         undivided});
  Model moonshine{
      "Moonshine",
      R"({"model_type":"moonshine","encoder_num_attention_heads":2,"decoder_num_attention_heads":4,"head_dim":4,
          "encoder_num_key_value_heads":2,"decoder_num_key_value_heads":2,"hidden_size":8,
          "partial_rotary_factor":0.5})",
      HeadLayout::kSeparate,
      stacks("input_layernorm", "post_attention_layernorm"),
      {"model.encoder.conv1.weight", "model.encoder.groupnorm.weight"}};
  for (const std::size_t s : {1u, 2u}) moonshine.stacks[s].heads = 4;
  for (const std::size_t s : {0u, 1u}) moonshine.stacks[s].rotary = true;
  check(moonshine);
  check({"torch.nn.Transformer",
         R"({"nhead":2})",
         HeadLayout::kFused,
         {{.name = "encoder", .query = "encoder.layers.{n}.self_attn.in_proj_weight"},
          {.name = "decoder", .query = "decoder.layers.{n}.self_attn.in_proj_weight"},
          {.name = "cross", .query = "decoder.layers.{n}.multihead_attn.in_proj_weight"}},
         {"encoder.layers.0.linear1.weight", "encoder.layers.0.linear2.bias",
          "decoder.layers.0.linear1.weight", "decoder.layers.0.norm3.weight"}});
  check({"torch.nn.TransformerEncoder",
         R"({"nhead":2})",
         HeadLayout::kFused,
         {{.query = "net.layers.{n}.self_attn.in_proj_weight"}},
         {"net.layers.0.linear1.bias", "net.layers.0.linear2.weight"}});
}

TEST_CASE("text and vision: CLIP and SigLIP") {
  const Stack text = clip_stack("text", 2), vision = clip_stack("vision", 4);
  const std::string text_config = R"("text_config":{"num_attention_heads":2,"hidden_size":8})";
  const std::string vision_config = R"("vision_config":{"num_attention_heads":4,"hidden_size":8})";
  for (const std::string type : {"clip", "siglip"}) {
    const std::string config =
        R"({"model_type":")" + type + R"(",)" + text_config + "," + vision_config + "}";
    const Model both{
        type == "clip" ? "CLIP" : "SigLIP", config, HeadLayout::kSeparate, {text, vision}};
    check(both);
    const Config half = Config::parse(R"({"model_type":"altclip",)" + text_config + "}");
    check_failure(
        failure_of([&] { HeadScan(open(write(both, "F32")), &half, {.fold_gains = false}); }),
        "heads", "'vision_config.num_attention_heads'");
  }
  // Counts that a config.json with a model type leaves out.
  const Model usual{"SigLIP",
                    R"({"model_type":"siglip"})",
                    HeadLayout::kSeparate,
                    {clip_stack("text", 12), clip_stack("vision", 12)}};
  check(usual);
  // One of both, under a config of its own.
  const Model lone{"CLIP", "{}", HeadLayout::kSeparate, {vision}};
  const Config own = Config::parse(
      R"({"model_type":"clip_vision_model","num_attention_heads":4,"hidden_size":8})");
  HeadScan scan(open(write(lone, "F32")), &own);
  CHECK(scan.plan()[0].family->name == "CLIP");
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 8);
  for (const HeadFactors& head : heads) check_head(head, vision, 0, true);
}

TEST_CASE("models of vision and language: each part by its own family") {
  const Stack vision = under("vision_tower.", clip_stack("vision", 4));
  Stack language = under("language_model.", llama("LLaMA", "llama").stacks[0]);
  language.name = "language_model.model";
  struct Kind {
    std::string type, text_type, family;
    bool gain_plus_one;
  };
  for (const Kind& kind :
       {Kind{"llava", "llama", "LLaVA", false}, Kind{"paligemma", "gemma", "Gemma", true},
        Kind{"gemma3", "gemma3_text", "Gemma 3", true}}) {
    const std::string config =
        R"({"model_type":")" + kind.type +
        R"(","vision_config":{"model_type":"clip_vision_model","num_attention_heads":4,)"
        R"("hidden_size":8},)"
        R"("text_config":{"model_type":")" +
        kind.text_type +
        R"(","num_attention_heads":2,"num_key_value_heads":1,"query_pre_attn_scalar":4}})";  // d_h
    Model both{"CLIP", config, HeadLayout::kSeparate, {vision, language}};
    both.others = {"language_model.model.embed_tokens.weight"};
    both.stacks[1].gain_plus_one = kind.gain_plus_one;
    if (kind.type == "gemma3") {
      const std::string attention = "language_model.model.layers.{n}.self_attn.";
      both.stacks[1].query_norm = attention + "q_norm.weight";
      both.stacks[1].key_norm = attention + "k_norm.weight";
    }
    check(both);
    const Config parsed = Config::parse(config);
    HeadScan scan(open(write(both, "F32")), &parsed);
    CHECK(scan.plan().back().family->name == kind.family);
    CHECK(scan.embeddings().empty());  // the vision does not read them
  }

  Model qwen = llama("Qwen 2 VL", "qwen2_vl", R"(,"vision_config":{"num_heads":2})");
  qwen.layout = HeadLayout::kFused;
  qwen.stacks[0].name = "model";
  qwen.stacks.push_back({.name = "visual",
                         .query = "visual.blocks.{n}.attn.qkv.weight",
                         .gain = "visual.blocks.{n}.norm1.weight",
                         .rotary = true});
  check(qwen);
  const Config parsed = Config::parse(qwen.config);
  const HeadScan turned(open(write(qwen, "F32")), &parsed, {.offset = {1}});
  for (const LayerPlan& layer : turned.plan()) CHECK(layer.stack == "model");
  REQUIRE(turned.notes().size() == 1);
  CHECK_THAT(turned.notes()[0], ContainsSubstring("ViT (Qwen) are left out"));
  // A prefix that is taken, or that no link could carry.
  for (const std::string prefix : {"model.", "a, b."}) {
    qwen.stacks[1].name = "ViT (Qwen)";
    qwen.stacks[1].query = prefix + "blocks.{n}.attn.qkv.weight";
    qwen.stacks[1].gain = prefix + "blocks.{n}.norm1.weight";
    check(qwen);
  }

  // Towers of one and the same family are not told apart.
  Model towers = llama("LLaMA", "llama");
  towers.stacks.push_back(language);
  const Config config = Config::parse(towers.config);
  CHECK_THAT(failure_of([&] { HeadScan(open(write(towers, "F32")), &config); }).message,
             ContainsSubstring("several stacks"));
}

TEST_CASE("a config of several parts, and one that keeps rotary positions apart, are understood") {
  const Config config = Config::parse(
      R"({"text_config":{"model_type":"stablelm","num_attention_heads":2,"num_key_value_heads":1,
          "hidden_size":8},
          "rope_parameters":{"rope_theta":500.0,"partial_rotary_factor":0.5}})");
  HeadScan scan(open(write(llama("LLaMA", "llama"), "F32")), &config);
  CHECK(scan.plan()[0].heads == 2);
  CHECK(scan.plan()[0].rotary.base == 500);
  CHECK(scan.plan()[0].rotary.turned == 2);
}

TEST_CASE("layers may differ in width and in their number of heads") {
  SafetensorsWriter writer;
  const auto name = [](int layer, const std::string& what) {
    return "encoder.layer." + std::to_string(layer) + ".attention.self." + what + ".weight";
  };
  for (const std::string what : {"query", "key"}) {
    writer.add(name(0, what), "F32", {4, 6}, std::vector<double>(24, 1.0));  // one head was pruned
    writer.add(name(1, what), "F32", {6, 6}, std::vector<double>(36, 1.0));
    writer.add(name(2, what), "F32", {6, 4}, std::vector<double>(24, 1.0));
  }
  const Config config = Config::parse(R"({"num_attention_heads":3,"hidden_size":6})");
  HeadScan scan(open(writer.bytes()), &config);
  CHECK(scan.total_heads() == 8);
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 8);
  CHECK(heads[1].query.rows() == 6);
  CHECK(heads[2].layer == 1);
  CHECK(heads[7].query.rows() == 4);
  for (const HeadFactors& head : heads) CHECK(head.query.cols() == 2);
}

TEST_CASE(
    "a count of heads holds in every layer, unless config.json gives a head width or a list") {
  SafetensorsWriter writer;
  for (const std::string what : {"query", "key"}) {
    for (const std::uint64_t layer : {0u, 1u}) {
      const std::uint64_t rows = layer == 0 ? 4 : 8;
      writer.add("encoder.layer." + std::to_string(layer) + ".attention.self." + what + ".weight",
                 "F32", {rows, 6}, std::vector<double>(6 * rows, 1.0));
    }
  }
  const auto file = open(writer.bytes());
  struct Layer {
    int heads, width;
    bool operator==(const Layer&) const = default;
  };
  const auto layers = [&](const std::string& text, std::optional<int> heads) {
    const Config config = Config::parse(text);
    std::vector<Layer> found;
    const HeadScan scan(file, &config, {.heads = heads});
    for (const LayerPlan& layer : scan.plan()) {
      CHECK(layer.key_heads == layer.heads);
      found.push_back({layer.heads, layer.head_width});
    }
    return found;
  };
  CHECK(layers("{}", 4) == std::vector<Layer>{{4, 1}, {4, 2}});
  CHECK(layers(R"({"head_dim":2})", 4) == std::vector<Layer>{{2, 2}, {4, 2}});
  CHECK(layers(R"({"num_attention_heads":4})", {}) == std::vector<Layer>{{2, 2}, {4, 2}});
  CHECK(layers(R"({"num_attention_heads":[4,2]})", {}) == std::vector<Layer>{{4, 1}, {2, 4}});

  const auto failure = [&](const std::string& text, std::optional<int> heads) {
    return failure_of([&] { layers(text, heads); });
  };
  check_failure(failure("{}", 8), "heads", "4 rows do not divide into 8 heads");
  check_failure(failure(R"({"num_attention_heads":2})", 4), "heads",
                "must be omitted or 2, the value of 'num_attention_heads'");
  check_failure(failure(R"({"head_dim":4})", 4), "heads", "'head_dim' in config.json is 4");
  check_failure(failure(R"({"num_attention_heads":[4,2]})", 4), "heads",
                "lists the heads of each layer");
  CHECK(failure(R"({"num_attention_heads":[4]})", {}).item == "heads");
  CHECK(failure(R"({"num_attention_heads":[4,0]})", {}).item == "num_attention_heads.1");
}

TEST_CASE("stacks have counts of heads of their own") {
  const Model clip{
      "CLIP", "{}", HeadLayout::kSeparate, {clip_stack("text", 2), clip_stack("vision", 4)}};
  const auto file = open(write(clip, "F32"));
  const auto counts = [&](const std::vector<std::string>& texts) {
    HeadSettings settings;
    set_head_counts(texts, settings);
    std::map<std::string, int> found;
    settings.fold_gains = false;
    const HeadScan scan(file, nullptr, settings);
    for (const LayerPlan& layer : scan.plan()) {
      found[layer.stack] = layer.heads;
    }
    return found;
  };
  CHECK(counts({"2"}) == std::map<std::string, int>{{"text", 2}, {"vision", 2}});
  CHECK(counts({"vision=4", "2"}) == std::map<std::string, int>{{"text", 2}, {"vision", 4}});
  CHECK(counts({"vision=4", "text=1"}) == std::map<std::string, int>{{"text", 1}, {"vision", 4}});
  const auto failure = [&](const std::vector<std::string>& texts) {
    const Failure failed = failure_of([&] { counts(texts); });
    CHECK(failed.item == "heads");
    return failed.message;
  };
  CHECK_THAT(
      failure({"1", "tower=2"}),
      ContainsSubstring("must name a stack of test.safetensors: text, vision: found 'tower'"));
  CHECK_THAT(failure({"vision=4"}),
             ContainsSubstring("there is no config.json with the head count"));
  CHECK_THAT(failure({"vision=2", "vision=4", "2"}), ContainsSubstring("two counts"));
  CHECK_THAT(failure({"2", "1"}), ContainsSubstring("two counts"));
  CHECK_THAT(failure({"=2"}), ContainsSubstring("must be N or STACK=N"));
  for (const std::string bad : {"vision=0", "vision=", "vision=1.5", "x", "", "5000"}) {
    CHECK_THAT(failure({bad}), ContainsSubstring("heads must be an integer from 1 to 4096: found"));
  }
  HeadSettings named{.stack_heads = {{"vision", 2}}};
  const auto llama_file = open(write(llama("LLaMA", "llama"), "F32"));
  CHECK_THAT(failure_of([&] { HeadScan(llama_file, nullptr, named); }).message,
             ContainsSubstring("one without a name (give the number alone)"));
}

TEST_CASE("a mapping by the user is read, and errors in it are reported") {
  const Model model{
      "mapping",
      "{}",
      HeadLayout::kInterleaved,
      {{.query = "blk.{n}.qkv.weight", .gain = "blk.{n}.norm.weight", .heads = 4, .key_heads = 2}}};
  const auto file = open(write(model, "F32"));
  HeadSettings settings{.heads = 4, .key_heads = 2};
  settings.mapping =
      Mapping{"blk.{n}.qkv.weight", "", "blk.{n}.norm.weight", HeadLayout::kInterleaved};
  HeadScan scan(file, nullptr, settings);
  const std::vector<HeadFactors> heads = read_all(scan);
  REQUIRE(heads.size() == 8);
  for (const HeadFactors& head : heads) check_head(head, model.stacks[0], 0, true);

  HeadSettings later = settings;
  later.offset = {3};
  CHECK(failure_of([&] { HeadScan(file, nullptr, later); }).item == "offset");

  Model reordered = model;
  reordered.others = {"blk.1.qkv.weight_g_idx"};
  CHECK(failure_of([&] { HeadScan(open(write(reordered, "F32")), nullptr, settings); }).item ==
        reordered.others[0]);

  Model adapted = model;
  adapted.others = {"blk.1.qkv.lora_A.weight"};
  CHECK(failure_of([&] { HeadScan(open(write(adapted, "F32")), nullptr, settings); }).item ==
        adapted.others[0]);

  const auto failure = [&](Mapping mapping, std::optional<int> count = 4) {
    return failure_of([&] {
      HeadSettings bad{.heads = count, .key_heads = 2};
      bad.mapping = std::move(mapping);
      HeadScan(file, nullptr, bad);
    });
  };
  CHECK(failure({"blk.0.qkv.weight", "", "", HeadLayout::kFused}).item == "map_query");
  CHECK(failure({"{n}.{n}", "", "", HeadLayout::kFused}).item == "map_query");
  CHECK(failure({"", "", "", HeadLayout::kFused}).item == "map_query");
  CHECK(failure({"blk.{n}.qkv.weight", "", "", HeadLayout::kSeparate}).item == "map_key");
  CHECK(failure({"blk.{n}.qkv.weight", "blk.{n}.k.weight", "", HeadLayout::kFused}).item ==
        "map_key");
  CHECK(failure({"blk.{n}.qkv.weight", "", "norm", HeadLayout::kFused}).item == "map_gain");
  CHECK_THROWS_WITH(value_of_name<HeadLayout>("map_layout", "mixed", kLayoutNames),
                    ContainsSubstring("separate, conv1d, fused, interleaved"));
  CHECK(failure({"blk.{n}.qkv.weight", "", "", HeadLayout::kFused}, std::nullopt).item == "heads");
  check_failure(failure({"k.{n}.qkv.weight", "", "", HeadLayout::kFused}), "test.safetensors",
                "'k.{n}.qkv.weight'");
}

TEST_CASE("a mapping answers for names, not for what config.json says of its numbers") {
  const Model model = llama("LLaMA", "llama");
  const auto file = open(write(model, "F32"));
  HeadSettings settings{.heads = 2, .key_heads = 1};
  settings.mapping = Mapping{model.stacks[0].query, model.stacks[0].key, model.stacks[0].gain};
  HeadSettings bare = settings;
  bare.mapping->gain = {};
  const auto item = [&](const std::string& text, const HeadSettings& used) {
    const Config config = Config::parse(text);
    return failure_of([&] { HeadScan(file, &config, used); }).item;
  };
  CHECK(item(R"({"model_type":"llama"})", settings).empty());
  CHECK(item(R"({"model_type":"gemma"})", settings) == "map_gain");
  CHECK(item(R"({"model_type":"gemma"})", bare).empty());
  CHECK(item(R"({"text_config":{"model_type":"gemma3_text"}})", settings) == "map_gain");
  CHECK(item(R"({"model_type":"gpt_neo"})", bare) == "map_query");
  for (const HeadSettings& used : {settings, bare}) {
    CHECK(item(R"({"attn_output_gate":true})", used) == "attn_output_gate");
    CHECK(item(R"({"key_multiplier":2})", used) == "key_multiplier");
    CHECK(item(R"({"embedding_multiplier":2})", used).empty());
  }
  CHECK(item(R"({"use_gemma_norm":true})", settings) == "use_gemma_norm");
  CHECK(item(R"({"use_gemma_norm":true})", bare).empty());
  // The model type says what divides the logits; a norm of queries or keys that the mapping does not name changes them.
  const auto known = [&](const Model& read, const std::string& text) {
    const Config config = Config::parse(text);
    const auto stored = open(write(read, "F32"));
    const HeadPlan plan = plan_heads(*stored, &config, settings);
    CHECK(plan.notes.size() == (plan.layers.front().known_scale ? 0 : 1));
    return plan.layers.front().known_scale && plan.layers.front().normed;
  };
  CHECK(known(model, R"({"model_type":"llama"})"));
  CHECK_FALSE(known(model, R"({"model_type":"foo"})"));
  CHECK_FALSE(known(model, "{}"));
  for (const std::string norm : {"", "self_attn.q_norm", "self_attn.k_layernorm", "key_norm"}) {
    CAPTURE(norm);
    Model other = model;
    if (!norm.empty()) other.others = {"model.layers.0." + norm + ".weight"};
    CHECK(known(other, R"({"model_type":"qwen3"})") == norm.empty());
  }
}

TEST_CASE("grouped keys that do not fit are refused by name") {
  const auto file = open(write(llama("LLaMA", "llama"), "F32"));
  const auto failure = [&](const std::string& config, HeadSettings settings = {}) {
    const Config parsed = Config::parse(with_key(config, R"("model_type":"llama")"));
    return failure_of([&] { HeadScan(file, &parsed, settings); });
  };
  const std::string key = "model.layers.0.self_attn.k_proj.weight";
  CHECK(failure(R"({"num_attention_heads":2,"num_key_value_heads":2})").item == key);
  CHECK(failure(R"({"num_attention_heads":2,"num_key_value_heads":2})", {.heads = 2}).item == key);
  CHECK(failure(R"({"num_attention_heads":1})").item == key);
  CHECK(failure(R"({"num_attention_heads":2,"head_dim":3})").item ==
        "model.layers.0.self_attn.q_proj.weight");
  CHECK(failure("{}", {.heads = 2, .key_heads = 2}).item == "key_heads");
  CHECK(failure("{}", {.heads = 2, .key_heads = -1}).item == "key_heads");
  CHECK(failure("{}", {.heads = 2, .key_heads = 1, .fold_gains = false}).kind == "none");
}
