#include "checkpoint/gguf.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/conventions.h"
#include "checkpoint/gguf_blocks.h"
#include "checkpoint/gguf_parts.h"
#include "checkpoint/safetensors_view.h"
#include "io/json_events.h"
#include "support/choice.h"
#include "support/error.h"

namespace eigenscope {
namespace {

/// A tensor of GGUF and of Hugging Face, without ".weight" or ".bias"; "{n}" is the number of the layer, "{e}" that of an
/// expert, whose weights one tensor of GGUF stacks.
struct Renamed {
  std::string_view from, to;
};

constexpr std::array kDecoder{
    Renamed{"token_embd", "model.embed_tokens"},
    Renamed{"output_norm", "model.norm"},
    Renamed{"output", "lm_head"},
    Renamed{"blk.{n}.attn_norm", "model.layers.{n}.input_layernorm"},
    Renamed{"blk.{n}.attn_q", "model.layers.{n}.self_attn.q_proj"},
    Renamed{"blk.{n}.attn_k", "model.layers.{n}.self_attn.k_proj"},
    Renamed{"blk.{n}.attn_v", "model.layers.{n}.self_attn.v_proj"},
    Renamed{"blk.{n}.attn_qkv", "model.layers.{n}.self_attn.qkv_proj"},
    Renamed{"blk.{n}.attn_q_norm", "model.layers.{n}.self_attn.q_norm"},
    Renamed{"blk.{n}.attn_k_norm", "model.layers.{n}.self_attn.k_norm"},
    Renamed{"blk.{n}.attn_output", "model.layers.{n}.self_attn.o_proj"},
    Renamed{"blk.{n}.ffn_norm", "model.layers.{n}.post_attention_layernorm"},
    Renamed{"blk.{n}.ffn_gate", "model.layers.{n}.mlp.gate_proj"},
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.up_proj"},
    Renamed{"blk.{n}.ffn_down", "model.layers.{n}.mlp.down_proj"},
    Renamed{"blk.{n}.ffn_gate_inp", "model.layers.{n}.mlp.gate"},
    Renamed{"blk.{n}.ffn_gate_exps", "model.layers.{n}.mlp.experts.{e}.gate_proj"},
    Renamed{"blk.{n}.ffn_up_exps", "model.layers.{n}.mlp.experts.{e}.up_proj"},
    Renamed{"blk.{n}.ffn_down_exps", "model.layers.{n}.mlp.experts.{e}.down_proj"},
    Renamed{"blk.{n}.ffn_gate_inp_shexp", "model.layers.{n}.mlp.shared_expert_gate"},
    Renamed{"blk.{n}.ffn_gate_shexp", "model.layers.{n}.mlp.shared_expert.gate_proj"},
    Renamed{"blk.{n}.ffn_up_shexp", "model.layers.{n}.mlp.shared_expert.up_proj"},
    Renamed{"blk.{n}.ffn_down_shexp", "model.layers.{n}.mlp.shared_expert.down_proj"},
};
/// Beside those of kDecoder, which give way: norms before and after attention and MLP.
constexpr std::array kFourNorms{
    Renamed{"blk.{n}.post_attention_norm", "model.layers.{n}.post_attention_layernorm"},
    Renamed{"blk.{n}.ffn_norm", "model.layers.{n}.pre_feedforward_layernorm"},
    Renamed{"blk.{n}.post_ffw_norm", "model.layers.{n}.post_feedforward_layernorm"},
};
constexpr std::array kGlm4{
    Renamed{"blk.{n}.post_attention_norm", "model.layers.{n}.post_self_attn_layernorm"},
    Renamed{"blk.{n}.post_ffw_norm", "model.layers.{n}.post_mlp_layernorm"},
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.gate_up_proj"},
};
constexpr std::array kTwoMatrices{
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.c_fc"},
    Renamed{"blk.{n}.ffn_down", "model.layers.{n}.mlp.c_proj"},
};
constexpr std::array kFusedGate{
    Renamed{"blk.{n}.ffn_up", "model.layers.{n}.mlp.gate_up_proj"},
};
constexpr std::array kEncoder{
    Renamed{"token_embd", "embeddings.word_embeddings"},
    Renamed{"position_embd", "embeddings.position_embeddings"},
    Renamed{"token_types", "embeddings.token_type_embeddings"},
    Renamed{"token_embd_norm", "embeddings.LayerNorm"},
    Renamed{"blk.{n}.attn_q", "encoder.layer.{n}.attention.self.query"},
    Renamed{"blk.{n}.attn_k", "encoder.layer.{n}.attention.self.key"},
    Renamed{"blk.{n}.attn_v", "encoder.layer.{n}.attention.self.value"},
    Renamed{"blk.{n}.attn_output", "encoder.layer.{n}.attention.output.dense"},
    Renamed{"blk.{n}.attn_output_norm", "encoder.layer.{n}.attention.output.LayerNorm"},
    Renamed{"blk.{n}.ffn_up", "encoder.layer.{n}.intermediate.dense"},
    Renamed{"blk.{n}.ffn_down", "encoder.layer.{n}.output.dense"},
    Renamed{"blk.{n}.layer_output_norm", "encoder.layer.{n}.output.LayerNorm"},
};

/// One row of what is known: llama.cpp's name of an architecture, and how its converter changes a checkpoint.
struct Converted : Choice {
  std::string_view model_type;          ///< in config.json
  std::span<const Renamed> particular;  ///< looked up before `names`
  std::span<const Renamed> names;
  /// Rotary pairs are neighbours in the file, halves of a head in Hugging Face's order.
  bool neighbours = false;
  /// The gain 1 + g of a norm is stored as it is, by Hugging Face as g.
  bool whole_gains = false;
  /// Files do not say that the weights of a token's experts add up to 1.
  bool normalized_experts = false;
  /// Files do not say that logits are divided by the root of width over heads, not of the head width: llama.cpp knows
  /// the model, of 27 billion weights, by so many layers. 0: none is.
  int wide_scale_layers = 0;
};

constexpr std::array kConverted{
    Converted{{"llama"}, "llama", {}, kDecoder, true},
    Converted{{"qwen2"}, "qwen2", {}, kDecoder},
    Converted{{"qwen3"}, "qwen3", {}, kDecoder},
    Converted{{"gemma"}, "gemma", {}, kDecoder, false, true},
    Converted{{"gemma2"}, "gemma2", kFourNorms, kDecoder, false, true, false, 46},
    Converted{{"gemma3"}, "gemma3_text", kFourNorms, kDecoder, false, true, false, 62},
    Converted{{"olmo2"}, "olmo2", kFourNorms, kDecoder},
    Converted{{"phi3"}, "phi3", kFusedGate, kDecoder},
    Converted{{"qwen2moe"}, "qwen2_moe", {}, kDecoder},
    Converted{{"qwen3moe"}, "qwen3_moe", {}, kDecoder, false, false, true},
    Converted{{"olmoe"}, "olmoe", {}, kDecoder},
    Converted{{"seed_oss"}, "seed_oss", kFourNorms, kDecoder},
    Converted{{"starcoder2"}, "starcoder2", kTwoMatrices, kDecoder},
    Converted{{"stablelm"}, "stablelm", {}, kDecoder},
    Converted{{"arcee"}, "arcee", {}, kDecoder, true},
    Converted{{"granite"}, "granite", {}, kDecoder, true},
    Converted{{"granitemoe"}, "granitemoe", {}, kDecoder, true},
    // Their pairs are neighbours in Hugging Face's order too.
    Converted{{"command-r"}, "cohere", {}, kDecoder},
    Converted{{"glm4"}, "glm4", kGlm4, kDecoder},
    Converted{{"bert"}, "bert", {}, kEncoder},
};

constexpr const char* kArchitecture = "general.architecture";
constexpr std::string_view kExpertMark = "{e}";

std::string architecture_of(const OrderedJson& metadata) {
  const auto found = metadata.find(kArchitecture);
  return found != metadata.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Null for an architecture without a row.
const Converted* conversion_of(const OrderedJson& metadata) {
  const std::string name = architecture_of(metadata);
  for (const Converted& row : kConverted) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

const Renamed* find(std::span<const Renamed> names, std::string_view base) {
  for (const Renamed& row : names) {
    if (row.from == base) return &row;
  }
  return nullptr;
}

/// The name in Hugging Face's checkpoint; the same where none is known.
std::string renamed(const std::string& name, const Converted* conversion) {
  const std::size_t ending = name.rfind('.');
  if (conversion == nullptr || ending == std::string::npos) return name;
  std::string base = name.substr(0, ending), layer;
  constexpr std::string_view kBlockPrefix = "blk.";
  if (base.starts_with(kBlockPrefix)) {
    const std::size_t end = base.find('.', kBlockPrefix.size());
    if (end == std::string::npos) return name;
    layer = base.substr(kBlockPrefix.size(), end - kBlockPrefix.size());
    base = std::string(kBlockPrefix) + "{n}" + base.substr(end);
  }
  const Renamed* row = find(conversion->particular, base);
  if (row == nullptr) row = find(conversion->names, base);
  if (row == nullptr) return name;
  std::string to(row->to);
  if (const std::size_t place = to.find("{n}"); place != std::string::npos)
    to.replace(place, 3, layer);
  return to + name.substr(ending);
}

/// A tensor of the file in the bytes of the view.
struct Piece {
  GgufTensor tensor;
  const GgufType* type = nullptr;  ///< null: cannot be read
  std::uint64_t head_rows =
      0;  ///< of a head whose rotary pairs are neighbours in the file; 0 where none is
  bool less_one = false;  ///< a gain from which 1 is taken

  /// In the file; 1 where the type is unknown, which is less than any has.
  std::uint64_t stored_bytes() const {
    return type == nullptr ? 1 : tensor.elements() / type->elements * type->bytes;
  }
  bool is_plain() const { return type != nullptr && !type->dtype.empty(); }
  std::uint64_t element_bytes() const { return is_plain() ? type->bytes : sizeof(float); }
  std::uint64_t bytes() const { return tensor.elements() * element_bytes(); }
  /// Of an entry of the first dimension: of one number where it is the only one, as in a bias.
  std::uint64_t row_bytes() const { return bytes() / tensor.shape.front(); }
  /// The row of the file that holds row `row` of Hugging Face's order.
  std::uint64_t file_row(std::uint64_t row) const {
    if (head_rows == 0) return row;
    const std::uint64_t within = row % head_rows, half = head_rows / 2;
    return row - within + within % half * 2 + within / half;
  }
};

class GgufView final : public SafetensorsView {
 public:
  GgufView(std::shared_ptr<ByteSource> source, const std::vector<ViewedTensor>& tensors,
           std::vector<Piece> pieces)
      : SafetensorsView(source->name(), tensors),
        source_(std::move(source)),
        pieces_(std::move(pieces)) {}

 private:
  /// Rows one after the other where their order differs, else all of it as one row.
  void read_tensor(std::size_t place, std::uint64_t offset, std::span<std::byte> out) override {
    const Piece& piece = pieces_[place];
    if (piece.type == nullptr) {
      refuse_item(piece.tensor.name, "its type must be one of " + gguf_type_names() +
                                         ", but it is " + gguf_type_name(piece.tensor.type));
    }
    const std::uint64_t width = piece.head_rows == 0 ? piece.bytes() : piece.row_bytes();
    while (!out.empty()) {
      const std::uint64_t row = offset / width, within = offset % width;
      const auto count =
          static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), width - within));
      read_bytes(piece, piece.file_row(row) * width + within, out.first(count));
      out = out.subspan(count);
      offset += count;
    }
  }

