#include "training/training_file.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "io/json_events.h"
#include "support/error.h"
#include "support/named_after.h"
#include "support/shared_parameters.h"
#include "training/regularizers/regularizer.h"
#include "training/text.h"

namespace eigenscope {
namespace {

using Eigen::Index;
using Shape = std::vector<std::uint64_t>;

constexpr const char* kFormat = "eigenscope training 1";
constexpr const char* kSnapshotFormat = "eigenscope snapshot 1";  // written by src/python
constexpr const char* kTextKey = "text";
constexpr const char* kParameters = "training.parameters";
constexpr const char* kFirst = "training.first_moment";
constexpr const char* kSecond = "training.second_moment";

// A column-major rows x columns block is a row-major columns x rows tensor.
Shape shape_of(const Block& block) {
  if (block.vector) return {static_cast<std::uint64_t>(block.rows)};
  return {static_cast<std::uint64_t>(block.columns), static_cast<std::uint64_t>(block.rows)};
}

TensorToWrite flat(const char* name, std::span<const float> values) {
  return {name, {values.size()}, values};
}
std::span<const float> span_of(const Vector<float>& vector) {
  return {vector.data(), static_cast<std::size_t>(vector.size())};
}

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

const std::string& entry(const Safetensors& file, const std::string& key) {
  const auto item = file.metadata().find(key);
  if (item == file.metadata().end()) {
    throw FormatError(key,
                      "the metadata must have it, as that of a checkpoint of `eigenscope train` "
                      "does, but it is missing");
  }
  return item->second;
}

// Reads an entry of the metadata; an InvalidArgument of `read` becomes a FormatError naming the key.
template <class Read>
void read_entry(const Safetensors& file, std::string_view name, bool later, Read read) {
  const std::string key(name);
  if (later && !file.metadata().contains(key)) return;
  const std::string& text = entry(file, key);
  try {
    read(text);
  } catch (const InvalidArgument& error) {
    throw FormatError(key, std::string("in the metadata: ") + error.what());
  }
}

std::vector<double> numbers_of(const Safetensors& file, const std::string& key) {
  const std::string& text = entry(file, key);
  std::vector<double> numbers;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* end = nullptr;
    numbers.push_back(std::strtod(at, &end));
    if (end == at || !std::isfinite(numbers.back()))
      throw FormatError(
          key, "it must be finite numbers in the metadata: found '" + shown_name(text) + "'");
    at = *end == ' ' ? end + 1 : end;
  }
  return numbers;
}

Index step_in(const Safetensors& file) {
  Index step = 0;
  read_entry(file, "step", false, [&](const std::string& text) {
    step = static_cast<Index>(parse_parameter(shared::kSteps, text));
  });
  return step;
}

void check_shape(const Safetensors& file, const std::string& name, const Shape& shape) {
  const TensorInfo& info = file.tensor(name);
  if (info.shape == shape) return;
  TensorInfo wanted;
  wanted.shape = shape;
  throw FormatError(shown_name(name), "its shape " + shape_text(info) + " is not " +
                                          shape_text(wanted) + ", the shape of these settings");
}

void check_shapes(const Safetensors& file, const ParameterLayout& layout) {
  for (const Block& block : layout.blocks) check_shape(file, block.name, shape_of(block));
}

// Reads a tensor whose shape is checked. Throws FormatError for a number that is not finite.
void read_floats(const Safetensors& file, const std::string& name, std::span<float> out) {
  std::vector<double> values(out.size());
  file.read_elements(name, 0, values);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(values[i]);
    if (!std::isfinite(out[i])) {
      throw FormatError(shown_name(name), "number " + std::to_string(i) + " is not finite");
    }
  }
}

Vector<float> read_vector(const Safetensors& file, const char* name, std::uint64_t size) {
  check_shape(file, name, {size});
  Vector<float> values(static_cast<Index>(size));
  read_floats(file, name, {values.data(), static_cast<std::size_t>(size)});
  return values;
}

