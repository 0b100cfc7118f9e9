/* Cause: Keeper::settle(), line 50-64: settled is checked (51), the lock is given back for the journal (57-59), and settled is set only then (61). Order: the radio's and the clock's thread both pass the check; both push the coroutine's handle (64). The first resumes it; it begins the second hail, and the second push resumes it there although that hail has not been settled (or, in the last hail, resumes a coroutine that is done). Harm: assert 111 (settled), 88 or 145. Fix: set it under the same lock as the check (55). */
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

enum class Outcome { Answered, Silent };

class Journal {
public:
    void note(const char *line)
    {
        std::lock_guard guard(mutex_);
        lines_.push_back(line);
    }

private:
    std::mutex mutex_;
    std::vector<std::string> lines_;
};

class Keeper;

struct Hail {
    Keeper &keeper;
    useconds_t patience_us;
    useconds_t answer_us;
    std::coroutine_handle<> waiting = nullptr;
    bool settled = false;
    Outcome outcome = Outcome::Silent;
    std::thread radio, clock;

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> handle);
    Outcome await_resume();
};

/* Runs the coroutine of the watch; others settle hails. */
class Keeper {
public:
    void settle(Hail &hail, Outcome outcome)
    {
        std::unique_lock lock(mutex_);
        if (hail.settled) {
            return;
        }
#ifdef FIXED
        hail.settled = true;
#endif
        lock.unlock();
        journal_.note(outcome == Outcome::Answered ? "a ship answers" : "no answer");
        lock.lock();
#ifndef FIXED
        hail.settled = true;
#endif
        hail.outcome = outcome;
        resumable_.push_back(hail.waiting);
        wake_.notify_one();
    }

    void watch_begins()
    {
        std::lock_guard guard(mutex_);
        watches_++;
    }

    void watch_ends()
    {
        std::lock_guard guard(mutex_);
        watches_--;
    }

    void run()
    {
        std::unique_lock lock(mutex_);
        while (watches_ > 0 || !resumable_.empty()) {
            wake_.wait(lock, [this] { return !resumable_.empty(); });
            std::coroutine_handle<> handle = resumable_.front();
            resumable_.pop_front();
            lock.unlock();
            assert(!handle.done());
            handle.resume();
            lock.lock();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<std::coroutine_handle<>> resumable_;
    Journal journal_;
    int watches_ = 0;
};

void Hail::await_suspend(std::coroutine_handle<> handle)
{
    waiting = handle;
    radio = std::thread([this] { usleep(answer_us); keeper.settle(*this, Outcome::Answered); });
    clock = std::thread([this] { usleep(patience_us); keeper.settle(*this, Outcome::Silent); });
}

Outcome Hail::await_resume()
{
    assert(settled);
    radio.join();
    clock.join();
    return outcome;
}

struct Watch {
    struct promise_type {
        Watch get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::abort(); }
    };
    std::coroutine_handle<promise_type> handle;
};

static Watch night(Keeper &keeper, std::vector<Outcome> &outcomes)
{
    keeper.watch_begins();
    outcomes.push_back(co_await Hail{keeper, 5000, 2000, nullptr, false, Outcome::Silent, {}, {}});
    outcomes.push_back(co_await Hail{keeper, 3000, 6000, nullptr, false, Outcome::Silent, {}, {}});
    keeper.watch_ends();
}

int main()
{
    Keeper keeper;
    std::vector<Outcome> outcomes;
    Watch watch = night(keeper, outcomes);
    keeper.run();
    assert(outcomes.size() == 2);
    watch.handle.destroy();
    std::printf("the night is over\n");
    return 0;
}
