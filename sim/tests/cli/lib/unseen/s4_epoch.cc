// Cause: s4_epoch.cc:65 the epoch is loaded after the queue was found empty, so that a job pushed in between has already changed it, and the worker waits for a change that has happened.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <vector>

// Workers that sleep on an atomic counter of pushes.

class executor {
public:
    explicit executor(int workers)
    {
        for (int i = 0; i < workers; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~executor()
    {
        for (size_t i = 0; i < threads_.size(); i++)
            push(nullptr);
        for (auto &thread : threads_)
            thread.join();
    }

    // A worker that gets an empty function ends.
    void push(std::function<void()> job)
    {
        {
            std::lock_guard<std::mutex> guard(mutex_);
            jobs_.push_back(std::move(job));
        }
        epoch_.fetch_add(1);
        epoch_.notify_one();
    }

private:
    std::optional<std::function<void()>> pop()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        if (jobs_.empty())
            return std::nullopt;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        return job;
    }

    void work()
    {
        for (;;) {
#ifdef FIXED
            unsigned seen = epoch_.load();
#endif
            auto job = pop();
            if (!job) {
#ifndef FIXED
                unsigned seen = epoch_.load();
#endif
                epoch_.wait(seen);
            } else if (*job) {
                (*job)();
            } else {
                return;
            }
        }
    }

    std::mutex mutex_;
    std::deque<std::function<void()>> jobs_;
    std::atomic<unsigned> epoch_{0};
    std::vector<std::thread> threads_;
};

int main()
{
    constexpr int jobs = 6;
    std::mutex mutex;
    std::condition_variable changed;
    int done = 0;
    {
        executor pool(2);
        for (int i = 0; i < jobs; i++) {
            pool.push([&] {
                usleep(300);
                std::lock_guard<std::mutex> guard(mutex);
                done++;
                changed.notify_one();
            });
            usleep(200);
        }
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return done == jobs; });
    }
    assert(done == jobs);
    std::printf("%d jobs\n", done);
    return 0;
}
