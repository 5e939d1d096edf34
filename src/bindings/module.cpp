// Exports of the WASM module: createJob and createPartition, for every operation. `eigenscope schema` has the shapes of
// inputs and results.
#include <emscripten/bind.h>

#include <exception>
#include <string>

#include "bindings/values.h"
#include "operations/operations.h"
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
  } catch (const std::bad_alloc&) {
    throw_to_script("Error", "", kOutOfMemory);
  } catch (const std::length_error&) {
    throw_to_script("Error", "", kOutOfMemory);
  } catch (const std::exception& error) {
    throw_to_script("Error", "", error.what());
  }
}

const Operation& operation_called(const std::string& name) {
  for (const Operation* operation : kOperations) {
    if (name == operation->name) return *operation;
  }
  throw InvalidArgument("operation", "be one of the engine's", "found '" + name + "'");
}

/// The job `check`: one typed field of an operation.
class CheckJob final : public Job {
 public:
  explicit CheckJob(const val& input) {
    check_text(operation_called(input["operation"].as<std::string>()),
               input["field"].as<std::string>(), input["text"].as<std::string>());
  }
  bool advance(double) override { return true; }
  double progress() const override { return 1; }
  void write(ResultFields&) const override {}
};

class ScriptJob {
 public:
  explicit ScriptJob(std::unique_ptr<Job> job) : job_(std::move(job)) {}
  bool advance(double work) {
    return guarded([&] { return job_->advance(work); });
  }
  double progress() const {
    return guarded([&] { return job_->progress(); });
  }
  double revision() const {
    return guarded([&] { return job_->revision(); });
  }
  val output() {
    return guarded([&] {
      ScriptResult result;
      job_->write(result);
      return result.value();
    });
  }
  val partial_result() const {
    return guarded([&] {
      ScriptResult result;
      result.bytes("bytes", job_->partial_result(), false, {});
      return val(result.value()["bytes"]);
    });
  }

 private:
  std::unique_ptr<Job> job_;
};

std::unique_ptr<ScriptJob> create_partition(const std::string& name, const val& input, int number,
                                            const val& results) {
  return guarded([&] {
    if (name == "check") return std::make_unique<ScriptJob>(std::make_unique<CheckJob>(input));
    const Operation& operation = operation_called(name);
    Partition partition{number};
    const int count = results["length"].as<int>();
    for (int k = 0; k < count; ++k) partition.results.push_back(bytes_of("partitions", results[k]));
    if (number >= operation.partitions || (count != 0 && count != operation.partitions)) {
      throw InvalidArgument("partitions", "number " + std::to_string(operation.partitions));
    }
    ScriptInput fields(input);
    return std::make_unique<ScriptJob>(operation.make(fields, partition));
  });
}

std::unique_ptr<ScriptJob> create_job(const std::string& name, const val& input) {
  return create_partition(name, input, Partition::kAll, val::array());
}

}  // namespace

EMSCRIPTEN_BINDINGS(eigenscope) {
  emscripten::class_<ScriptJob>("Job")
      .function("advance", &ScriptJob::advance)
      .function("progress", &ScriptJob::progress)
      .function("revision", &ScriptJob::revision)
      .function("output", &ScriptJob::output)
      .function("found", &ScriptJob::partial_result);
  emscripten::function("createJob", &create_job);
  emscripten::function("createPartition", &create_partition);
}

}  // namespace eigenscope::bindings
