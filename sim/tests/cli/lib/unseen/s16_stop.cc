/* Cause: run(), line 64: before the wait without a time `sleeping_until` keeps the value of an earlier sleep, which has passed; submit() compares with it, finds the new job later, and does not notify the thread that sleeps without end; repair: it is set to the end of time before that wait. */
// s16_stop.cc -- jobs that are due at a time, run by one thread; it is woken only for earlier ones.

#include <algorithm>
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

using clock_type = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct job {
    clock_type::time_point due;
    std::function<void()> run;
};

class agenda
{
  public:
    agenda() : thread([this](std::stop_token stop) { run(stop); })
    {
    }

    void submit(std::chrono::microseconds in, std::function<void()> what)
    {
        std::lock_guard guard(mutex);
        clock_type::time_point due = clock_type::now() + in;
        jobs.push_back({due, std::move(what)});
        std::push_heap(jobs.begin(), jobs.end(), later);
        if (due < sleeping_until) {
            changed.notify_one();
        }
    }

  private:
    static bool later(const job &a, const job &b)
    {
        return a.due > b.due;
    }

    // Takes the earliest job that is due.
    job take()
    {
        std::pop_heap(jobs.begin(), jobs.end(), later);
        job taken = std::move(jobs.back());
        jobs.pop_back();
        return taken;
    }

    void run(std::stop_token stop)
    {
        std::unique_lock lock(mutex);
        while (!stop.stop_requested()) {
            if (jobs.empty()) {
#ifdef FIXED
                sleeping_until = clock_type::time_point::max();
#endif
                changed.wait(lock, stop, [this] { return !jobs.empty(); });
                continue;
            }
            clock_type::time_point due = jobs.front().due;
            if (due > clock_type::now()) {
                sleeping_until = due;
                changed.wait_until(lock, stop, due,
                        [this, due] { return jobs.front().due < due; });
                continue;
            }
            job next = take();
            lock.unlock();
            next.run();
            lock.lock();
        }
    }

    std::mutex mutex;
    std::condition_variable_any changed;
    std::vector<job> jobs; // A heap: the earliest first.
    clock_type::time_point sleeping_until = clock_type::time_point::max();
    std::jthread thread;
};

// A dialogue: each answer starts the next question.
int
main()
{
    agenda timers;
    int answers = 0;
    for (int i = 0; i < 3; i++) {
        auto answer = std::make_shared<std::promise<int>>();
        std::future<int> got = answer->get_future();
        timers.submit(300us, [answer, i] { answer->set_value(i); });
        if (i == 1) {
            timers.submit(100us, [] {});
        }
        assert(got.get() == i);
        answers++;
    }
    assert(answers == 3);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