  /// Bytes of the decoded elements, in the order of the file.
  void read_bytes(const Piece& piece, std::uint64_t offset, std::span<std::byte> out) {
    if (piece.is_plain() && !piece.less_one) return source_->read(piece.tensor.begin + offset, out);
    const GgufType& type = *piece.type;
    const std::uint64_t decoded = type.elements * sizeof(float);
    std::vector<std::byte> blocks;
    std::vector<float> numbers(type.elements);
    constexpr std::uint64_t kMostBlocks = 1024;
    while (!out.empty()) {
      const std::uint64_t first = offset / decoded,
                          last = (offset + out.size() + decoded - 1) / decoded;
      blocks.resize(static_cast<std::size_t>(std::min(last - first, kMostBlocks) * type.bytes));
      source_->read(piece.tensor.begin + first * type.bytes, blocks);
      for (std::size_t at = 0; at < blocks.size(); at += type.bytes) {
        decode(piece, blocks.data() + at, numbers.data());
        const auto within = static_cast<std::size_t>(offset % decoded);
        const std::size_t count =
            std::min<std::size_t>(out.size(), static_cast<std::size_t>(decoded) - within);
        std::memcpy(out.data(), reinterpret_cast<const std::byte*>(numbers.data()) + within, count);
        out = out.subspan(count);
        offset += count;
      }
    }
  }

