// The training runs of a lab that trains several kinds of a model on the same data: numbered by seed, then by
// point (the values of the figure's axis), then by kind, and done one after the other in steps. Seeds can be
// divided among workers.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "statistics/estimate.h"
#include "support/error.h"
#include "support/parameter.h"
#include "training/adamw.h"

namespace eigenscope {

inline constexpr Parameter kTrainings{"trainings", integers(2, 1000), 5,
                                      "training runs, each with examples of its own"};

/// The stream of a kind of draws of training run number `training`; `Draw` ends with the value `count`.
template <class Draw>
std::uint64_t stream_of(std::uint64_t training, Draw draw) {
  return training * static_cast<std::uint64_t>(Draw::count) + static_cast<std::uint64_t>(draw);
}

/// The optimizer of a small model with this many parameters.
inline AdamW small_optimizer(Eigen::Index steps, Eigen::Index parameters) {
  OptimizerSettings settings;
  settings.steps = steps;
  settings.learning_rate = 1e-2;
  settings.warmup = 30;
  return AdamW(settings, Vector<float>::Constant(parameters, 0.1F));
}

/// The seeds first, first + stride, ... of one of `stride` workers.
struct SeedPartition {
  std::size_t first = 0, stride = 1;
};

/// `Run` is a training run under way and has `Eigen::Index step`; `Measures` is what is kept of one.
template <class Run, class Measures>
class PairedTrainings {
 public:
  /// Runs only the seeds of the partition; seeds below are counted among these.
  PairedTrainings(std::size_t kinds, std::size_t points, Eigen::Index seeds, Eigen::Index steps,
                  SeedPartition partition = {})
      : kinds_(kinds),
        points_(points),
        partition_(partition),
        seeds_((static_cast<std::size_t>(seeds) + partition.stride - 1 - partition.first) /
               partition.stride),
        steps_(steps) {}

  // Seed, point and kind of the present or next run.
  std::uint64_t seed() const {
    return partition_.first + done() / runs_of_seed() * partition_.stride;
  }
  std::size_t point() const { return done() % runs_of_seed() / kinds_; }
  std::size_t kind() const { return done() % kinds_; }
  bool first_of_seed() const { return done() % runs_of_seed() == 0; }

  std::size_t runs_of_seed() const { return kinds_ * points_; }
  std::size_t done() const { return results_.size(); }
  /// Share of the work that is done, in [0, 1].
  double progress() const {
    const double step =
        run_ && steps_ > 0 ? static_cast<double>(run_->step) / static_cast<double>(steps_) : 0;
    return (static_cast<double>(done()) + step) / static_cast<double>(runs_of_seed() * seeds_);
  }

  /// Does about `work` multiply-adds more; true when all runs are done. begin() gives a Run; step(run), one
  /// optimizer step, and measure(run, measures), after the last one, return their work.
  template <class Begin, class Step, class Measure>
  bool advance(double work, const Begin& begin, const Step& step, const Measure& measure) {
    for (double spent = 0; done() < runs_of_seed() * seeds_;) {
      if (spent >= work) return false;
      if (!run_) run_.emplace(begin());
      if (run_->step < steps_) {
        spent += step(*run_);
        ++run_->step;
      } else {
        Measures measures;
        spent += measure(*run_, measures);
        results_.push_back(std::move(measures));
        run_.reset();
      }
    }
    return true;
  }

  /// The measures of the runs that are done as bytes, for another process of the same build.
  std::vector<std::byte> bytes() const {
    static_assert(std::is_trivially_copyable_v<Measures>);
    const auto all = std::as_bytes(std::span(results_));
    return {all.begin(), all.end()};
  }
  /// Completes all runs from the bytes of all partitions, in their order. Throws InvalidArgument ("partitions") where
  /// these are too few.
  void join(const std::vector<std::vector<std::byte>>& partitions) {
    const std::size_t size_of_seed = runs_of_seed() * sizeof(Measures);
    results_.resize(seeds_ * runs_of_seed());
    for (std::size_t seed = 0; seed < seeds_; ++seed) {
      const std::vector<std::byte>& bytes = partitions[seed % partitions.size()];
      const std::size_t start = seed / partitions.size() * size_of_seed;
      if (bytes.size() < start + size_of_seed) {
        throw InvalidArgument("partitions", "be complete");
      }
      std::memcpy(&results_[seed * runs_of_seed()], bytes.data() + start, size_of_seed);
    }
  }

  /// Seeds for which the run of this point and kind is done.
  std::size_t finished(std::size_t point, std::size_t kind) const {
    return (done() + runs_of_seed() - point * kinds_ - kind - 1) / runs_of_seed();
  }
  /// Measures of the runs that are done, from the first run of a seed on.
  std::span<const Measures> results_from(std::size_t seed) const {
    return std::span(results_).subspan(seed * runs_of_seed());
  }
  /// Mean of value(measures), or of a member of the measures, over the seeds that are finished.
  template <class Value>
  Estimate over(std::size_t point, std::size_t kind, const Value& value) const {
    return estimate_over(finished(point, kind), [&](std::size_t seed) {
      return std::invoke(value, results_from(seed)[point * kinds_ + kind]);
    });
  }
  /// Mean of value(measures, measures of the other kind at this point) over the seeds that are finished.
  template <class Value>
  Estimate over(std::size_t point, std::size_t kind, std::size_t other, const Value& value) const {
    return estimate_over(finished(point, std::max(kind, other)), [&](std::size_t seed) {
      const auto at_point = results_from(seed).subspan(point * kinds_);
      return value(at_point[kind], at_point[other]);
    });
  }

 private:
  std::size_t kinds_, points_;
  SeedPartition partition_;
  std::size_t seeds_;  // number of seeds of the partition
  Eigen::Index steps_;
  std::vector<Measures> results_;  // measures of the runs that are done
  std::optional<Run> run_;
};

}  // namespace eigenscope
