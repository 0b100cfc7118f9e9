// Cause: c_sleepers.cc:86 a worker that found nothing counts itself as sleeping and sleeps, without looking again: a task pushed in between wakes none
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <atomic>
#include <cstdio>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <semaphore.h>

class Pool {
public:
    explicit Pool(int threads)
    {
        sem_init(&wake_, 0, 0);
        for (int i = 0; i < threads; i++)
            workers_.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        for (std::size_t i = 0; i < workers_.size(); i++)
            submit(nullptr);
        for (auto &w : workers_)
            w.join();
        sem_destroy(&wake_);
    }

    void submit(std::function<void()> task)
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            tasks_.push_back(std::move(task));
        }
        int n = sleepers_.load();
        while (n > 0)
            if (sleepers_.compare_exchange_weak(n, n - 1)) {
                sem_post(&wake_);
                break;
            }
    }

private:
    bool take(std::function<void()> &task)
    {
        std::lock_guard<std::mutex> hold(lock_);
        if (tasks_.empty())
            return false;
        task = std::move(tasks_.front());
        tasks_.pop_front();
        return true;
    }

    // Nothing left to retract: a permit was posted for us, and some worker looks once more.
    void retract()
    {
        int n = sleepers_.load();
        while (n > 0)
            if (sleepers_.compare_exchange_weak(n, n - 1))
                return;
    }

    void sleep()
    {
        while (sem_wait(&wake_) != 0)
            ;
    }

    void work()
    {
        for (;;) {
            std::function<void()> task;
            if (!take(task)) {
                sleepers_.fetch_add(1);
#ifdef FIXED
                if (take(task)) {
                    retract();
                } else {
                    sleep();
                    continue;
                }
#else
                sleep();
                continue;
#endif
            }
            if (!task)
                return;
            task();
        }
    }

    std::mutex lock_;
    std::deque<std::function<void()>> tasks_;
    std::atomic<int> sleepers_{0};
    sem_t wake_;
    std::vector<std::thread> workers_;
};

int main()
{
    std::atomic<int> sum{0};
    {
        Pool pool(2);
        for (int i = 1; i <= 3; i++)
            pool.submit([&sum, i] { sum += i; });
    }
    std::printf("sum %d\n", sum.load());
    return sum == 6 ? 0 : 1;
}
