// Cause: s4_shrink.cc:81 shrink() joins a worker while it holds the mutex of the pool, which that worker needs to report the job that it still has, so that neither of them ever continues.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

// A pool that gives each worker its own mailbox, and can be made smaller.

class mailbox {
public:
    void put(int job)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        jobs_.push_back(job);
        changed_.notify_one();
    }

    void close()
    {
        std::lock_guard<std::mutex> guard(mutex_);
        closed_ = true;
        changed_.notify_one();
    }

    // Returns 0 when the mailbox is closed and empty.
    int take()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return closed_ || !jobs_.empty(); });
        if (jobs_.empty())
            return 0;
        int job = jobs_.front();
        jobs_.pop_front();
        return job;
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<int> jobs_;
    bool closed_ = false;
};

class pool {
public:
    explicit pool(size_t size)
    {
        for (size_t i = 0; i < size; i++) {
            workers_.push_back(std::make_unique<worker>());
            workers_.back()->thread = std::thread([this, &box = workers_.back()->box] { work(box); });
        }
    }

    ~pool() { shrink(0); }

    void submit(int job)
    {
        std::lock_guard<std::mutex> guard(mutex_);
        workers_[next_++ % workers_.size()]->box.put(job);
    }

    void shrink(size_t size)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        while (workers_.size() > size) {
            auto last = std::move(workers_.back());
            workers_.pop_back();
            last->box.close();
#ifdef FIXED
            lock.unlock();
            last->thread.join();
            lock.lock();
#else
            last->thread.join();
#endif
        }
    }

    int wait_for(int jobs)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        finished_.wait(lock, [&] { return done_ == jobs; });
        return sum_;
    }

private:
    struct worker {
        mailbox box;
        std::thread thread;
    };

    void work(mailbox &box)
    {
        while (int job = box.take()) {
            usleep(300);
            std::lock_guard<std::mutex> guard(mutex_);
            sum_ += job;
            done_++;
            finished_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable finished_;
    std::vector<std::unique_ptr<worker>> workers_;
    size_t next_ = 0;
    int done_ = 0, sum_ = 0;
};

int main()
{
    pool jobs(3);
    for (int i = 1; i <= 6; i++)
        jobs.submit(i);
    usleep(15000); // the rush hour is over
    jobs.shrink(1);
    jobs.submit(7);
    int sum = jobs.wait_for(7);
    assert(sum == 28);
    std::printf("sum %d\n", sum);
    return 0;
}
