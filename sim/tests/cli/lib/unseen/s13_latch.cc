/* Coroutines on a pool of threads: stages of a build wait for each other with an asynchronous event.
 * Cause: Event::Awaiter::await_suspend() line 103: the waiter is linked without a second look whether the event has
 * been set since await_ready, and nobody resumes it; repair: look again with the lock held. */
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <deque>
#include <exception>
#include <mutex>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

class Executor
{
  public:
    explicit Executor(unsigned threads)
    {
        for (unsigned i = 0; i < threads; i++)
            workers.emplace_back([this] { run(); });
    }

    ~Executor()
    {
        {
            std::lock_guard lock(mutex);
            stopping = true;
        }
        changed.notify_all();
        for (std::thread &worker : workers)
            worker.join();
    }

    void post(std::coroutine_handle<> handle)
    {
        {
            std::lock_guard lock(mutex);
            ready.push_back(handle);
        }
        changed.notify_one();
    }

    /* co_await executor.schedule(): continue on one of its threads. */
    auto schedule()
    {
        struct Awaiter {
            Executor &executor;
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> handle) { executor.post(handle); }
            void await_resume() const noexcept {}
        };
        return Awaiter{*this};
    }

  private:
    void run()
    {
        std::unique_lock lock(mutex);
        for (;;) {
            changed.wait(lock, [this] { return stopping || !ready.empty(); });
            if (ready.empty())
                return;
            std::coroutine_handle<> handle = ready.front();
            ready.pop_front();
            lock.unlock();
            handle.resume();
            lock.lock();
        }
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::coroutine_handle<>> ready;
    bool stopping = false;
    std::vector<std::thread> workers;
};

/* Set once; every waiter continues on the executor. */
class Event
{
  public:
    explicit Event(Executor &on) : executor(on)
    {
    }

    struct Awaiter {
        Event &event;

        bool await_ready()
        {
            std::lock_guard lock(event.mutex);
            return event.is_set;
        }

        bool await_suspend(std::coroutine_handle<> handle)
        {
            std::lock_guard lock(event.mutex);
#ifdef FIXED
            if (event.is_set)
                return false;
#endif
            event.waiters.push_back(handle);
            return true;
        }

        void await_resume() const noexcept
        {
        }
    };

    Awaiter operator co_await()
    {
        return {*this};
    }

    void set()
    {
        std::vector<std::coroutine_handle<>> resumed;
        {
            std::lock_guard lock(mutex);
            is_set = true;
            resumed.swap(waiters);
        }
        for (std::coroutine_handle<> handle : resumed)
            executor.post(handle);
    }

  private:
    Executor &executor;
    std::mutex mutex;
    bool is_set = false;
    std::vector<std::coroutine_handle<>> waiters;
};

struct Detached {
    struct promise_type {
        Detached get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct Build {
    explicit Build(Executor &on) : executor(on), generated(on), compiled(on)
    {
    }

    Executor &executor;
    Event generated;
    Event compiled;
    int header = 0;
    int object = 0;
    std::counting_semaphore<8> finished{0};
};

static Detached generate(Build &build)
{
    co_await build.executor.schedule();
    build.header = 1;
    build.generated.set();
    build.finished.release();
}

static Detached compile(Build &build)
{
    co_await build.executor.schedule();
    co_await build.generated;
    build.object = build.header + 1;
    build.compiled.set();
    build.finished.release();
}

static Detached link(Build &build)
{
    co_await build.executor.schedule();
    co_await build.compiled;
    assert(build.object == 2);
    build.finished.release();
}

int main()
{
    Executor executor(2);
    Build build(executor);
    link(build);
    compile(build);
    generate(build);
    for (int i = 0; i < 3; i++)
        build.finished.acquire();
    return 0;
}
/* SPDX-License-Identifier: Apache-2.0 */
