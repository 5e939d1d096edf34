#include "bindings/localize/module.h"

#include <array>

namespace eigenscope::bindings {

std::span<const JobMaker> job_makers() {
  static constexpr std::array<JobMaker, 3> kMakers{make_setting_job, make_grid_job, make_head_job};
  return kMakers;
}

}  // namespace eigenscope::bindings
