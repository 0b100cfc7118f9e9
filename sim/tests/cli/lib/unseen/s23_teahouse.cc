/* Cause: a timer's handler that is already queued when its timer is set again (Asio's expires_after/cancel race). wait() posts the read's handler (62) and, if the deadline is past as well, the timer's (64-65), in one batch. Order: the guest's byte arrives and the deadline passes before the same turn looks (a late poll or clock); the read's handler runs first: order() calls listen() (99), which sets a new deadline (84); timer_cancel() (34) finds no timer to cancel, for it is queued already with "not cancelled"; then the queued handler runs silent(false) (102) for the old deadline, on a guest who has just ordered. Harm: assertion 110. Fix: look at the deadline (or a generation) in the handler (106-109). */
#include <cassert>
#include <chrono>
#include <deque>
#include <functional>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

class io_context {
public:
    void post(std::function<void()> handler) { ready_.push_back(std::move(handler)); }

    void async_read(int fd, std::function<void(char, bool)> handler)
    {
        fd_ = fd;
        reader_ = std::move(handler);
    }

    void timer_set(steady::time_point when, std::function<void(bool)> handler)
    {
        timer_cancel();
        when_ = when;
        timer_ = std::move(handler);
    }

    // Its handler is called with true, unless it has expired already.
    void timer_cancel()
    {
        if (timer_)
            post([handler = std::exchange(timer_, nullptr)] { handler(true); });
    }

    void run()
    {
        while (!ready_.empty() || reader_ || timer_) {
            if (ready_.empty())
                wait();
            auto batch = std::move(ready_);
            ready_.clear();
            for (auto &handler : batch)
                handler();
        }
    }

private:
    void wait()
    {
        int limit = -1;
        if (timer_) {
            auto left = std::chrono::ceil<std::chrono::milliseconds>(when_ - steady::now());
            limit = left.count() > 0 ? static_cast<int>(left.count()) : 0;
        }
        pollfd entry{reader_ ? fd_ : -1, POLLIN, 0};
        if (poll(&entry, 1, limit) > 0 && reader_) {
            char byte = 0;
            bool end = read(fd_, &byte, 1) != 1;
            post([handler = std::exchange(reader_, nullptr), byte, end] { handler(byte, end); });
        }
        if (timer_ && steady::now() >= when_)
            post([handler = std::exchange(timer_, nullptr)] { handler(false); });
    }

    std::deque<std::function<void()>> ready_;
    std::function<void(char, bool)> reader_;
    std::function<void(bool)> timer_;
    steady::time_point when_;
    int fd_ = -1;
};

struct table {
    io_context &io;
    int fd;
    steady::time_point deadline{};
    bool open = true;
    int cups = 0;

    void listen()
    {
        deadline = steady::now() + 40ms;
        io.timer_set(deadline, [this](bool cancelled) { silent(cancelled); });
        io.async_read(fd, [this](char, bool end) { order(end); });
    }

    void order(bool end)
    {
        if (!open)
            return;
        if (end) {
            open = false;
            io.timer_cancel();
            return;
        }
        cups++;
        listen();
    }

    void silent(bool cancelled)
    {
        if (cancelled || !open)
            return;
#ifdef FIXED
        if (steady::now() < deadline)
            return; // it had expired before the last order came
#endif
        assert(steady::now() >= deadline);
        open = false;
        io.async_read(fd, nullptr);
    }
};

int main()
{
    int ends[2];
    assert(pipe(ends) == 0);
    std::thread guest([&] {
        for (int i = 0; i < 3; i++) {
            std::this_thread::sleep_for(36ms);
            assert(write(ends[1], "t", 1) == 1);
        }
        close(ends[1]);
    });
    io_context io;
    table corner{io, ends[0]};
    corner.listen();
    io.run();
    guest.join();
    close(ends[0]);
}