// Settings, tokenizer and step.
std::map<std::string, std::string> metadata_of(const TrainingState& state) {
  std::map<std::string, std::string> metadata;
  metadata["format"] = kFormat;
  metadata["tokenizer"] = state.tokenizer.serialized();
  metadata["step"] = std::to_string(state.step);
  if (std::isfinite(state.lowest_loss)) {
    metadata["lowest_loss"] = exact(state.lowest_loss);
    metadata["lowest_step"] = std::to_string(state.lowest_step);
  }
  for (const NumberField& field : number_fields()) {
    metadata[std::string(field.name)] = exact(number_of(state.settings, field));
  }
  for (const ChoiceField& field : choice_fields()) {
    metadata[std::string(field.name)] = field.names[field.get(state.settings)].name;
  }
  return metadata;
}

}  // namespace

std::vector<TensorToWrite> named_weights(const Model<float>& model) {
  std::vector<TensorToWrite> tensors;
  for (const Block& block : model.layout().blocks) {
    tensors.push_back({block.name, shape_of(block),
                       span_of(model.parameters())
                           .subspan(static_cast<std::size_t>(block.offset),
                                    static_cast<std::size_t>(block.size()))});
  }
  return tensors;
}

std::string validation_of(const Safetensors& file) {
  const auto item = file.metadata().find(kValidationKey);
  return item == file.metadata().end() ? "" : item->second;
}

bool is_text_of(const Safetensors& file, const Text& text) {
  const auto item = file.metadata().find(kTextKey);
  return item == file.metadata().end() || item->second == fingerprint(text);
}

void check_text_of(const Safetensors& file, const Text& text) {
  if (is_text_of(file, text)) return;
  throw InvalidArgument("text", "be that of the resumed run", "its tokens differ");
}

std::optional<Index> training_step(const Safetensors& file) {
  const auto format = file.metadata().find("format");
  const bool is_ours = format != file.metadata().end() &&
                       (format->second == kFormat || format->second == kSnapshotFormat);
  return is_ours ? std::optional(step_in(file)) : std::nullopt;
}

std::vector<std::byte> write_training_file(const TrainingState& state, const Model<float>& model,
                                           const std::map<std::string, std::string>& extra) {
  std::vector<TensorToWrite> tensors = named_weights(model);
  tensors.push_back(flat(kParameters, span_of(state.parameters)));
  tensors.push_back(flat(kFirst, span_of(state.first)));
  tensors.push_back(flat(kSecond, span_of(state.second)));
  if (!state.regularizer.empty()) {
    const RegularizerRow& row = regularizer_row(state.settings.regularizer.kind);
    tensors.push_back(flat(row.facts.state, state.regularizer));
  }
  std::map<std::string, std::string> metadata = metadata_of(state);
  if (!state.text.empty()) metadata[kTextKey] = state.text;
  metadata.insert(extra.begin(), extra.end());
  std::string& targets = metadata["targets"];
  for (const double target : state.targets) targets += (targets.empty() ? "" : " ") + exact(target);
  return write_safetensors(tensors, metadata);
}

std::vector<std::byte> write_model_file(const TrainingState& state, const Model<float>& model,
                                        TensorFormat format) {
  return write_safetensors(named_weights(model), metadata_of(state), format);
}

