// Computations as JavaScript sees them: a job that advances in steps.
#pragma once

#include <emscripten/val.h>

#include <memory>
#include <span>
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

/// Makes the job called `name`, or returns null when it does not know it. Throws what the library
/// throws.
using JobMaker = std::unique_ptr<Job> (*)(const std::string& name, const emscripten::val& input);

/// The makers of this WASM module; each module, a section of the page, defines its own.
std::span<const JobMaker> job_makers();

}  // namespace eigenscope::bindings
