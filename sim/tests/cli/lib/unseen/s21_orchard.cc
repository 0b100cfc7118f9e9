/* Cause: operation::complete(), lines 79-87: done is tested in one critical section (82) and set in another (87), the completion is posted in between (85): the pickers and the deadline both see done == false and both post. Harm: assert(of.resumed == 1) in run(), line 116 (or line 144, a completion is left in the queue). Fix: test and set in one critical section. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

struct job {
    struct promise_type {
        job get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
};

struct completion {
    struct operation *of;
    int crates;
};

class scheduler {
public:
    void post(completion what)
    {
        std::lock_guard lock(mutex_);
        queue_.push_back(what);
        some_.notify_one();
    }

    completion next()
    {
        std::unique_lock lock(mutex_);
        some_.wait(lock, [&] { return !queue_.empty(); });
        completion what = queue_.front();
        queue_.pop_front();
        return what;
    }

    bool idle()
    {
        std::lock_guard lock(mutex_);
        return queue_.empty();
    }

private:
    std::mutex mutex_;
    std::condition_variable some_;
    std::deque<completion> queue_;
};

// Completed once: by the pickers with their crates, or by the deadline with none.
struct operation {
    scheduler *on = nullptr;
    std::mutex mutex;
    bool done = false;
    int resumed = 0;
    int crates = 0;
    std::coroutine_handle<> waiting;

    void complete(int how_many)
    {
#ifdef FIXED
        std::lock_guard lock(mutex);
        if (done) {
            return;
        }
        done = true;
        on->post({this, how_many});
#else
        {
            std::lock_guard lock(mutex);
            if (done) {
                return;
            }
        }
        on->post({this, how_many});
        std::lock_guard lock(mutex);
        done = true;
#endif
    }

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle) { waiting = handle; }
    int await_resume() const { return crates; }
};

struct farm {
    scheduler work;
    std::vector<int> totals;
    int running = 0;
};

job harvest(farm &on, operation &trees)
{
    on.running++;
    int crates = co_await trees;
    on.totals.push_back(crates);
    on.running--;
}

void run(farm &on)
{
    while (on.running > 0 || !on.work.idle()) {
        completion what = on.work.next();
        operation &of = *what.of;
        of.resumed++;
        assert(of.resumed == 1);
        of.crates = what.crates;
        of.waiting.resume();
    }
}

int main()
{
    farm here;
    operation apples, pears;
    for (operation *each : {&apples, &pears}) {
        each->on = &here.work;
        harvest(here, *each);
    }
    std::thread pickers([&] {
        for (operation *each : {&apples, &pears}) {
            std::this_thread::sleep_for(1ms);
            each->complete(12);
        }
    });
    std::thread deadline([&] {
        std::this_thread::sleep_for(6ms);
        apples.complete(0);
        pears.complete(0);
    });
    run(here);
    pickers.join();
    deadline.join();
    assert(here.work.idle());
    std::printf("%zu harvests\n", here.totals.size());
    return 0;
}
