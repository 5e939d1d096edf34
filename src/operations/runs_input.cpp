#include "operations/runs_input.h"

namespace eigenscope {

std::vector<TrainedModel> read_runs(const std::vector<File>& runs) {
  std::vector<TrainedModel> models;
  for (const File& run : runs) models.push_back(read_model(Safetensors(run)));
  return models;
}

}  // namespace eigenscope
