// Cause: l_asio.cc:49 the work guard is dropped when the last request is taken over, not when its answer is posted: run() may return before, and the answer is never handled
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

namespace asio = boost::asio;
using Guard = asio::executor_work_guard<asio::io_context::executor_type>;

class Resolver { // does blocking lookups in a thread of its own
public:
    explicit Resolver(asio::io_context &io) : io_(io), guard_(asio::make_work_guard(io)), thread_([this] { work(); }) {}
    ~Resolver() { thread_.join(); }

    void lookup(int name, bool last, std::function<void(int)> done)
    {
        std::lock_guard<std::mutex> hold(lock_);
        requests_.push_back({name, last, std::move(done)});
        some_.notify_one();
    }

private:
    struct Request {
        int name;
        bool last;
        std::function<void(int)> done;
    };

    void work()
    {
        for (;;) {
            Request r;
            {
                std::unique_lock<std::mutex> hold(lock_);
                some_.wait(hold, [this] { return !requests_.empty(); });
                r = std::move(requests_.front());
                requests_.pop_front();
            }
#ifndef FIXED
            if (r.last)
                guard_->reset();
#endif
            int address = blocking_lookup(r.name);
            asio::post(io_, [done = r.done, address] { done(address); });
            if (r.last) {
                guard_->reset();
                return;
            }
        }
    }

    int blocking_lookup(int name)
    {
        std::lock_guard<std::mutex> hold(cache_lock_);
        return cache_ = name * 7;
    }

    asio::io_context &io_;
    std::mutex lock_, cache_lock_;
    std::condition_variable some_;
    std::deque<Request> requests_;
    int cache_ = 0;
    std::optional<Guard> guard_;
    std::thread thread_;
};

int main()
{
    asio::io_context io;
    std::promise<int> answer;
    Resolver resolver(io);
    resolver.lookup(1, false, [](int a) { std::printf("first %d\n", a); });
    resolver.lookup(2, true, [&answer](int a) { answer.set_value(a); });
    std::thread second([&io] { io.run(); });
    io.run();
    std::printf("second %d\n", answer.get_future().get());
    second.join();
    return 0;
}
