// Cause: l3_channel.cc:71 the queue was looked at before async_wait begins; a push in between cancels a timer on which nobody waits yet
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <utility> // asio.hpp needs it
#include <boost/asio.hpp>
#include <cassert>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace asio = boost::asio;

// A timer that never expires is the condition variable: cancel() notifies.
class channel {
  public:
    explicit channel(asio::io_context &io)
#ifdef FIXED
        : strand_(asio::make_strand(io)), ready_(strand_)
#else
        : strand_(asio::make_strand(io)), ready_(io)
#endif
    {
        ready_.expires_at(asio::steady_timer::time_point::max());
    }

    void push(int value)
    {
#ifdef FIXED
        asio::post(strand_, [this, value] {
            add(value);
            ready_.cancel();
        });
#else
        add(value);
        ready_.cancel();
#endif
    }

    void pop(std::function<void(int)> use)
    {
#ifdef FIXED
        asio::dispatch(strand_, [this, use] { wait(use); });
#else
        wait(use);
#endif
    }

  private:
    void add(int value)
    {
        std::lock_guard guard(mutex_);
        values_.push_back(value);
    }

    bool take(int &value)
    {
        std::lock_guard guard(mutex_);
        if (values_.empty())
            return false;
        value = values_.front();
        values_.pop_front();
        return true;
    }

    void wait(std::function<void(int)> use)
    {
        int value;
        if (take(value))
            return use(value);
        ready_.async_wait([this, use](boost::system::error_code) { wait(use); });
    }

    asio::strand<asio::io_context::executor_type> strand_;
    asio::steady_timer ready_;
    std::mutex mutex_;
    std::deque<int> values_;
};

int main()
{
    asio::io_context io;
    channel numbers(io);
    int sum = 0;
    std::function<void(int)> use = [&](int value) {
        sum += value;
        if (value != 3)
            numbers.pop(use);
    };
    numbers.pop(use);
    asio::post(io, [&] {
        for (int i = 1; i <= 3; i++)
            numbers.push(i);
    });
    std::thread second([&] { io.run(); });
    io.run();
    second.join();
    assert(sum == 6);
    return 0;
}
