// Cause: s4_debounce.cc:44 the handler returns when its wait was cancelled, which touch() itself does when it moves the deadline, and leaves armed_ set, so that nobody ever waits for the timer again and nothing more is written.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <utility>
#include <boost/asio.hpp>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <functional>
#include <thread>
#include <unistd.h>

// Changes are written when there was none for a millisecond.

namespace asio = boost::asio;
using namespace std::chrono_literals;

class debouncer {
public:
    debouncer(asio::io_context &context, std::function<void(int)> write) : quiet_(context), write_(std::move(write)) {}

    void touch()
    {
        changes_++;
        quiet_.expires_after(1ms);
        if (!armed_) {
            armed_ = true;
            wait();
        }
    }

private:
    void wait()
    {
        quiet_.async_wait([this](boost::system::error_code error) { on_quiet(error); });
    }

    void on_quiet(boost::system::error_code error)
    {
        if (error == asio::error::operation_aborted)
#ifdef FIXED
            return wait();
#else
            return;
#endif
        armed_ = false;
        write_(std::exchange(changes_, 0));
    }

    asio::steady_timer quiet_;
    std::function<void(int)> write_;
    bool armed_ = false;
    int changes_ = 0;
};

int main()
{
    constexpr int changes = 5;
    asio::io_context context;
    auto guard = asio::make_work_guard(context);
    int written = 0, writes = 0;
    debouncer file(context, [&](int count) {
        usleep(150);
        written += count;
        writes++;
        if (written == changes)
            guard.reset();
    });
    std::thread editor([&] {
        for (int i = 0; i < changes; i++) {
            asio::post(context, [&] { file.touch(); });
            usleep(2000);
        }
    });
    context.run();
    editor.join();
    assert(written == changes && writes <= changes);
    std::printf("%d changes written\n", written);
    return 0;
}
