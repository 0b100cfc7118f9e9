// Cause: l_timercv.cc:29 push() cancels the timer from another thread, not on the strand: a cancel between the test of the queue and async_wait() cancels nothing
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <chrono>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

namespace asio = boost::asio;

class Channel { // a timer that never expires serves as a condition variable
public:
    explicit Channel(asio::io_context &io) : strand_(asio::make_strand(io)), timer_(strand_) {}

    void push(int value)
    {
        {
            std::lock_guard<std::mutex> hold(lock_);
            queue_.push_back(value);
        }
#ifdef FIXED
        asio::post(strand_, [this] { timer_.cancel(); });
#else
        std::lock_guard<std::mutex> hold(timer_lock_);
        timer_.cancel();
#endif
    }

    void start(int count)
    {
        left_ = count;
        asio::post(strand_, [this] { next(); });
    }

    long sum() const { return sum_; }

private:
    bool take(int &value)
    {
        std::lock_guard<std::mutex> hold(lock_);
        if (queue_.empty())
            return false;
        value = queue_.front();
        queue_.pop_front();
        return true;
    }

    void next()
    {
        for (int value; left_ > 0 && take(value); left_--)
            sum_ += value;
        if (left_ == 0)
            return;
        std::lock_guard<std::mutex> hold(timer_lock_);
        timer_.expires_at(asio::steady_timer::time_point::max());
        timer_.async_wait([this](const boost::system::error_code &) { next(); });
    }

    asio::strand<asio::io_context::executor_type> strand_;
    asio::steady_timer timer_;
    std::mutex lock_, timer_lock_;
    std::deque<int> queue_;
    int left_ = 0;
    long sum_ = 0;
};

int main()
{
    asio::io_context io;
    Channel channel(io);
    auto guard = asio::make_work_guard(io);
    channel.start(3);
    std::thread producer([&] {
        for (int i = 1; i <= 3; i++)
            channel.push(i);
        guard.reset();
    });
    std::thread second([&] { io.run(); });
    io.run();
    second.join();
    producer.join();
    std::printf("sum %ld\n", channel.sum());
    return channel.sum() == 6 ? 0 : 1;
}
