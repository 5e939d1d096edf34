// A run in a .safetensors file: the weights by GPT-2's names, so that other programs (and `eigenscope heads`) can read
// them, and the state that resuming the run needs.
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

/// Key of `extra` in write_training_file with the path of a run's separate validation text.
inline constexpr const char* kValidationKey = "validation";
/// The path under kValidationKey in the file; empty for a run validated on the last tenth of its text.
std::string validation_of(const Safetensors& file);

/// True if the run that wrote the file is trained on this text, and for a file without a fingerprint.
bool is_text_of(const Safetensors& file, const Text& text);
/// Throws InvalidArgument ("text") unless is_text_of.
void check_text_of(const Safetensors& file, const Text& text);

/// Completed steps of the run that wrote the file, or a snapshot of eigenscope_monitor.py; none for other files.
std::optional<Eigen::Index> training_step(const Safetensors& file);

struct TrainingState {
  TrainSettings settings;
  Tokenizer tokenizer;
  std::string text;  ///< fingerprint() of the text; empty if unknown
  Eigen::Index step = 0;
  std::vector<double> targets;              ///< m* of every head
  Vector<float> parameters, first, second;  ///< trained numbers and their AdamW moments
  std::vector<float> regularizer;           ///< Regularizer::state
  double lowest_loss = std::numeric_limits<double>::quiet_NaN();  ///< NaN in files without it
  Eigen::Index lowest_step = 0;
};

/// The weights by their names. They refer to the model, which must outlive them.
std::vector<TensorToWrite> named_weights(const Model<float>& model);

/// The bytes of the file; `extra` is added to its metadata.
std::vector<std::byte> write_training_file(const TrainingState& state, const Model<float>& model,
                                           const std::map<std::string, std::string>& extra = {});

/// The named weights, settings, tokenizer and step without the state that resuming needs, rounded to `format`.
/// read_model reads the result.
std::vector<std::byte> write_model_file(const TrainingState& state, const Model<float>& model,
                                        TensorFormat format);

/// The whole state. Throws FormatError naming the key of the metadata or the tensor that is missing, whose shape
/// differs from that of the settings or whose numbers are not finite.
TrainingState read_training_file(const Safetensors& file);

/// The model from the named weights, without the state of the optimizer. Throws as read_training_file does.
struct TrainedModel {
  TrainSettings settings;
  Tokenizer tokenizer;
  Model<float> model;
};
TrainedModel read_model(const Safetensors& file);

/// The text of the config.json beside the file.
std::string config_text(const ModelSettings& settings);

}  // namespace eigenscope
