// A progress line on standard error, where a person is watching.
#pragma once

#include <unistd.h>

#include <Eigen/Core>
#include <cstdio>

namespace eigenscope::cli {

/// Shows "done of all noun" until the end of its scope, before which nothing else should be written
/// to the terminal; silent when standard error is not one.
class Progress {
 public:
  explicit Progress(const char* noun) : noun_(noun), watched_(isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (watched_) std::fputs("\r\033[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(double done, double all) const {
    if (watched_) std::fprintf(stderr, "\r\033[K%.0f of %.0f %s", done, all, noun_);
  }

 private:
  const char* noun_;
  bool watched_;
};

/// Runs to its end a job that has advance(steps), work_per_step(), steps_done() and
/// steps_wanted(), and shows how far it is.
template <class Job>
void run_with_progress(Job& job, const char* noun) {
  const Progress progress(noun);
  constexpr double kWorkPerStep = 2e8;  // a fraction of a second
  const auto step = static_cast<Eigen::Index>(1 + kWorkPerStep / job.work_per_step());
  while (!job.advance(step)) {
    progress.show(static_cast<double>(job.steps_done()), static_cast<double>(job.steps_wanted()));
  }
}

}  // namespace eigenscope::cli
