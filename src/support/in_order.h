// Tasks on as many threads as there are, their results in the order of the tasks.
#pragma once

#include <utility>
#include <vector>

#ifndef __EMSCRIPTEN__
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>
#endif

namespace eigenscope {

#ifdef __EMSCRIPTEN__

/// A page's worker has one thread.
inline std::size_t processors() { return 1; }

/// Runs each task at once.
template <class Result>
class InOrder {
 public:
  template <class Task>
  void add(Task task) {
    results_.push_back(task());
  }
  void finish() {}
  std::vector<Result> take() { return std::exchange(results_, {}); }

 private:
  std::vector<Result> results_;
};

#else

/// Number of tasks that run at once without waiting for a processor; at least 1.
inline std::size_t processors() { return std::max(1u, std::thread::hardware_concurrency()); }

/// Runs up to processors() + 1 tasks at once, so that no processor waits for a disk, but at most 8, which one reader
/// can supply and memory can hold. An exception of a task is thrown where its result would come, when no other task
/// runs any more; their results are lost. The threads stay until the end of this object, and with them what the tasks
/// keep for each thread.
template <class Result>
class InOrder {
 public:
  InOrder() = default;
  InOrder(const InOrder&) = delete;
  InOrder& operator=(const InOrder&) = delete;
  /// Tasks that no thread has begun are dropped.
  ~InOrder() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
      waiting_.clear();
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  template <class Task>
  void add(Task task) {
    const std::size_t most = std::clamp<std::size_t>(processors() + 1, 2, 8);
    if (running_.size() == most) finish_first();
    std::packaged_task<Result()> packaged(std::move(task));
    running_.push_back(packaged.get_future());
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(packaged));
    }
    wake_.notify_one();
    if (threads_.size() < running_.size()) threads_.emplace_back([this] { work(); });
  }
  /// Waits for all tasks.
  void finish() {
    while (!running_.empty()) finish_first();
  }
  std::vector<Result> take() { return std::exchange(results_, {}); }

 private:
  void finish_first() {
    std::future<Result> first = std::move(running_.front());
    running_.pop_front();
    try {
      results_.push_back(first.get());
    } catch (...) {
      for (const std::future<Result>& other : running_) other.wait();
      running_.clear();
      throw;
    }
  }

  void work() {
    for (;;) {
      std::packaged_task<Result()> task;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [this] { return ended_ || !waiting_.empty(); });
        if (ended_) return;
        task = std::move(waiting_.front());
        waiting_.pop_front();
      }
      task();
    }
  }

  std::deque<std::future<Result>> running_;
  std::vector<Result> results_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::packaged_task<Result()>> waiting_;  // tasks to begin next; guarded by mutex_
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

#endif

}  // namespace eigenscope
