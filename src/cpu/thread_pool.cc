#include "cpu/thread_pool.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace fia {
namespace {

// Indices handed out to whoever asks.
struct Job {
  void (*task)(void* argument, std::int64_t index) = nullptr;
  void* argument = nullptr;
  std::int64_t count = 0;
  std::atomic<std::int64_t> next{0};

  void Run() noexcept {
    for (;;) {
      const std::int64_t index = next.fetch_add(1, std::memory_order_relaxed);
      if (index >= count) return;
      task(argument, index);
    }
  }
};

// Signals are for the program's own threads, but for those that a thread raises by a fault of its own.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) sigdelset(&all, fault);
    pthread_sigmask(SIG_SETMASK, &all, &previous_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &previous_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t previous_;
};

// Threads that wait for a job. One job at a time: who has claimed the pool runs it.
class ThreadPool {
 public:
  explicit ThreadPool(ThreadPool* abandoned) noexcept : abandoned_(abandoned) {}

  // Threads do not survive a fork: in the child the pool is not ours.
  bool Ours() const noexcept { return owner_ == getpid(); }
  bool Claim() noexcept { return !claimed_.exchange(true, std::memory_order_acquire); }
  void Release() noexcept { claimed_.store(false, std::memory_order_release); }

  // By the claimant: runs the job with up to count - 1 threads beside the caller.
  void Run(Job* job) noexcept {
    Grow(job->count - 1);
    {
      const std::lock_guard lock(mutex_);
      job_ = job;
      places_ = job->count - 1;
    }
    if (job->count - 1 < static_cast<std::int64_t>(threads_.size())) {
      for (std::int64_t helper = 0; helper < job->count - 1; ++helper) wake_.notify_one();
    } else {
      wake_.notify_all();
    }
    job->Run();
    std::unique_lock lock(mutex_);
    job_ = nullptr;  // who has not come by now is not needed any more
    finished_.wait(lock, [this] { return active_ == 0; });
  }

  void Stop() noexcept {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    std::vector<std::thread>().swap(threads_);
  }

 private:
  // As many threads as can be made: fewer do the same work.
  void Grow(std::int64_t wanted) noexcept {
    if (static_cast<std::int64_t>(threads_.size()) >= wanted) return;
    const BlockedSignals blocked;
    try {
      while (static_cast<std::int64_t>(threads_.size()) < wanted) {
        threads_.emplace_back([this] { Help(); });
      }
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
  }

  void Help() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || (job_ != nullptr && places_ > 0); });
      if (stopping_) return;
      Job* job = job_;
      --places_;
      ++active_;
      lock.unlock();
      job->Run();
      lock.lock();
      if (--active_ == 0) finished_.notify_one();
    }
  }

  const pid_t owner_ = getpid();
  [[maybe_unused]] ThreadPool* const
      abandoned_;  // of the process before a fork: kept reachable, never touched
  std::atomic<bool> claimed_{false};
  std::vector<std::thread> threads_;  // the claimant's
  std::mutex mutex_;                  // guards what follows
  std::condition_variable wake_;
  std::condition_variable finished_;
  Job* job_ = nullptr;
  std::int64_t places_ = 0;  // threads that may still join the job
  std::int64_t active_ = 0;  // threads at work
  bool stopping_ = false;
};

// The pool of this process, made on first use, stopped when the program ends or the library is unloaded.
class PoolOwner {
 public:
  constexpr PoolOwner() noexcept = default;
  ~PoolOwner() {
    closed_.store(true, std::memory_order_release);
    ThreadPool* pool = pool_.load(std::memory_order_acquire);
    // A pool at work now belongs to a thread that outlives the program's end: it is left alone. The memory
    // stays in any case, claimed for good, because such a thread may be about to claim it.
    if (pool != nullptr && pool->Ours() && pool->Claim()) pool->Stop();
  }
  PoolOwner(const PoolOwner&) = delete;
  PoolOwner& operator=(const PoolOwner&) = delete;

  // Null when there is none to be had.
  ThreadPool* Get() noexcept {
    if (closed_.load(std::memory_order_acquire)) return nullptr;
    ThreadPool* pool = pool_.load(std::memory_order_acquire);
    if (pool != nullptr && pool->Ours()) return pool;
    auto* fresh = new (std::nothrow) ThreadPool(pool);
    if (fresh == nullptr || pool_.compare_exchange_strong(pool, fresh, std::memory_order_acq_rel)) {
      return fresh;
    }
    delete fresh;
    return pool;  // another thread's, made meanwhile
  }

 private:
  std::atomic<ThreadPool*> pool_{nullptr};
  std::atomic<bool> closed_{false};
};

PoolOwner the_pool;

}  // namespace

void RunInPool(std::int64_t count, void (*task)(void* argument, std::int64_t index),
               void* argument) noexcept {
  Job job;
  job.task = task;
  job.argument = argument;
  job.count = count;
  ThreadPool* pool = count > 1 ? the_pool.Get() : nullptr;
  if (pool == nullptr || !pool->Claim()) {
    job.Run();
    return;
  }
  pool->Run(&job);
  pool->Release();
}

}  // namespace fia
