/* A pool of threads with a queue each, that steal from each other and sleep on a C++20 atomic when all are empty.
 * Cause: pool::run() (line 128): the ticket on which an idle thread sleeps is read after its look at the queues, so what
 * is submitted to a queue that it has passed does not wake it. Repair: read the ticket before the look. */
#include <atomic>
#include <cassert>
#include <cstdio>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace
{

struct job {
    int depth;   /* How many jobs it splits off. */
    bool pinned; /* It uses what its thread has open, and is not stolen. */
};

class local_queue
{
  public:
    void push(job j)
    {
        std::lock_guard<std::mutex> guard(lock);
        jobs.push_back(j);
    }

    std::optional<job> pop()
    {
        std::lock_guard<std::mutex> guard(lock);
        if (jobs.empty())
            return std::nullopt;
        job j = jobs.back();
        jobs.pop_back();
        return j;
    }

    std::optional<job> steal()
    {
        std::lock_guard<std::mutex> guard(lock);
        for (auto at = jobs.begin(); at != jobs.end(); ++at) {
            if (!at->pinned) {
                job j = *at;
                jobs.erase(at);
                return j;
            }
        }
        return std::nullopt;
    }

  private:
    std::mutex lock;
    std::deque<job> jobs;
};

class pool
{
  public:
    explicit pool(unsigned count) : queues(count)
    {
        for (unsigned i = 0; i < count; i++)
            threads.emplace_back([this, i] { run(i); });
    }

    ~pool()
    {
        stopping.store(true);
        announce();
        for (std::thread &t : threads)
            t.join();
    }

    void submit(unsigned to, job j)
    {
        open.fetch_add(1);
        queues[to % queues.size()].push(j);
        announce();
    }

    /* Until all jobs, and what they have split off, are done. */
    void drain()
    {
        for (int n = open.load(); n != 0; n = open.load())
            open.wait(n);
    }

    int completed() const
    {
        return done.load();
    }

  private:
    void announce()
    {
        epoch.fetch_add(1);
        epoch.notify_all();
    }

    std::optional<job> find(unsigned self)
    {
        if (std::optional<job> own = queues[self].pop())
            return own;
        for (unsigned i = 1; i < queues.size(); i++)
            if (std::optional<job> other = queues[(self + i) % queues.size()].steal())
                return other;
        return std::nullopt;
    }

    void execute(unsigned self, job j)
    {
        for (int i = 0; i < j.depth; i++)
            submit(self + 1 + static_cast<unsigned>(i), job{j.depth - 1, i == 0});
        done.fetch_add(1);
        if (open.fetch_sub(1) == 1)
            open.notify_all();
    }

    void run(unsigned self)
    {
        while (!stopping.load()) {
#ifdef FIXED
            unsigned ticket = epoch.load();
            std::optional<job> found = find(self);
#else
            std::optional<job> found = find(self);
            unsigned ticket = epoch.load();
#endif
            if (found)
                execute(self, *found);
            else if (!stopping.load())
                epoch.wait(ticket);
        }
    }

    std::vector<local_queue> queues;
    std::vector<std::thread> threads;
    std::atomic<unsigned> epoch{0};
    std::atomic<int> open{0};
    std::atomic<int> done{0};
    std::atomic<bool> stopping{false};
};

} // namespace

int main()
{
    pool workers(2);
    workers.submit(0, job{2, false});
    workers.submit(1, job{1, true});
    workers.drain();
    /* A job of depth 2 is 1 + 2 * 2 jobs, one of depth 1 is 1 + 1. */
    assert(workers.completed() == 7);
    std::printf("%d jobs\n", workers.completed());
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
