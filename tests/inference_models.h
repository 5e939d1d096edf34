// Forward passes of small models.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "checkpoint/open_checkpoint.h"
#include "inference/transformer.h"
#include "paths.h"
#include "tiny_models.h"

namespace eigenscope::testing {

/// MiniLM. What calls it has the tag [sample] (paths.h).
inline std::shared_ptr<const Transformer> minilm_transformer() {
  const Checkpoint checkpoint = open_checkpoint(minilm_folder());
  return std::make_shared<const Transformer>(checkpoint.tensors, *checkpoint.config);
}

/// A model of these tensors under a config.json.
inline std::shared_ptr<const Transformer> transformer_of(
    const TinyModel& model, const std::string& config = kTinyGpt2Config,
    ModelInput input = ModelInput::text) {
  return std::make_shared<const Transformer>(open(model.writer().bytes()), Config::parse(config),
                                             input);
}

/// The largest difference of columns over the largest number of those that are expected.
inline double difference(const Eigen::MatrixXf& found, const nlohmann::json& columns) {
  REQUIRE(found.cols() == static_cast<Eigen::Index>(columns.size()));
  double error = 0, largest = 0;
  for (Eigen::Index t = 0; t < found.cols(); ++t) {
    const auto column = columns.at(static_cast<std::size_t>(t)).get<std::vector<double>>();
    REQUIRE(found.rows() == static_cast<Eigen::Index>(column.size()));
    for (Eigen::Index i = 0; i < found.rows(); ++i) {
      const double expected = column[static_cast<std::size_t>(i)];
      error = std::max(error, std::abs(static_cast<double>(found(i, t)) - expected));
      largest = std::max(largest, std::abs(expected));
    }
  }
  return error / largest;
}

}  // namespace eigenscope::testing
