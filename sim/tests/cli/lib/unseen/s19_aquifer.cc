/* Cause: IoContext::collect() (65-68) has already moved the expired timer's handler into ready_ when on_reading() (118-125, earlier in the queue) re-arms the timer; expires_after() (99) cannot cancel a handler that is queued, and on_silence() (143-145) does not check that the expiry has moved, so it raises the alarm right after a reading. */
#include <cassert>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

class IoContext
{
  public:
    using Handler = std::function<void()>;

    IoContext() : bell_(eventfd(0, EFD_NONBLOCK))
    {
    }
    ~IoContext() { close(bell_); }

    void post(Handler handler)
    {
        {
            std::lock_guard lock(mutex_);
            posted_.push_back(std::move(handler));
        }
        std::uint64_t one = 1;
        [[maybe_unused]] ssize_t n = write(bell_, &one, sizeof one);
    }

    void stop() { stopped_ = true; }

    void run()
    {
        while (!stopped_) {
            collect();
            if (ready_.empty()) {
                block();
                continue;
            }
            Handler handler = std::move(ready_.front());
            ready_.pop_front();
            handler();
        }
    }

    std::multimap<Clock::time_point, std::pair<const void *, Handler>> timers;

  private:
    void collect()
    {
        {
            std::lock_guard lock(mutex_);
            for (auto &handler : posted_)
                ready_.push_back(std::move(handler));
            posted_.clear();
        }
        while (!timers.empty() && timers.begin()->first <= Clock::now()) {
            ready_.push_back(std::move(timers.begin()->second.second));
            timers.erase(timers.begin());
        }
    }

    void block()
    {
        int wait_ms = -1;
        if (!timers.empty()) {
            auto left = timers.begin()->first - Clock::now();
            wait_ms = left > 0ns ? static_cast<int>(left / 1ms) + 1 : 0;
        }
        pollfd waits = {bell_, POLLIN, 0};
        if (poll(&waits, 1, wait_ms) > 0) {
            std::uint64_t count;
            [[maybe_unused]] ssize_t n = read(bell_, &count, sizeof count);
        }
    }

    int bell_;
    std::mutex mutex_;
    std::deque<Handler> posted_;
    std::deque<Handler> ready_;
    bool stopped_ = false;
};

class Timer
{
  public:
    explicit Timer(IoContext &context) : context_(context) {}

    void expires_after(Clock::duration duration)
    {
        std::erase_if(context_.timers, [this](auto &entry) { return entry.second.first == this; });
        expiry_ = Clock::now() + duration;
    }
    void async_wait(IoContext::Handler handler)
    {
        context_.timers.emplace(expiry_, std::pair(static_cast<const void *>(this), std::move(handler)));
    }
    Clock::time_point expiry() const { return expiry_; }

  private:
    IoContext &context_;
    Clock::time_point expiry_{};
};

class Well
{
  public:
    explicit Well(IoContext &context) : context_(context), silence_(context) { arm(); }

    void on_reading(int level)
    {
        last_ = Clock::now();
        level_ = level;
        if (level == 0)
            context_.stop();
        else
            arm();
    }

    int alarms = 0;

  private:
    void arm()
    {
        silence_.expires_after(8ms);
        silence_.async_wait([this] { on_silence(); });
    }

    void on_silence()
    {
#ifdef FIXED
        if (silence_.expiry() > Clock::now())
            return;
#endif
        assert(Clock::now() - last_ >= 8ms);
        alarms++;
        arm();
    }

    IoContext &context_;
    Timer silence_;
    Clock::time_point last_{};
    int level_ = 0;
};

int main()
{
    IoContext context;
    Well well(context);
    std::thread gauge([&] {
        for (int level = 3; level >= 0; level--) {
            std::this_thread::sleep_for(5ms);
            context.post([&well, level] { well.on_reading(level); });
        }
    });
    context.run();
    gauge.join();
    std::printf("%s\n", well.alarms > 0 ? "some alarms" : "no alarm");
    return 0;
}
