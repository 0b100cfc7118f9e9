// Cause: s4_promise.cc:35 then() looks whether the value is there before it takes the mutex and not again under it, so that a continuation stored after set() has taken the list away is never called.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

// A promise with continuations.

template <typename T> class shared_state {
public:
    void set(T value)
    {
        std::vector<std::function<void(const T &)>> ready;
        {
            std::lock_guard<std::mutex> guard(mutex_);
            value_ = std::move(value);
            done_ = true;
            ready.swap(continuations_);
        }
        for (auto &continuation : ready)
            continuation(value_);
    }

    void then(std::function<void(const T &)> continuation)
    {
        if (!done_) {
            std::lock_guard<std::mutex> guard(mutex_);
#ifdef FIXED
            if (!done_)
#endif
            {
                continuations_.push_back(std::move(continuation));
                return;
            }
        }
        continuation(value_);
    }

private:
    std::mutex mutex_;
    std::atomic<bool> done_{false};
    T value_{};
    std::vector<std::function<void(const T &)>> continuations_;
};

class countdown {
public:
    explicit countdown(int count) : count_(count) {}

    void done(int amount)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        sum_ += amount;
        if (--count_ == 0)
            zero_.notify_all();
    }

    int wait()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        zero_.wait(lock, [this] { return count_ == 0; });
        return sum_;
    }

private:
    std::mutex mutex_;
    std::condition_variable zero_;
    int count_, sum_ = 0;
};

int main()
{
    constexpr int requests = 3;
    countdown all(requests);
    std::vector<std::shared_ptr<shared_state<int>>> answers;
    std::vector<std::thread> backends;
    for (int i = 0; i < requests; i++) {
        auto answer = std::make_shared<shared_state<int>>();
        answers.push_back(answer);
        backends.emplace_back([answer, i] {
            usleep(600 * (i + 1));
            answer->set(10 * (i + 1));
        });
    }
    for (auto &answer : answers) {
        usleep(250);
        answer->then([&all](const int &value) { all.done(value); });
    }
    int sum = all.wait();
    for (auto &backend : backends)
        backend.join();
    assert(sum == 60);
    std::printf("sum %d\n", sum);
    return 0;
}
