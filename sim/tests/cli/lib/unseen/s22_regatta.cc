/* Cause: Double resume of a coroutine. The awaiter's await_suspend registers the handle (47) and looks at fired afterwards, in another critical section (48). Order: skipper: await_ready false; add(crew); then fire() sets fired_, takes the list with this crew (26-32), and resumes it (34); the skipper's has_fired() is true, so await_suspend returns false, and the coroutine continues a second time on the skipper's thread. Both go through await_resume. Harm: assertion line 92 (started == 1; the second one makes it 2), or a crash: resume() of a coroutine that has finished already (line 34). Fix: lines 45 and 67-74: check and registration in one critical section. */
#include <cassert>
#include <coroutine>
#include <mutex>
#include <thread>
#include <vector>

struct boat {
    struct promise_type {
        boat get_return_object()
        {
            return boat{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};

// Fired once; whoever awaits it afterwards does not wait.
class gun {
public:
    void fire()
    {
        std::vector<std::coroutine_handle<>> crews;
        {
            std::lock_guard guard(mutex_);
            fired_ = true;
            crews.swap(waiting_);
        }
        for (auto crew : crews)
            crew.resume();
    }

    auto operator co_await()
    {
        struct awaiter {
            gun &of;
            bool await_ready() { return of.has_fired(); }
            bool await_suspend(std::coroutine_handle<> crew)
            {
#ifdef FIXED
                return of.add_unless_fired(crew);
#else
                of.add(crew);
                return !of.has_fired(); // It may have gone off meanwhile.
#endif
            }
            void await_resume() {}
        };
        return awaiter{*this};
    }

private:
    bool has_fired()
    {
        std::lock_guard guard(mutex_);
        return fired_;
    }
    [[maybe_unused]] void add(std::coroutine_handle<> crew)
    {
        std::lock_guard guard(mutex_);
        waiting_.push_back(crew);
    }
    [[maybe_unused]] bool add_unless_fired(std::coroutine_handle<> crew)
    {
        std::lock_guard guard(mutex_);
        if (fired_)
            return false;
        waiting_.push_back(crew);
        return true;
    }

    std::mutex mutex_;
    bool fired_ = false;
    std::vector<std::coroutine_handle<>> waiting_;
};

static std::mutex harbour;

struct crossing {
    int started = 0;
};

static boat sail(gun &start, crossing &line)
{
    co_await start;
    std::lock_guard guard(harbour);
    line.started++;
    assert(line.started == 1);
}

int main()
{
    gun start;
    crossing lines[2];
    boat boats[2] = {sail(start, lines[0]), sail(start, lines[1])};
    {
        std::jthread skippers[2];
        for (int i = 0; i < 2; i++)
            skippers[i] = std::jthread([&boats, i] { boats[i].handle.resume(); });
        std::jthread starter([&start] { start.fire(); });
    }
    for (int i = 0; i < 2; i++) {
        assert(boats[i].handle.done());
        assert(lines[i].started == 1);
        boats[i].handle.destroy();
    }
    return 0;
}
