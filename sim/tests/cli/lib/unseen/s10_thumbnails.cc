// SPDX-License-Identifier: Apache-2.0
/* Cause: Gallery::index_album(), line 84: a job of the pool waits for other jobs of the same pool, so albums
   may hold all its threads; repair: compute inline what no thread has begun, by helping while waiting (run_one). */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

class Pool
{
  public:
    explicit Pool(unsigned size)
    {
        for (unsigned i = 0; i < size; i++)
            threads_.emplace_back([this] { work(); });
    }

    ~Pool()
    {
        {
            std::lock_guard guard(mutex_);
            closing_ = true;
        }
        changed_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }

    template <class F> auto submit(F f) -> std::future<decltype(f())>
    {
        auto task = std::make_shared<std::packaged_task<decltype(f())()>>(std::move(f));
        auto result = task->get_future();
        {
            std::lock_guard guard(mutex_);
            jobs_.emplace_back([task] { (*task)(); });
        }
        changed_.notify_one();
        return result;
    }

    bool run_one()
    {
        std::unique_lock lock(mutex_);
        if (jobs_.empty())
            return false;
        auto job = std::move(jobs_.back());
        jobs_.pop_back();
        lock.unlock();
        job();
        return true;
    }

  private:
    void work();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> jobs_;
    std::vector<std::thread> threads_;
    bool closing_ = false;
};

struct Gallery {
    Pool &pool;
    int index_album(int album);
};

int
Gallery::index_album(int album)
{
    std::vector<std::future<int>> sizes;
    for (int picture = 1; picture <= 2; picture++)
        sizes.push_back(pool.submit([=] { return album * 100 + picture; }));
    int total = 0;
    for (auto &size : sizes) {
#ifdef FIXED
        while (size.wait_for(std::chrono::seconds(0)) != std::future_status::ready &&
                pool.run_one())
            ;
#endif
        total += size.get();
    }
    return total;
}

void
Pool::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return closing_ || !jobs_.empty(); });
        if (jobs_.empty())
            return;
        auto job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
}

int
main()
{
    Pool pool(2);
    Gallery gallery{pool};
    auto first = pool.submit([&] { return gallery.index_album(1); });
    auto second = pool.submit([&] { return gallery.index_album(2); });
    int total = first.get() + second.get();
    assert(total == 203 + 403);
    std::printf("indexed %d\n", total);
    return 0;
}
