// Cause: pool::work(), the lines after the job: `active` is decremented and `idle` notified without the mutex. If that
// happens after wait_idle() has evaluated its predicate (active is still 1) and before it sleeps in idle.wait(), the
// notification finds no waiter; no other job ends after it, so wait_idle() sleeps forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class pool {
  public:
    explicit pool(unsigned count)
    {
        for (unsigned i = 0; i < count; i++)
            threads.emplace_back([this] { work(); });
    }

    ~pool()
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            stopped = true;
        }
        wanted.notify_all();
        for (auto &thread : threads)
            thread.join();
    }

    void post(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> lock(mutex);
            jobs.push_back(std::move(job));
        }
        wanted.notify_one();
    }

    void wait_idle()
    {
        std::unique_lock<std::mutex> lock(mutex);
        idle.wait(lock, [this] { return jobs.empty() && active == 0; });
    }

  private:
    void work()
    {
        std::unique_lock<std::mutex> lock(mutex);
        for (;;) {
            wanted.wait(lock, [this] { return stopped || !jobs.empty(); });
            if (jobs.empty())
                return;
            auto job = std::move(jobs.front());
            jobs.pop_front();
            active++;
            lock.unlock();
            job();
#ifdef FIXED
            lock.lock();
            active--;
            idle.notify_all();
#else
            active--;
            idle.notify_all();
            lock.lock();
#endif
        }
    }

    std::mutex mutex;
    std::condition_variable wanted;
    std::condition_variable idle;
    std::deque<std::function<void()>> jobs;
    std::atomic<int> active{0};
    bool stopped = false;
    std::vector<std::thread> threads;
};

int main()
{
    std::atomic<int> done{0};
    pool workers(2);
    for (int i = 0; i < 3; i++)
        workers.post([&done] { done++; });
    workers.wait_idle();
    std::printf("%d done\n", done.load());
    return done == 3 ? 0 : 1;
}