namespace {

// Settings, tokenizer and step. Throws FormatError naming the key of the metadata that is missing or bad.
TrainingState header_of(const Safetensors& file) {
  if (entry(file, "format") != kFormat) {
    throw FormatError("format",
                      std::string("it must be '") + kFormat +
                          "' in the metadata of a checkpoint of `eigenscope train`, but is '" +
                          shown_name(entry(file, "format")) + "'");
  }
  TrainingState state;
  for (const NumberField& field : number_fields()) {
    read_entry(file, field.name, field.later, [&](const std::string& text) {
      set_number(state.settings, field, parse_parameter(field.parameter(), text));
    });
  }
  // The former name of qk_clip.
  read_entry(file, "logit_limit", true, [&](const std::string& text) {
    state.settings.optimizer.qk_clip = parse_parameter(training::kQkClip, text);
  });
  for (const ChoiceField& field : choice_fields()) {
    read_entry(file, field.name, field.later,
               [&](const std::string& text) { set_choice(state.settings, field, text); });
  }
  state.step = step_in(file);
  if (file.metadata().contains("lowest_loss")) {
    const std::vector<double> lowest = numbers_of(file, "lowest_loss");
    if (lowest.size() != 1) throw FormatError("lowest_loss", "it must be one number");
    state.lowest_loss = lowest.front();
    read_entry(file, "lowest_step", false, [&](const std::string& text) {
      state.lowest_step = static_cast<Index>(parse_parameter(shared::kSteps, text));
    });
  }
  if (state.step > state.settings.optimizer.steps) {
    throw FormatError("step", std::to_string(state.step) + " is after the last step, " +
                                  std::to_string(state.settings.optimizer.steps));
  }
  state.tokenizer = Tokenizer::parse(entry(file, "tokenizer"));
  state.settings.model.vocabulary =
      model_vocabulary(state.settings.model, state.tokenizer.vocabulary());
  try {
    check_training(state.settings);
  } catch (const InvalidArgument& error) {
    throw FormatError(error.field(), std::string("in the metadata: ") + error.what());
  }
  return state;
}

TrainingState state_of(const Safetensors& file) {
  TrainingState state = header_of(file);
  const ParameterLayout layout(state.settings.model);
  check_shapes(file, layout);
  const auto regularizer = make_regularizer<float>(state.settings, layout);
  auto count = static_cast<std::uint64_t>(layout.size);
  if (const auto* const reparam = regularizer->reparametrization()) {
    count += static_cast<std::uint64_t>(reparam->gains());
  }
  if (const std::size_t size = regularizer->state().size(); size > 0) {
    const RegularizerRow& row = regularizer_row(state.settings.regularizer.kind);
    const Vector<float> kept = read_vector(file, row.facts.state, size);
    state.regularizer.assign(kept.begin(), kept.end());
  }
  state.parameters = read_vector(file, kParameters, count);
  state.first = read_vector(file, kFirst, count);
  state.second = read_vector(file, kSecond, count);
  if (count > 0 && state.second.minCoeff() < 0) {
    throw FormatError(kSecond, "a mean of squares is negative");
  }
  state.targets = numbers_of(file, "targets");
  const auto heads =
      static_cast<std::size_t>(state.settings.model.depth * state.settings.model.heads);
  if (state.targets.size() != heads) {
    throw FormatError("targets",
                      "there must be one for each of " + std::to_string(heads) + " heads");
  }
  return state;
}

TrainedModel model_of(const Safetensors& file) {
  TrainingState state = header_of(file);
  check_shapes(file, ParameterLayout(state.settings.model));
  TrainedModel trained{state.settings, std::move(state.tokenizer),
                       Model<float>(state.settings.model)};
  for (const Block& block : trained.model.layout().blocks) {
    read_floats(
        file, block.name,
        {trained.model.parameters().data() + block.offset, static_cast<std::size_t>(block.size())});
  }
  return trained;
}

}  // namespace

TrainingState read_training_file(const Safetensors& file) {
  return named_after(file.name(), [&] { return state_of(file); });
}
TrainedModel read_model(const Safetensors& file) {
  return named_after(file.name(), [&] { return model_of(file); });
}

std::string config_text(const ModelSettings& settings) {
  std::string text = "{\n  \"model_type\": \"gpt2\",\n  \"activation_function\": \"gelu_new\",\n";
  const auto add = [&](const char* key, Index value) {
    text += std::string("  \"") + key + "\": " + std::to_string(value) + ",\n";
  };
  add("n_layer", settings.depth);
  add("n_head", settings.heads);
  add("n_head_kv", settings.groups());
  add("n_embd", settings.width);
  add("n_inner", settings.hidden());
  add("n_positions", settings.length);
  add("vocab_size", settings.vocabulary);
  text += std::string("  \"tie_word_embeddings\": ") +
          (settings.output == OutputKind::tied ? "true" : "false") + ",\n";
  text += std::string("  \"layer_norm\": \"") + (settings.norm == BlockNorm::pre ? "pre" : "post") +
          "\",\n";
  text += "  \"positions\": \"" + std::string(name_of(settings.positions)) + "\"";
  if (settings.attention != AttentionKind::softmax) {
    text += ",\n  \"attention_weights\": \"" + std::string(name_of(settings.attention)) + "\"";
  }
  text += "\n}\n";
  return text;
}

}  // namespace eigenscope
