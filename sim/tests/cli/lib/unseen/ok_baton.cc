// Correct.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
/* Many waiters and few signals: a notification is sent only where the queue was empty, and a
 * consumer that leaves something behind passes it on. */
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

constexpr int jobs = 6;
constexpr int consumers = 3;

class channel
{
  public:
    void put(int job)
    {
        bool first;
        {
            std::lock_guard hold(lock);
            first = queue.empty();
            queue.push_back(job);
        }
        if (first) {
            filled.notify_one();
        }
    }

    void close()
    {
        {
            std::lock_guard hold(lock);
            closed = true;
        }
        filled.notify_all();
    }

    bool take(int &job)
    {
        bool more;
        {
            std::unique_lock hold(lock);
            filled.wait(hold, [this] { return !queue.empty() || closed; });
            if (queue.empty()) {
                return false;
            }
            job = queue.front();
            queue.pop_front();
            more = !queue.empty();
        }
        if (more) {
            filled.notify_one();
        }
        return true;
    }

  private:
    std::mutex lock;
    std::condition_variable filled;
    std::deque<int> queue;
    bool closed = false;
};

int
main()
{
    channel work;
    std::mutex sum_lock;
    int sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < consumers; i++) {
        threads.emplace_back([&] {
            int job;
            while (work.take(job)) {
                std::lock_guard hold(sum_lock);
                sum += job;
            }
        });
    }
    for (int i = 1; i <= jobs; i++) {
        work.put(i);
    }
    work.close();
    for (std::thread &thread : threads) {
        thread.join();
    }
    std::printf("%d\n", sum);
    return sum == jobs * (jobs + 1) / 2 ? 0 : 1;
}
