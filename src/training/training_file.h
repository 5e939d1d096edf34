// A run in a .safetensors file: the weights by GPT-2's names, so that other programs (and `eigenscope
// heads`) can read them, and beside them what going on needs.
//
// Tensors: wte, wpe, h.N.ln_1, h.N.attn.c_attn (d x 3 d, queries, keys, values), ..., ln_f, lm_head as
// Hugging Face's GPT2LMHeadModel has them, without prefix; training.parameters, training.first_moment and
// training.second_moment, each all the numbers that the optimizer trains in one vector; the state of the
// regularizer, by the name in its row. With sigmaReparam the named weights are the effective ones, W_hat.
// Grouped keys have no name in GPT-2: their c_attn has (H + 2 G) d_h columns, which `heads` refuses. With rotary
// positions there is no wpe; QK-norm adds attn.q_norm and attn.k_norm. Metadata: format, every setting by its
// name, tokenizer, text (its fingerprint), step, targets, lowest_loss and lowest_step; a setting that is younger than
// the file has its default.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "checkpoint/write_safetensors.h"
#include "training/model.h"
#include "training/text.h"

namespace eigenscope {

/// The key of `extra` below under which a run keeps the path of its own validation text.
inline constexpr const char* kValidationKey = "validation";
/// The path that the file keeps there; empty for a run validated on the last tenth of its text.
std::string validation_of(const Safetensors& file);

/// Whether the run that wrote the file learns from this text; true for a file that does not say.
bool is_text_of(const Safetensors& file, const Text& text);
/// Throws InvalidArgument ("text") unless is_text_of.
void check_text_of(const Safetensors& file, const Text& text);

/// Completed steps of the run that wrote the file, or a snapshot of eigenscope_monitor.py; none for other files.
std::optional<Eigen::Index> training_step(const Safetensors& file);

struct TrainingState {
  TrainSettings settings;
  Tokenizer tokenizer;
  std::string text;  ///< fingerprint of what the run learns from; empty where it is not known
  Eigen::Index step = 0;
  std::vector<double> targets;              ///< m* of every head
  Vector<float> parameters, first, second;  ///< as trained, with their AdamW state
  std::vector<float> regularizer;           ///< Regularizer::state
  double lowest_loss = std::numeric_limits<double>::quiet_NaN();  ///< NaN in files without it
  Eigen::Index lowest_step = 0;
};

/// The weights by their names, which refer to the model.
std::vector<TensorToWrite> named_weights(const Model<float>& model);

/// `extra` joins the metadata.
std::vector<std::byte> write_training_file(const TrainingState& state, const Model<float>& model,
                                           const std::map<std::string, std::string>& extra = {});

/// The same without what resuming needs, in any number format: for read_model.
std::vector<std::byte> write_model_file(const TrainingState& state, const Model<float>& model,
                                        TensorFormat format);

/// Settings, tokenizer and step. Throws FormatError naming the key of the metadata that is missing or
/// bad.
TrainingState read_training_header(const Safetensors& file);
/// All of it. Throws FormatError naming the tensor whose shape is not what the settings say, or whose
/// numbers are not finite.
TrainingState read_training_file(const Safetensors& file);

/// The model alone, from the named weights. Errors as for read_training_file.
struct TrainedModel {
  TrainSettings settings;
  Tokenizer tokenizer;
  Model<float> model;
};
TrainedModel read_model(const Safetensors& file);

/// The config.json that belongs beside the file.
std::string config_text(const ModelSettings& settings);

}  // namespace eigenscope
