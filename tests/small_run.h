// The short training run of the tests, and its text.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "safetensors_writer.h"
#include "support/random.h"
#include "training/trainer.h"
#include "training/training_file.h"

namespace eigenscope::testing {

/// A text with some order in it, from a counter.
inline std::string made_text(std::size_t size) {
  const std::vector<std::string> words{"call ", "me ", "ishmael ", "some ", "years ", "ago ", "\n"};
  std::string text;
  for (std::size_t i = 0; text.size() < size; ++i)
    text += words[random_bits(1, 2, i) % words.size()];
  return text.substr(0, size);
}

inline TrainSettings small_run() {
  TrainSettings settings;
  settings.model.width = 16;
  settings.model.depth = 2;
  settings.model.heads = 2;
  settings.model.length = 8;
  settings.model.mlp_ratio = 2;
  settings.batch = 4;
  settings.optimizer.steps = 12;
  settings.optimizer.warmup = 3;
  settings.log_every = 3;
  settings.eval_batches = 2;
  return settings;
}

/// Of a finished run on the bytes of a text, through the file without optimizer state.
inline TrainedModel trained_model(const TrainSettings& settings, const std::string& text) {
  Trainer trainer(settings, std::make_shared<const Text>(byte_text(text)));
  while (!trainer.advance(100)) continue;
  return read_model(
      Safetensors(std::make_shared<MemorySource>("weights", trainer.weights(TensorFormat::f32))));
}

inline std::shared_ptr<const Text> small_text() {
  return std::make_shared<const Text>(byte_text(made_text(2000)));
}

/// A run on the small text that goes on to its end from its checkpoint after some steps.
inline Trainer resumed(const TrainSettings& settings, Eigen::Index steps) {
  Trainer first(settings, small_text());
  first.advance(steps);
  Trainer second(*open(first.checkpoint()), small_text());
  second.advance(settings.optimizer.steps);
  return second;
}

}  // namespace eigenscope::testing
