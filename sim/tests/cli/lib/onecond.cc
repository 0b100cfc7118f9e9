/*
 * onecond.cc -- a queue in C++ with one condition variable for both sides: a wake may go to the
 * wrong one. Every call is made by the C++ library, which has no line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <condition_variable>
#include <mutex>
#include <thread>

static std::mutex m;
static std::condition_variable changed;
static int jobs;
static bool closed;

static void
push()
{
    std::unique_lock<std::mutex> held(m);
    changed.wait(held, [] { return jobs < 1; });
    jobs++;
    changed.notify_one();
}

static bool
pop()
{
    std::unique_lock<std::mutex> held(m);
    changed.wait(held, [] { return jobs > 0 || closed; });
    bool got = jobs > 0;
    jobs -= got;
    changed.notify_one();
    return got;
}

static void
work()
{
    while (pop()) {
    }
}

static void
submit()
{
    for (int i = 0; i < 4; i++) {
        push();
    }
}

int
main()
{
    std::thread workers[] = {std::thread(work), std::thread(work)};
    std::thread senders[] = {std::thread(submit), std::thread(submit)};
    for (std::thread &sender : senders) {
        sender.join();
    }
    {
        std::lock_guard<std::mutex> held(m);
        closed = true;
        changed.notify_all();
    }
    for (std::thread &worker : workers) {
        worker.join();
    }
}
