// Operations: what the command line and the page may ask of the library, each with a name, fields of its
// input and result, and a job that computes it in steps.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "contract/input.h"
#include "contract/result.h"

namespace eigenscope {

/// The part of an operation's work that one of several workers does.
struct Partition {
  static constexpr int kAll = -1;
  int number = kAll;  ///< from 0 to Operation::partitions - 1
  /// Job::partial_result of all partitions in their order, for the last job, when all partitions are done.
  std::vector<std::vector<std::byte>> results = {};
};

/// Number of the parts of a job's work that are done, such as 7 of 22 layers.
struct PartsDone {
  Eigen::Index done, all;
  const char* name;
};

/// A computation that advances in steps.
class Job {
 public:
  virtual ~Job() = default;
  /// Does about `work` multiply-adds more; true when the job is done.
  virtual bool advance(double work) = 0;
  /// Share of the work that is done, in [0, 1].
  virtual double progress() const = 0;
  /// The progress in parts that have a name; none for jobs without such parts.
  virtual std::optional<PartsDone> parts() const { return {}; }
  /// A number that differs whenever the result so far differs, so that a caller requests only new results.
  virtual double revision() const { return progress(); }
  /// Writes the result so far; after a step that failed, the result of the steps before it.
  virtual void write(ResultFields& out) const = 0;
  /// The result of a partition that is done, as bytes for the last job; empty for jobs without one.
  virtual std::vector<std::byte> partial_result() const { return {}; }
};

struct Operation {
  const char* name;  ///< name of the command and of the page's job
  Help meaning;
  Help example;  ///< lines of the command line
  /// The list of the result whose objects are the rows of its CSV, where it has no arrays beside its
  /// lists or those are empty; null for none.
  const char* rows;
  void (*describe_input)(InputFields& fields);
  void (*describe_result)(ResultFields& fields);  ///< null without kHasHelp
  /// Reads the input and makes the job; throws what the library throws.
  std::unique_ptr<Job> (*make)(InputFields& fields, const Partition& partition);
  /// Number of partitions of the work.
  int partitions = 1;
  /// True if a last job makes the result from those of the partitions. Otherwise the result has the partitions' lists,
  /// one after another, and the sums of their numbers.
  bool joins = false;

  std::unique_ptr<Job> job(InputFields& fields) const { return make(fields, {}); }
};

/// Calls visit(field) for each field of the input.
template <class Visit>
void for_each_field(const Operation& operation, const Visit& visit) {
  struct Fields final : InputFields {
    explicit Fields(const Visit& visit) : each(visit) {}
    void visit(const InputField& field) override { each(field); }
    const Visit& each;
  };
  Fields fields(visit);
  operation.describe_input(fields);
}

/// Checks `text` for one field of an operation, with the error messages of a run. Throws InvalidArgument
/// naming the field, also when the operation has none of this name.
void check_text(const Operation& operation, const std::string& field, const std::string& text);

/// `Computation` is made from a const Input&, has advance(work), progress() and result(), whose type a function
/// describe(ResultFields&, const Result&) describes, and describe(InputFields&, Input&) the input. It may have
/// parts() and revision(). Where it divides its work it has kPartitions and is made from a const Input& and a const
/// Partition&; with partial_result() it joins the results of the partitions.
template <class Input, class Computation>
constexpr Operation operation(const char* name, Help meaning, Help example,
                              const char* rows = nullptr) {
  constexpr bool kDivides = requires { Computation::kPartitions; };
  constexpr bool kJoins = requires(const Computation& job) { job.partial_result(); };
  struct JobFor final : Job {
    JobFor(const Input& input, const Partition& partition) : computation(begun(input, partition)) {}
    static Computation begun(const Input& input, [[maybe_unused]] const Partition& partition) {
      if constexpr (kDivides)
        return Computation(input, partition);
      else
        return Computation(input);
    }
    bool advance(double work) override { return computation.advance(work); }
    double progress() const override { return computation.progress(); }
    std::optional<PartsDone> parts() const override {
      if constexpr (requires(const Computation& job) { job.parts(); }) return computation.parts();
      return {};
    }
    double revision() const override {
      if constexpr (requires(const Computation& job) { job.revision(); })
        return computation.revision();
      return computation.progress();
    }
    void write(ResultFields& out) const override { describe(out, computation.result()); }
    std::vector<std::byte> partial_result() const override {
      if constexpr (kJoins) return computation.partial_result();
      return {};
    }
    Computation computation;
  };
  Operation made{name, meaning, example, rows, nullptr, nullptr, nullptr};
  made.describe_input = [](InputFields& fields) {
    Input input;
    describe(fields, input);
  };
  if constexpr (kHasHelp) {
    made.describe_result = [](ResultFields& fields) {
      using Result = decltype(std::declval<const Computation&>().result());
      describe(fields, Result{});
    };
  }
  made.make = [](InputFields& fields, const Partition& partition) -> std::unique_ptr<Job> {
    Input input;
    describe(fields, input);
    fields.end();
    return std::make_unique<JobFor>(input, partition);
  };
  if constexpr (kDivides) made.partitions = Computation::kPartitions;
  made.joins = kJoins;
  return made;
}

/// A computation that is short enough for one step.
template <auto compute>
class OneShotJob;
template <class Input, class Result, Result (*compute)(const Input&)>
class OneShotJob<compute> {
 public:
  explicit OneShotJob(const Input& input) : input_(input) {}
  bool advance(double) {
    result_ = compute(input_);
    done_ = true;
    return true;
  }
  double progress() const { return done_ ? 1 : 0; }
  const Result& result() const { return result_; }

 private:
  Input input_;
  Result result_{};
  bool done_ = false;
};

/// Advances a computation that has advance(steps), work_per_step(), steps_done() and steps_wanted() by about `work`
/// multiply-adds; true when it is done.
template <class Steps>
bool advance_by_work(Steps& steps, double work) {
  return steps.advance(1 + static_cast<Eigen::Index>(work / steps.work_per_step()));
}
template <class Steps>
double progress_of(const Steps& steps) {
  const auto wanted = static_cast<double>(steps.steps_wanted());
  return wanted > 0 ? static_cast<double>(steps.steps_done()) / wanted : 1;
}

/// The job of a computation that the input's begin() makes, or that is made from the input, and whose result so far
/// `result` reads. It advances by work, in steps as for advance_by_work, or step by step without an argument, and has
/// progress(), or steps as for progress_of.
template <auto result>
class JobOf;
template <class Result, class Computation, Result (*read_result)(const Computation&)>
class JobOf<read_result> {
 public:
  template <class Input>
  explicit JobOf(const Input& input) : computation_(begun(input)) {}
  bool advance(double work) {
    if constexpr (requires { computation_.work_per_step(); }) {
      return advance_by_work(computation_, work);
    } else if constexpr (requires { computation_.advance(); }) {
      return computation_.advance();
    } else {
      return computation_.advance(work);
    }
  }
  double progress() const {
    if constexpr (requires { computation_.progress(); }) {
      return computation_.progress();
    } else {
      return progress_of(computation_);
    }
  }
  Result result() const { return read_result(computation_); }

 private:
  template <class Input>
  static Computation begun(const Input& input) {
    if constexpr (requires { input.begin(); }) {
      return input.begin();
    } else {
      return Computation(input);
    }
  }

  Computation computation_;
};

}  // namespace eigenscope
