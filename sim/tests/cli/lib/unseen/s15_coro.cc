/* Cause: latch::await_suspend(), line 97: between await_ready and here the latch may have been opened, and then
 * nothing resumes the coroutine that joins the list now; repair: look at `open` again under the lock. */
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

/* A page is built of parts by coroutines on two threads; the template must be loaded first. */

struct part {
    struct promise_type {
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
    std::coroutine_handle<> handle;
};

class pool
{
  public:
    void post(std::coroutine_handle<> ready)
    {
        std::lock_guard guard(lock);
        queue.push_back(ready);
        changed.notify_one();
    }

    void close()
    {
        std::lock_guard guard(lock);
        closed = true;
        changed.notify_all();
    }

    void run()
    {
        for (;;) {
            std::unique_lock guard(lock);
            changed.wait(guard, [&] { return closed || !queue.empty(); });
            if (queue.empty()) {
                return;
            }
            std::coroutine_handle<> next = queue.front();
            queue.pop_front();
            guard.unlock();
            next.resume();
        }
    }

  private:
    std::mutex lock;
    std::condition_variable changed;
    std::deque<std::coroutine_handle<>> queue;
    bool closed = false;
};

struct latch {
    pool &on;
    std::mutex lock;
    bool open = false;
    std::vector<std::coroutine_handle<>> waiting;

    bool await_ready()
    {
        std::lock_guard guard(lock);
        return open;
    }
    bool await_suspend(std::coroutine_handle<> self)
    {
        std::lock_guard guard(lock);
#ifdef FIXED
        if (open) {
            return false;
        }
#endif
        waiting.push_back(self);
        return true;
    }
    void await_resume()
    {
    }
    void set()
    {
        std::unique_lock guard(lock);
        open = true;
        std::vector<std::coroutine_handle<>> all;
        all.swap(waiting);
        guard.unlock();
        for (std::coroutine_handle<> each : all) {
            on.post(each);
        }
    }
};

struct page {
    std::mutex lock;
    std::condition_variable done;
    int parts = 0;
};

static part
render(latch &loaded, page &into)
{
    co_await loaded;
    std::lock_guard guard(into.lock);
    into.parts++;
    into.done.notify_one();
}

static part
load(latch &loaded)
{
    loaded.set();
    co_return;
}

int
main()
{
    pool workers;
    latch loaded{workers, {}, false, {}};
    page front;
    workers.post(render(loaded, front).handle);
    workers.post(load(loaded).handle);
    workers.post(render(loaded, front).handle);
    std::thread first([&] { workers.run(); });
    std::thread second([&] { workers.run(); });
    {
        std::unique_lock guard(front.lock);
        front.done.wait(guard, [&] { return front.parts == 2; });
    }
    workers.close();
    first.join();
    second.join();
    std::printf("%d parts\n", front.parts);
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
