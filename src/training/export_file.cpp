#include "training/export_file.h"

#include <deque>

#include "support/error.h"
#include "training/training_file.h"

namespace eigenscope {
namespace {

using Eigen::Index;

// A tensor of LLaMA's: torch's linear layers are out x in, row by row, while ours lie in x out.
class LlamaWriter {
 public:
  explicit LlamaWriter(const Model<float>& model) : model_(model) {}

  // Rows `first` to `first + rows` of the matrix with `leading` rows and `columns` columns at `offset`.
  void linear(const std::string& name, Index offset, Index leading, Index columns, Index first,
              Index rows) {
    std::vector<float>& values = turned_.emplace_back();
    values.reserve(static_cast<std::size_t>(rows * columns));
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) {
        values.push_back(model_.parameters()[offset + first + i + j * leading]);
      }
    }
    add(name, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)}, values);
  }
  // An embedding is d x V by columns, which is V x d by rows.
  void embedding(const std::string& name, Index offset) {
    const ModelSettings& s = model_.settings();
    add(name, {static_cast<std::uint64_t>(s.vocabulary), static_cast<std::uint64_t>(s.width)},
        {model_.parameters().data() + offset, static_cast<std::size_t>(s.vocabulary * s.width)});
  }
  void vector(const std::string& name, Index offset) {
    const auto width = static_cast<std::size_t>(model_.settings().width);
    add(name, {width}, {model_.parameters().data() + offset, width});
  }

  std::vector<std::byte> bytes(TensorFormat format) const {
    return write_safetensors(tensors_, {{"format", "pt"}}, format);
  }

 private:
  void add(const std::string& name, std::vector<std::uint64_t> shape,
           std::span<const float> values) {
    tensors_.push_back({name + ".weight", std::move(shape), values});
  }
  const Model<float>& model_;
  std::vector<TensorToWrite> tensors_;
  std::deque<std::vector<float>> turned_;  // values of the tensors of linear()
};

std::vector<std::byte> llama(const Model<float>& model, TensorFormat format) {
  const ModelSettings& s = model.settings();
  const ParameterLayout& layout = model.layout();
  const Index d = s.width, keys = s.groups() * s.head_width(), fused = s.fused_width();
  LlamaWriter write(model);
  write.embedding("model.embed_tokens", layout.embedding);
  for (Index layer = 0; layer < s.depth; ++layer) {
    const LayerOffsets& offsets = layout.at(layer);
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    write.vector(prefix + "input_layernorm", offsets.norm1);
    write.linear(prefix + "self_attn.q_proj", offsets.fused, fused, d, 0, d);
    write.linear(prefix + "self_attn.k_proj", offsets.fused, fused, d, d, keys);
    write.linear(prefix + "self_attn.v_proj", offsets.fused, fused, d, d + keys, keys);
    write.linear(prefix + "self_attn.o_proj", offsets.projection, d, d, 0, d);
    write.vector(prefix + "post_attention_layernorm", offsets.norm2);
    write.linear(prefix + "mlp.gate_proj", offsets.gate, s.hidden(), d, 0, s.hidden());
    write.linear(prefix + "mlp.up_proj", offsets.up, s.hidden(), d, 0, s.hidden());
    write.linear(prefix + "mlp.down_proj", offsets.down, d, s.hidden(), 0, d);
  }
  write.vector("model.norm", layout.final_norm);
  if (s.output == OutputKind::free) write.embedding("lm_head", layout.output);
  return write.bytes(format);
}

const char* torch_name(TensorFormat format) {
  return format == TensorFormat::f16    ? "float16"
         : format == TensorFormat::bf16 ? "bfloat16"
                                        : "float32";
}

}  // namespace

ExportFamily export_family(const ModelSettings& s) {
  const auto refuse = [](const char* setting) {
    throw InvalidArgument(
        "export",
        "be omitted for a model that is neither GPT-2's nor LLaMA's (--normalization rms "
        "--mlp-kind gated --positions rotary --linear-bias without; GPT-2's has none of these)",
        std::string("found this ") + setting);
  };
  if (s.norm != BlockNorm::pre) refuse("layer_norm");
  if (s.query_key_norm != QueryKeyNorm::none) refuse("query_key_norm");
  if (s.attention != AttentionKind::softmax) refuse("attention");
  if (s.objective != Objective::next) refuse("objective");
  if (s.attention_skip != AttentionSkip::with) refuse("attention_skip");
  if (s.positions == Positions::relative) refuse("positions");
  if (s.offset_mask != OffsetMask::none) refuse("offset_mask");
  if (s.dropped_distance >= 0) refuse("dropped_distance");
  if (s.hidden() == 0) refuse("mlp_ratio");
  const bool llama = s.normalization == Normalization::rms;
  if (llama != (s.mlp_kind == MlpKind::gated)) refuse("mlp_kind");
  if (llama != (s.positions == Positions::rotary)) refuse("positions");
  if (llama != (s.linear_bias == LinearBias::without)) refuse("linear_bias");
  if (!llama && s.groups() != s.heads) refuse("key_heads");
  return llama ? ExportFamily::llama : ExportFamily::gpt2;
}

std::vector<std::byte> export_model(const Model<float>& model, TensorFormat format) {
  if (export_family(model.settings()) == ExportFamily::llama) return llama(model, format);
  return write_safetensors(named_weights(model), {{"format", "pt"}}, format);
}

std::string export_config(const ModelSettings& s, TensorFormat format) {
  if (export_family(s) == ExportFamily::gpt2) return config_text(s);
  std::string text = "{\n  \"model_type\": \"llama\",\n  \"hidden_act\": \"silu\",\n";
  const auto add = [&](const char* key, const std::string& value) {
    text += std::string("  \"") + key + "\": " + value + ",\n";
  };
  add("num_hidden_layers", std::to_string(s.depth));
  add("num_attention_heads", std::to_string(s.heads));
  add("num_key_value_heads", std::to_string(s.groups()));
  add("head_dim", std::to_string(s.head_width()));
  add("hidden_size", std::to_string(s.width));
  add("intermediate_size", std::to_string(s.hidden()));
  add("max_position_embeddings", std::to_string(s.length));
  add("vocab_size", std::to_string(s.vocabulary));
  add("rms_norm_eps", "1e-05");
  add("rope_theta", "10000.0");
  add("attention_bias", "false");
  add("mlp_bias", "false");
  add("tie_word_embeddings", s.output == OutputKind::tied ? "true" : "false");
  add("torch_dtype", std::string("\"") + torch_name(format) + "\"");
  text.replace(text.size() - 2, 2, "\n}\n");
  return text;
}

}  // namespace eigenscope
