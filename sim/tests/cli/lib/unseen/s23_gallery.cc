/* Cause: two completions both resume one coroutine: the claim is not atomic. answer() reads resumed under the lock (46) but sets it only in a second critical section (51-54). Order: storage reads resumed == false (46), unlocks; the timer's expire() takes the lock, reads false as well, sets it (66-67); both call resume() (56 and 72). Harm: the coroutine is resumed twice: it has ended, its frame is freed (or it runs on the other thread): crash or use after free, or pictures == 2 at 122. Fix: test and set in one critical section (39-43). (The deadlines 10 ms and 12 ms are near enough to meet.) */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

using namespace std::chrono_literals;

struct visit {
    struct promise_type {
        visit get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct request {
    std::mutex lock;
    bool answered = false;
    bool expired = false;
    bool resumed = false;
    std::coroutine_handle<> who;
};

// Called by the storage thread.
static void answer(const std::shared_ptr<request> &to)
{
    bool go;
    {
        std::lock_guard hold(to->lock);
#ifdef FIXED
        go = !to->resumed;
        to->resumed = true;
        if (go)
            to->answered = true;
#else
        to->answered = true;
        go = !to->resumed;
#endif
    }
    if (go) {
#ifndef FIXED
        {
            std::lock_guard hold(to->lock);
            to->resumed = true;
        }
#endif
        to->who.resume();
    }
}

// Called by the timer thread.
static void expire(const std::shared_ptr<request> &to)
{
    bool go;
    {
        std::lock_guard hold(to->lock);
        go = !to->resumed;
        to->resumed = true;
        if (go)
            to->expired = true;
    }
    if (go)
        to->who.resume();
}

struct loading {
    std::shared_ptr<request> job;
    std::function<void()> start;
    loading(std::shared_ptr<request> with, std::function<void()> then)
        : job(std::move(with)), start(std::move(then))
    {
    }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> who)
    {
        auto begin = std::move(start); // the frame may be gone once it has begun
        job->who = who;
        begin();
    }
    bool await_resume() const { return job->answered; }
};

struct wall {
    std::mutex lock;
    std::condition_variable hung;
    int pictures = 0;
};

static visit show(wall &on, std::shared_ptr<request> job, std::function<void()> start)
{
    bool loaded = co_await loading(job, std::move(start));
    std::lock_guard hold(on.lock);
    on.pictures++;
    std::printf("%s\n", loaded ? "picture" : "placeholder");
    on.hung.notify_all();
}

int main()
{
    wall north;
    std::thread storage, timer;
    auto job = std::make_shared<request>();
    show(north, job, [&] {
        storage = std::thread([job] { std::this_thread::sleep_for(10ms); answer(job); });
        timer = std::thread([job] { std::this_thread::sleep_for(12ms); expire(job); });
    });
    {
        std::unique_lock hold(north.lock);
        north.hung.wait(hold, [&] { return north.pictures > 0; });
    }
    storage.join();
    timer.join();
    assert(north.pictures == 1);
}
