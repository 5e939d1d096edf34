// The model of llama-forward.json in GGUF.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gguf_writer.h"
#include "paths.h"
#include "tiny_models.h"

namespace eigenscope::testing {

/// llama.cpp's names of LLaMA's tensors, of one layer.
inline const std::map<std::string, std::string>& gguf_names() {
  static const std::map<std::string, std::string> names{
      {"embed_tokens", "token_embd"},
      {"norm", "output_norm"},
      {"lm_head", "output"},
      {"input_layernorm", "attn_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"post_attention_layernorm", "ffn_norm"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
  };
  return names;
}

inline std::string gguf_name(std::string name) {
  if (name.starts_with("model.")) name = name.substr(6);
  std::string prefix;
  if (name.starts_with("layers.")) {
    const std::size_t end = name.find('.', 7);
    prefix = "blk." + name.substr(7, end - 7) + ".";
    name = name.substr(end + 1);
  }
  const std::size_t ending = name.rfind('.');
  return prefix + gguf_names().at(name.substr(0, ending)) + name.substr(ending);
}

/// Rows (h, s, i) of a head's halves s as its neighbours (h, i, s): convert_hf_to_gguf.py's `permute`.
inline std::vector<double> with_neighbours(const std::vector<double>& values, std::size_t heads,
                                           std::size_t rows) {
  const std::size_t columns = values.size() / rows, width = rows / heads;
  std::vector<double> turned(values.size());
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t head = row / width, s = row % width / (width / 2), i = row % (width / 2);
    const std::size_t to = head * width + 2 * i + s;
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * columns), columns,
                turned.begin() + static_cast<std::ptrdiff_t>(to * columns));
  }
  return turned;
}

/// The model of llama-forward.json as llama.cpp's converter writes it.
inline GgufWriter llama_gguf() {
  GgufWriter writer;
  writer.text("general.architecture", "llama")
      .integer("llama.embedding_length", 8)
      .integer("llama.attention.key_length", 4)
      .integer("llama.attention.head_count", 4)
      .integer("llama.attention.head_count_kv", 2)
      .number("llama.attention.layer_norm_rms_epsilon", 0.001F)
      .number("llama.rope.freq_base", 50)
      .integer("llama.context_length", 16)
      .texts("tokenizer.ggml.tokens", 5000, "word");
  const TinyModel model = wave_model(reference("llama-forward.json"));
  for (const auto& [name, values] : model.values) {
    const std::vector<std::uint64_t>& shape = model.shapes.at(name);
    const bool query = name.find("q_proj") != std::string::npos,
               key = name.find("k_proj") != std::string::npos;
    const std::vector<double> stored =
        query || key ? with_neighbours(values, query ? 4 : 2, shape.front()) : values;
    writer.tensor(gguf_name(name), shape, 0, encode("F32", stored));
  }
  return writer;
}

}  // namespace eigenscope::testing
