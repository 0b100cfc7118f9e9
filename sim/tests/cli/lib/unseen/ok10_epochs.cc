// SPDX-License-Identifier: Apache-2.0
/* atomics */
/*
 * Threads that sleep until an epoch is over: the counter is read before the queue is looked at, and the
 * wait is for that value, so a push in between is never missed. The waker skips the system call
 * where no one is about to sleep.
 */
#include <atomic>
#include <cstdio>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace
{

constexpr int jobs = 6;

class work_list
{
  public:
    void push(int job)
    {
        {
            std::lock_guard lock(mutex);
            list.push_back(job);
        }
        announce(false);
    }

    void close()
    {
        closed.store(true);
        announce(true);
    }

    /* Nothing: it is closed, and empty. */
    std::optional<int> pop()
    {
        for (;;) {
            if (std::optional<int> job = try_pop())
                return job;
            sleepers.fetch_add(1);
            unsigned seen = epoch.load();
            std::optional<int> job = try_pop();
            bool over = !job && closed.load();
            if (!job && !over)
                epoch.wait(seen);
            sleepers.fetch_sub(1);
            if (job)
                return job;
            if (over)
                return try_pop();
        }
    }

  private:
    void announce(bool all)
    {
        epoch.fetch_add(1);
        if (sleepers.load() == 0)
            return;
        if (all)
            epoch.notify_all();
        else
            epoch.notify_one();
    }

    std::optional<int> try_pop()
    {
        std::lock_guard lock(mutex);
        if (list.empty())
            return std::nullopt;
        int job = list.back();
        list.pop_back();
        return job;
    }

    std::mutex mutex;
    std::vector<int> list;
    std::atomic<unsigned> epoch{0};
    std::atomic<int> sleepers{0};
    std::atomic<bool> closed{false};
};

} /* namespace */

int
main()
{
    work_list list;
    std::atomic<int> sum{0};
    auto work = [&] {
        while (std::optional<int> job = list.pop())
            sum += *job;
    };
    {
        std::jthread a(work);
        std::jthread b(work);
        for (int i = 1; i <= jobs; i++)
            list.push(i);
        list.close();
    }
    std::printf("%d\n", sum.load());
    return sum == jobs * (jobs + 1) / 2 ? 0 : 1;
}
