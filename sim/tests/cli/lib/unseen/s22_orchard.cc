/* Cause: Cancellation that comes too late, the result comes anyway: two ends of one read. on_deadline() counts the read as given up (119) and cancels it (120) without looking at the result of cancel(). Order: the sensor's thread has completed the read (complete(42), 78), its handler is in the loop's queue (93); the deadline comes due before the loop has taken it out, and the loop runs timers first (40); on_deadline counts given_up, cancel() returns 0; then the queued handler runs on_read(42): picked is 1, too. Needs a sensor or loop that is late (5 ms against 9 ms). Harm: assertion line 129 (picked + given_up == 1). Fix: lines 116-117, it counts only when cancel() returned 1. */
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

class io_loop {
public:
    void post(std::function<void()> handler)
    {
        std::lock_guard guard(mutex_);
        ready_.push_back(std::move(handler));
        changed_.notify_one();
    }
    void at(clock_type::time_point due, std::function<void()> handler)
    {
        std::lock_guard guard(mutex_);
        due_ = due;
        timer_ = std::move(handler);
    }
    void cancel_timer()
    {
        std::lock_guard guard(mutex_);
        timer_ = nullptr;
    }
    // Until there is neither a handler nor a timer, and `work` is done.
    void run(const bool &finished)
    {
        std::unique_lock lock(mutex_);
        while (!finished || !ready_.empty()) {
            std::function<void()> next;
            if (timer_ && clock_type::now() >= due_) {
                next = std::move(timer_);
                timer_ = nullptr;
            } else if (!ready_.empty()) {
                next = std::move(ready_.front());
                ready_.pop_front();
            } else if (timer_) {
                changed_.wait_until(lock, due_);
                continue;
            } else {
                changed_.wait(lock);
                continue;
            }
            lock.unlock();
            next();
            lock.lock();
        }
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> ready_;
    std::function<void()> timer_;
    clock_type::time_point due_;
};

// The arm's sensor: one read at a time, done by a thread of its own.
class sensor {
public:
    explicit sensor(io_loop &loop) : loop_(loop) {}
    using handler = std::function<void(std::optional<int>)>;
    void async_read(handler done)
    {
        std::lock_guard guard(mutex_);
        pending_ = std::move(done);
        thread_ = std::jthread([this] {
            std::this_thread::sleep_for(5ms);
            complete(42);
        });
    }
    // How many reads end with nothing because of it: 0 or 1.
    int cancel() { return complete(std::nullopt); }

private:
    int complete(std::optional<int> result)
    {
        std::unique_lock lock(mutex_);
        if (!pending_)
            return 0;
        handler done = std::move(pending_);
        pending_ = nullptr;
        lock.unlock();
        loop_.post([done = std::move(done), result] { done(result); });
        return 1;
    }
    io_loop &loop_;
    std::mutex mutex_;
    handler pending_;
    std::jthread thread_;
};

struct picker {
    io_loop loop;
    sensor eye{loop};
    bool finished = false;
    int picked = 0, given_up = 0;

    void start()
    {
        loop.at(clock_type::now() + 9ms, [this] { on_deadline(); });
        eye.async_read([this](std::optional<int> apple) { on_read(apple); });
    }
    void on_deadline()
    {
#ifdef FIXED
        if (eye.cancel() == 1)
            given_up++; // on_read comes, with nothing.
#else
        given_up++;
        eye.cancel();
#endif
    }
    void on_read(std::optional<int> apple)
    {
        loop.cancel_timer();
        if (apple)
            picked++;
        finished = true;
        assert(picked + given_up == 1);
    }
};

int main()
{
    auto robot = std::make_unique<picker>();
    robot->start();
    robot->loop.run(robot->finished);
    return 0;
}
