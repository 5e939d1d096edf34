// The jobs of the page's first section, Localize: settings, grids of them, heads of checkpoints.
#pragma once

#include "bindings/job.h"

namespace eigenscope::bindings {

std::unique_ptr<Job> make_setting_job(const std::string& name, const emscripten::val& input);
std::unique_ptr<Job> make_grid_job(const std::string& name, const emscripten::val& input);
std::unique_ptr<Job> make_head_job(const std::string& name, const emscripten::val& input);

}  // namespace eigenscope::bindings
