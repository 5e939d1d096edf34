// Computations as JavaScript sees them: a job that advances in steps.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <string>

namespace eigenscope::bindings {

class Job {
 public:
  virtual ~Job() = default;
  /// Does about `work` multiply-adds more; true when the job is done.
  virtual bool advance(double work) = 0;
  /// In [0, 1].
  virtual double progress() const = 0;
  /// The result so far; once done, the result. Shapes: web/engine/protocol.ts.
  virtual emscripten::val output() = 0;
};

/// Makes the job called `name`, or returns null when the room does not know it. Throw what the
/// library throws.
std::unique_ptr<Job> make_setting_job(const std::string& name, const emscripten::val& input);
std::unique_ptr<Job> make_grid_job(const std::string& name, const emscripten::val& input);
std::unique_ptr<Job> make_head_job(const std::string& name, const emscripten::val& input);

}  // namespace eigenscope::bindings
