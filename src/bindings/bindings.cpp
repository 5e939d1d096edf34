// What every WASM module exports: createJob. Shapes: web/engine/protocol.ts.
#include <emscripten/bind.h>

#include <exception>
#include <string>

#include "bindings/convert.h"
#include "bindings/job.h"
#include "support/error.h"

namespace eigenscope::bindings {
namespace {

[[noreturn]] void throw_to_script(const char* name, const std::string& field, const char* message) {
  val error = val::global("Error").new_(std::string(message));
  error.set("name", std::string(name));
  error.set("field", field);
  error.throw_();
  std::terminate();  // not reached: throw_ is not declared noreturn
}

/// Runs `body`; a C++ exception, which JavaScript would see as a bare number, becomes an Error.
template <class Body>
auto guarded(Body body) {
  try {
    return body();
  } catch (const InvalidArgument& error) {
    throw_to_script("InvalidArgument", error.field(), error.what());
  } catch (const FormatError& error) {
    throw_to_script("FormatError", error.item(), error.what());
  } catch (const std::exception& error) {
    throw_to_script("Error", "", error.what());
  }
}

class ScriptJob {
 public:
  explicit ScriptJob(std::unique_ptr<Job> job) : job_(std::move(job)) {}
  bool advance(double work) {
    return guarded([&] { return job_->advance(work); });
  }
  double progress() const { return job_->progress(); }
  val output() {
    return guarded([&] { return job_->output(); });
  }

 private:
  std::unique_ptr<Job> job_;
};

std::unique_ptr<ScriptJob> create_job(const std::string& name, const val& input) {
  return guarded([&] {
    for (const JobMaker make : job_makers()) {
      if (auto job = make(name, input)) return std::make_unique<ScriptJob>(std::move(job));
    }
    throw InvalidArgument("job", "there is no job called '" + name + "'");
  });
}

}  // namespace

EMSCRIPTEN_BINDINGS(eigenscope) {
  emscripten::class_<ScriptJob>("Job")
      .function("advance", &ScriptJob::advance)
      .function("progress", &ScriptJob::progress)
      .function("output", &ScriptJob::output);
  emscripten::function("createJob", &create_job);
}

}  // namespace eigenscope::bindings
