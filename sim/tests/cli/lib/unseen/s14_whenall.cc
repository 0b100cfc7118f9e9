/* Coroutines on a small pool of threads, with a join of several that continues the one that awaits it.
 * Cause: when_all::await_suspend() (line 129): the parts are counted one by one as they are started, so one that is over
 * before the next is counted looks like the last. Repair: count all of them, then start them. */
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace
{

class pool
{
  public:
    explicit pool(unsigned count)
    {
        for (unsigned i = 0; i < count; i++)
            threads.emplace_back([this] { run(); });
    }

    ~pool()
    {
        {
            std::lock_guard<std::mutex> guard(lock);
            stopping = true;
        }
        work.notify_all();
        for (std::thread &t : threads)
            t.join();
    }

    void post(std::coroutine_handle<> handle)
    {
        {
            std::lock_guard<std::mutex> guard(lock);
            ready.push_back(handle);
        }
        work.notify_one();
    }

  private:
    void run()
    {
        std::unique_lock<std::mutex> guard(lock);
        for (;;) {
            work.wait(guard, [this] { return stopping || !ready.empty(); });
            if (ready.empty())
                return;
            std::coroutine_handle<> handle = ready.front();
            ready.pop_front();
            guard.unlock();
            handle.resume();
            guard.lock();
        }
    }

    std::mutex lock;
    std::condition_variable work;
    std::deque<std::coroutine_handle<>> ready;
    std::vector<std::thread> threads;
    bool stopping = false;
};

/* A coroutine that counts itself off in `open` at its end, and continues `then` where it is the last. */
struct part {
    struct promise_type {
        pool *runs_on = nullptr;
        std::atomic<int> *open = nullptr;
        std::coroutine_handle<> then;

        part get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept
        {
            return {};
        }
        std::suspend_never final_suspend() noexcept
        {
            if (open != nullptr && open->fetch_sub(1) == 1)
                runs_on->post(then);
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            std::terminate();
        }
    };

    std::coroutine_handle<promise_type> handle;
};

struct when_all {
    when_all(pool &on, std::vector<part> &&all) : runs_on(on), parts(std::move(all))
    {
    }

    pool &runs_on;
    std::vector<part> parts;
    std::atomic<int> open{0};

    bool await_ready() const
    {
        return parts.empty();
    }
    void await_suspend(std::coroutine_handle<> then)
    {
        std::vector<part> starts = std::move(parts);
        pool &on = runs_on;
#ifdef FIXED
        open = static_cast<int>(starts.size());
#endif
        for (part &p : starts) {
            p.handle.promise().runs_on = &on;
            p.handle.promise().open = &open;
            p.handle.promise().then = then;
#ifndef FIXED
            open.fetch_add(1);
#endif
            on.post(p.handle);
        }
    }
    void await_resume() const
    {
    }
};

struct totals {
    std::mutex lock;
    int sum = 0;
    int shards = 0;
};

part scan(totals &into, int shard)
{
    int found = 0;
    for (int row = 0; row < 4; row++)
        found += shard + row;
    std::lock_guard<std::mutex> guard(into.lock);
    into.sum += found;
    into.shards++;
    co_return;
}

struct gate {
    std::mutex lock;
    std::condition_variable opened;
    bool open = false;
};

part query(pool &on, totals &into, gate &answered)
{
    std::vector<part> scans;
    for (int shard = 0; shard < 3; shard++)
        scans.push_back(scan(into, shard));
    when_all join(on, std::move(scans));
    co_await join;
    {
        std::lock_guard<std::mutex> guard(into.lock);
        assert(into.shards == 3);
    }
    std::lock_guard<std::mutex> guard(answered.lock);
    answered.open = true;
    answered.opened.notify_one();
}

} // namespace

int main()
{
    totals result;
    gate answered;
    {
        pool workers(2);
        workers.post(query(workers, result, answered).handle);
        std::unique_lock<std::mutex> guard(answered.lock);
        answered.opened.wait(guard, [&] { return answered.open; });
    }
    assert(result.sum == 30);
    std::printf("sum %d\n", result.sum);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