  static void decode(const Piece& piece, const std::byte* block, float* out) {
    if (piece.type->decode != nullptr) return piece.type->decode(block, out);
    std::memcpy(out, block, sizeof(float));
    *out -= 1;
  }

  std::shared_ptr<ByteSource> source_;
  std::vector<Piece> pieces_;
};

const GgufType& f32_type() { return *gguf_type(0); }

/// Rows of a head of rotary queries or keys whose pairs are neighbours in the file; 0 for other tensors.
std::uint64_t rotary_head_rows(const GgufTensor& tensor, const std::string& name,
                               const GgufHeader& header, const Converted& conversion) {
  const bool query = name.find(".q_proj.") != std::string::npos,
             key = name.find(".k_proj.") != std::string::npos;
  if (!conversion.neighbours || !(query || key)) return 0;
  const std::string heads_key = std::string(conversion.name) + ".attention.head_count";
  const bool grouped = key && header.metadata.contains(heads_key + "_kv");
  const std::uint64_t heads = header.integer(heads_key + (grouped ? "_kv" : ""));
  const std::uint64_t rows = tensor.shape.empty() ? 0 : tensor.shape.front();
  if (heads > 0 && rows % (2 * heads) == 0) return rows / heads;
  refuse_item(tensor.name, "its " + std::to_string(rows) +
                               " rows must be heads of an even width, as many as the integer '" +
                               heads_key + (grouped ? "_kv" : "") + "' in the metadata");
}

/// Checks that the data lie inside the file.
Piece piece_of(GgufTensor tensor, const std::string& name, const GgufHeader& header,
               const Converted* conversion, ByteSource& source) {
  Piece piece;
  piece.type = gguf_type(tensor.type);
  if (piece.type != nullptr) {
    if (tensor.row() % piece.type->elements != 0) {
      refuse_item(tensor.name, "its rows of " + std::to_string(tensor.row()) +
                                   " elements must be whole blocks of " +
                                   std::to_string(piece.type->elements));
    }
  }
  if (conversion != nullptr) {
    piece.head_rows = rotary_head_rows(tensor, name, header, *conversion);
    piece.less_one =
        conversion->whole_gains && tensor.shape.size() == 1 && name.ends_with("norm.weight");
    if (piece.less_one && piece.type != &f32_type()) {
      refuse_item(tensor.name, "its type must be F32, as of all gains of " +
                                   std::string(conversion->name) + ", but it is " +
                                   gguf_type_name(tensor.type));
    }
  }
  piece.tensor = std::move(tensor);
  if (piece.stored_bytes() > source.size() - piece.tensor.begin) {
    refuse_item(piece.tensor.name,
                "its data must lie inside " + source.name() + "; is the file cut off?");
  }
  return piece;
}

/// Refuses tensors that share bytes of the file.
void check_apart(const std::vector<Piece>& pieces, const std::string& file) {
  std::vector<const Piece*> order;
  for (const Piece& piece : pieces) order.push_back(&piece);
  std::sort(order.begin(), order.end(),
            [](const Piece* a, const Piece* b) { return a->tensor.begin < b->tensor.begin; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Piece &before = *order[i - 1], &piece = *order[i];
    if (piece.tensor.begin - before.tensor.begin >= before.stored_bytes()) continue;
    refuse_item(piece.tensor.name, "its data must not overlap those of '" +
                                       shown_name(before.tensor.name) + "' in " + file);
  }
}

/// The matrices of `tensor`, one an expert, or a tensor as it is, such as one with more than `most` experts. The gate of a
/// shared expert is a row of weights.
std::vector<std::pair<std::string, GgufTensor>> unstacked(const std::string& name,
                                                          GgufTensor tensor, std::size_t most) {
  const std::size_t mark = name.find(kExpertMark);
  if (mark == std::string::npos) {
    if (name.ends_with("shared_expert_gate.weight") && tensor.shape.size() == 1) {
      tensor.shape.insert(tensor.shape.begin(), 1);
    }
    return {{name, std::move(tensor)}};
  }
  const GgufType* const type = gguf_type(tensor.type);
  if (type == nullptr || tensor.shape.size() != 3 || tensor.row() % type->elements != 0 ||
      tensor.shape.front() > most) {
    return {{tensor.name, std::move(tensor)}};
  }
  const std::uint64_t experts = tensor.shape.front();
  GgufTensor part = tensor;
  part.shape.erase(part.shape.begin());
  const std::uint64_t bytes = part.elements() / type->elements * type->bytes;
  std::vector<std::pair<std::string, GgufTensor>> parts;
  for (std::uint64_t expert = 0; expert < experts; ++expert) {
    std::string own = name;
    parts.emplace_back(own.replace(mark, kExpertMark.size(), std::to_string(expert)), part);
    part.begin += bytes;
  }
  return parts;
}

std::shared_ptr<ByteSource> view_of(std::shared_ptr<ByteSource> source, GgufHeader header) {
  const Converted* const conversion = conversion_of(header.metadata);
  constexpr std::size_t kMostPieces = 1 << 21;
  std::vector<ViewedTensor> viewed;
  std::vector<Piece> pieces;
  for (GgufTensor& tensor : header.tensors) {
    const std::string stored = renamed(tensor.name, conversion);
    for (auto& [name, part] : unstacked(stored, std::move(tensor), kMostPieces - pieces.size())) {
      pieces.push_back(piece_of(std::move(part), name, header, conversion, *source));
      const Piece& piece = pieces.back();
      viewed.push_back({std::move(name), piece.is_plain() ? piece.type->dtype : "F32",
                        piece.tensor.shape, piece.bytes()});
    }
  }
  check_apart(pieces, source->name());
  return std::make_shared<GgufView>(std::move(source), viewed, std::move(pieces));
}

/// Keys of the metadata, behind the architecture's name, and of config.json.
constexpr std::array kKeys{
    Renamed{"embedding_length", "hidden_size"},
    Renamed{"block_count", "num_hidden_layers"},
    Renamed{"feed_forward_length", "intermediate_size"},
    Renamed{"context_length", "max_position_embeddings"},
    Renamed{"attention.head_count", "num_attention_heads"},
    Renamed{"attention.head_count_kv", "num_key_value_heads"},
    Renamed{"attention.key_length", "head_dim"},
    Renamed{"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    Renamed{"attention.layer_norm_epsilon", "layer_norm_eps"},
    Renamed{"attention.sliding_window", "sliding_window"},
    Renamed{"attention.scale", "attention_multiplier"},
    Renamed{"attn_logit_softcapping", "attn_logit_softcapping"},
    Renamed{"final_logit_softcapping", "final_logit_softcapping"},
    Renamed{"logit_scale", "logit_scale"},     // of Cohere
    Renamed{"logit_scale", "logits_scaling"},  // of Granite, which divides
    Renamed{"embedding_scale", "embedding_multiplier"},
    Renamed{"residual_scale", "residual_multiplier"},
    Renamed{"rope.freq_base", "rope_theta"},
    Renamed{"expert_used_count", "num_experts_per_tok"},
};

/// Those of an architecture whose layers with a sliding window have another base.
constexpr std::array kWindowKeys{
    Renamed{"attention.sliding_window_pattern", "sliding_window_pattern"},
    Renamed{"rope.freq_base_swa", "rope_local_base_freq"},
};

/// Those of `rope.scaling.` and of the config's object.
constexpr std::array kScalingKeys{
    Renamed{"factor", "factor"},
    Renamed{"original_context_length", "original_max_position_embeddings"},
    Renamed{"yarn_beta_fast", "beta_fast"},
    Renamed{"yarn_beta_slow", "beta_slow"},
};

/// Keys of which config.json has no other word: read here, or of no effect on what is read.
constexpr std::array<std::string_view, 9> kOtherKeys{
    "attention.causal",         "attention.group_norm_epsilon", "attention.group_norm_groups",
    "attention.value_length",   "rope.dimension_count",         "rope.scale_linear",
    "rope.scaling.attn_factor", "rope.scaling.finetuned",       "rope.scaling.type"};

/// Words in keys that scale, bound, turn or restrict attention.
constexpr std::array<std::string_view, 6> kAttentionWords{"attn",    "clamp",  "no_rope",
                                                          "softcap", "window", "scale"};

bool is_finite(const OrderedJson& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_finite);
  return !value.is_number_float() || std::isfinite(value.get<double>());
}

/// The metadata of a model's architecture.
class ModelMetadata {
 public:
  explicit ModelMetadata(const GgufPart& first)
      : metadata_(first.header.metadata),
        file_(first.source->name()),
        prefix_(architecture_of(metadata_) + ".") {}

  /// Null where there is none. Throws FormatError naming the key for NaN and infinities.
  OrderedJson value(const std::string& key) const {
    const OrderedJson found = metadata_.value(prefix_ + key, OrderedJson());
    if (!is_finite(found)) {
      refuse_item(prefix_ + key, "it must be finite in " + file_ + ", but is NaN or infinite");
    }
    return found;
  }
  /// Behind the architecture's name.
  std::vector<std::string> keys() const {
    std::vector<std::string> found;
    for (const auto& [key, value] : metadata_.items()) {
      if (key.starts_with(prefix_)) found.push_back(key.substr(prefix_.size()));
    }
    return found;
  }
  const std::string& prefix() const { return prefix_; }
  double number(const std::string& key, double usual) const {
    const OrderedJson found = value(key);
    return found.is_number() ? found.get<double>() : usual;
  }
  [[noreturn]] void refuse(const std::string& key, const std::string& message) const {
    refuse_item(prefix_ + key, message + " in " + file_);
  }

 private:
  const OrderedJson& metadata_;
  const std::string& file_;
  const std::string prefix_;
};

bool is_zero(const OrderedJson& value) {
  if (value.is_array()) return std::all_of(value.begin(), value.end(), is_zero);
  return value == OrderedJson(false) || (value.is_number() && value.get<double>() == 0);
}

bool has_window_base(const Converted& conversion) { return conversion.model_type == "gemma3_text"; }

/// Whether a key is read, or cannot change the attention.
bool is_read(std::string_view key, const Converted& conversion) {
  const bool of_attention = key.starts_with("attention.") || key.starts_with("rope.");
  const auto in_key = [&](std::string_view word) { return key.find(word) != std::string::npos; };
  const bool named = std::any_of(kAttentionWords.begin(), kAttentionWords.end(), in_key);
  if (!of_attention && (!named || key.starts_with("expert"))) return true;
  constexpr std::string_view kScaling = "rope.scaling.";
  if (key.starts_with(kScaling) && find(kScalingKeys, key.substr(kScaling.size())) != nullptr) {
    return true;
  }
  return find(kKeys, key) != nullptr ||
         (has_window_base(conversion) && find(kWindowKeys, key) != nullptr) ||
         std::find(kOtherKeys.begin(), kOtherKeys.end(), key) != kOtherKeys.end();
}

/// Keys of the attention that no one reads and whose value is not 0 or false, for conventions.h to refuse.
OrderedJson unread_keys(const ModelMetadata& metadata, const Converted& conversion) {
  OrderedJson unread = OrderedJson::array();
  for (const std::string& key : metadata.keys()) {
    if (is_read(key, conversion)) continue;
    const OrderedJson value = metadata.value(key);
    if (!is_zero(value)) unread.push_back(metadata.prefix() + key);
  }
  return unread;
}

/// Which layers have a sliding window, as config.json has it: each so many-eth has none, or a list.
void add_window_keys(const ModelMetadata& metadata, OrderedJson& config) {
  for (const auto& [from, to] : kWindowKeys) {
    OrderedJson given = metadata.value(std::string(from));
    if (given.is_array()) {
      OrderedJson types = OrderedJson::array();
      for (const OrderedJson& windowed : given) {
        types.push_back(is_zero(windowed) ? "full_attention" : "sliding_attention");
      }
      config["layer_types"] = std::move(types);
    } else if (!given.is_null()) {
      config[std::string(to)] = std::move(given);
    }
  }
}

/// Divisors of the angles, for which longrope has a place; null where the model has none.
OrderedJson factors_in(const std::vector<GgufPart>& parts, std::string_view name) {
  constexpr std::uint64_t kMostFactors = 4096;
  for (const auto& [source, header] : parts) {
    for (const GgufTensor& tensor : header.tensors) {
      if (tensor.name != name) continue;
      if (gguf_type(tensor.type) != &f32_type() || tensor.elements() > kMostFactors) {
        refuse_item(tensor.name, "it must have at most " + std::to_string(kMostFactors) +
                                     " elements of F32 in " + source->name());
      }
      std::vector<float> factors(static_cast<std::size_t>(tensor.elements()));
      source->read(tensor.begin, std::as_writable_bytes(std::span(factors)));
      OrderedJson list = factors;
      if (!is_finite(list)) refuse_item(tensor.name, "it must be finite in " + source->name());
      return list;
    }
  }
  return nullptr;
}

OrderedJson rotary_scaling(const std::vector<GgufPart>& parts, const ModelMetadata& metadata) {
  const std::string attention_key = "rope.scaling.attn_factor";
  const double attention = metadata.number(attention_key, 1);
  OrderedJson scaling = OrderedJson::object();
  for (const auto& [from, to] : kScalingKeys) {
    OrderedJson given = metadata.value("rope.scaling." + std::string(from));
    if (!given.is_null()) scaling[std::string(to)] = std::move(given);
  }
  const OrderedJson all = factors_in(parts, "rope_freqs.weight");
  OrderedJson shorter = factors_in(parts, "rope_factors_short.weight");
  OrderedJson longer = factors_in(parts, "rope_factors_long.weight");
  if (!all.is_null()) shorter = longer = all;
  if (!longer.is_null()) {
    const auto original = scaling.find("original_max_position_embeddings");
    return {{"rope_type", "longrope"},
            {"short_factor", shorter.is_null() ? longer : shorter},
            {"long_factor", longer},
            {"attention_factor", attention},
            {"original_max_position_embeddings",
             original == scaling.end() ? metadata.value("context_length") : *original}};
  }
  if (!scaling.contains("factor")) {
    // The name of files that llama.cpp's converter wrote until September 2023.
    OrderedJson given = metadata.value("rope.scale_linear");
    if (!given.is_null()) scaling["factor"] = std::move(given);
  }
  OrderedJson type = metadata.value("rope.scaling.type");
  if (type.is_null() && scaling.contains("factor")) type = "linear";  // llama.cpp's default
  const std::string name = type.is_string() ? type.get<std::string>() : "none";
  if (name == "yarn") {
    // llama.cpp multiplies it by the factor that is Hugging Face's default.
    const auto factor = scaling.find("factor");
    const double stretch =
        factor != scaling.end() && factor->is_number() ? factor->get<double>() : 1;
    if (attention != 1 && stretch >= 1)
      scaling["attention_factor"] = attention * (1 + 0.1 * std::log(stretch));
  } else if (attention != 1) {
    metadata.refuse(attention_key, "it must be 1 beside the scaling '" + shown_name(name) + "'");
  }
  if (name == "none") return nullptr;
  scaling["rope_type"] = name;
  return scaling;
}

}  // namespace

std::vector<std::shared_ptr<ByteSource>> safetensors_of_gguf(
    const std::vector<std::shared_ptr<ByteSource>>& files) {
  std::vector<GgufPart> parts = read_gguf_parts(files);
  const OrderedJson metadata = parts.front().header.metadata;
  std::vector<std::shared_ptr<ByteSource>> views;
  for (auto& [source, header] : parts) {
    if (header.tensors.empty() && parts.size() > 1) continue;  // a part that has the metadata only
    header.metadata = metadata;
    views.push_back(view_of(std::move(source), std::move(header)));
  }
  if (views.empty()) throw FormatError(files.front()->name(), "it must have at least one tensor");
  return views;
}

Config config_of_gguf(const std::vector<std::shared_ptr<ByteSource>>& files) {
  const std::vector<GgufPart> parts = read_gguf_parts(files);
  const auto& [source, header] = parts.front();
  const Converted* const conversion = conversion_of(header.metadata);
  const ModelMetadata metadata(parts.front());
  OrderedJson config = OrderedJson::object();
  const std::string architecture = architecture_of(header.metadata);
  if (!architecture.empty())
    config["model_type"] =
        conversion == nullptr ? architecture : std::string(conversion->model_type);
  for (const auto& [from, to] : kKeys) {
    OrderedJson given = metadata.value(std::string(from));
    if (!given.is_null()) config[std::string(to)] = std::move(given);
  }
  // llama.cpp's word for none.
  if (const auto window = config.find("sliding_window");
      window != config.end() && is_zero(*window)) {
    config.erase("sliding_window");
  }
  // llama.cpp's default, by which the rows of rotary keys were put in Hugging Face's order.
  if (config.contains("num_attention_heads") && !config.contains("num_key_value_heads")) {
    config["num_key_value_heads"] = config["num_attention_heads"];
  }
  const double turned = metadata.number("rope.dimension_count", 0);
  const double heads = metadata.number("attention.head_count", 0);
  double width = metadata.number("attention.key_length", 0);
  if (width == 0 && heads > 0) width = std::floor(metadata.number("embedding_length", 0) / heads);
  if (turned > 0 && turned < width) config["partial_rotary_factor"] = turned / width;
  if (conversion != nullptr) {
    OrderedJson scaling = rotary_scaling(parts, metadata);
    if (!scaling.is_null()) config["rope_scaling"] = std::move(scaling);
    if (has_window_base(*conversion)) add_window_keys(metadata, config);
    if (conversion->normalized_experts) config["norm_topk_prob"] = true;
    OrderedJson unread = unread_keys(metadata, *conversion);
    if (!unread.empty()) config[std::string(kUnreadKeys)] = std::move(unread);
    if (conversion->wide_scale_layers > 0 && heads > 0 && width > 0) {
      const bool wide = metadata.number("block_count", 0) == conversion->wide_scale_layers;
      config["query_pre_attn_scalar"] =
          wide ? metadata.number("embedding_length", 0) / heads : width;
    }
  }
  config["tie_word_embeddings"] =
      std::none_of(parts.begin(), parts.end(), [](const GgufPart& part) {
        return std::any_of(part.header.tensors.begin(), part.header.tensors.end(),
                           [](const GgufTensor& it) { return it.name == "output.weight"; });
      });
  return Config::parse(write_json(config), source->name());
}

}  // namespace eigenscope
