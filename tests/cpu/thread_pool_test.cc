// The pool: every index once, from any thread, within tasks, after fork.
#include "cpu/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace fia::testing {
namespace {

struct Counts {
  explicit Counts(std::int64_t count) : each(static_cast<std::size_t>(count)) {}

  bool AllOnce() const {
    for (const std::atomic<int>& count : each) {
      if (count.load() != 1) return false;
    }
    return true;
  }

  std::vector<std::atomic<int>> each;
};

void Count(void* argument, std::int64_t index) {
  ++static_cast<Counts*>(argument)->each[static_cast<std::size_t>(index)];
}

TEST(ThreadPool, EveryIndexRunsOnce) {
  for (const std::int64_t count : {0, 1, 2, 3, 8, 1, 40, 5}) {
    for (int repeat = 0; repeat < 50; ++repeat) {
      Counts counts(count);
      RunInPool(count, Count, &counts);
      ASSERT_TRUE(counts.AllOnce()) << count;
    }
  }
}

struct Meeting {
  std::atomic<int> present{0};
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

// Returns when four tasks run at the same time, or after ten seconds.
void Meet(void* argument, std::int64_t) {
  auto& meeting = *static_cast<Meeting*>(argument);
  {
    const std::lock_guard lock(meeting.mutex);
    meeting.threads.insert(std::this_thread::get_id());
  }
  ++meeting.present;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (meeting.present < 4 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
}

TEST(ThreadPool, TasksRunAtTheSameTime) {
  Meeting meeting;
  RunInPool(4, Meet, &meeting);
  EXPECT_EQ(meeting.threads.size(), 4u);
  EXPECT_EQ(meeting.threads.count(std::this_thread::get_id()), 1u);
}

void Nest(void* argument, std::int64_t) {
  Counts inner(10);
  RunInPool(10, Count, &inner);
  if (inner.AllOnce()) ++*static_cast<std::atomic<int>*>(argument);
}

TEST(ThreadPool, TasksMayUseThePool) {
  std::atomic<int> complete{0};
  RunInPool(6, Nest, &complete);
  EXPECT_EQ(complete, 6);
}

TEST(ThreadPool, ManyThreadsMayUseItAtOnce) {
  std::atomic<int> complete{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 6; ++thread) {
    threads.emplace_back([&complete] {
      for (int repeat = 0; repeat < 200; ++repeat) {
        Counts counts(7);
        RunInPool(7, Count, &counts);
        if (counts.AllOnce()) ++complete;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(complete, 6 * 200);
}

#if !defined(__SANITIZE_THREAD__)
TEST(ThreadPoolForkTest, WorksInTheChild) {
  Counts before(4);
  RunInPool(4, Count, &before);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Meeting meeting;
    RunInPool(4, Meet, &meeting);
    exit(meeting.threads.size() == 4 ? 0 : 1);  // runs the library's end in the child as well
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  Counts after(4);
  RunInPool(4, Count, &after);
  EXPECT_TRUE(after.AllOnce());
}
#endif

}  // namespace
}  // namespace fia::testing
