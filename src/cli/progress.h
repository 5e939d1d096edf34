// A progress line on standard error, where a person is watching.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "contract/operation.h"

namespace eigenscope::cli {

/// Shows "done of all noun" and, after some seconds, the time left, until the end of its scope, before
/// which nothing else should be written to the terminal; silent when standard error is not one.
class Progress {
 public:
  explicit Progress(const char* noun = "percent")
      : noun_(noun), watched_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (watched_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// A share in [0, 1].
  void show(double share) const { show(100 * share, 100); }
  /// `from` was done before this began, by an earlier run.
  void show(double done, double all, double from = 0) const {
    show(done, all, noun_, (done - from) / (all - from));
  }
  /// The parts of a job of which this share of the work is done.
  void show(const PartsDone& parts, double share) const {
    show(static_cast<double>(parts.done), static_cast<double>(parts.all), parts.name, share);
  }

 private:
  /// `share`, in [0, 1], is of the work since construction.
  void show(double done, double all, const char* noun, double share) const {
    if (!watched_) return;
    std::fprintf(stderr, "\r\033[K%.0f of %.0f %s", done, all, noun);
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    if (passed.count() < 3 || share <= 0) return;
    const double left = passed.count() * (1 - share) / share;
    std::fprintf(stderr, left < 120 ? ", about %.0f s left" : ", about %.0f min left",
                 left < 120 ? left : left / 60);
  }

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const char* noun_;
  bool watched_;
};

}  // namespace eigenscope::cli
