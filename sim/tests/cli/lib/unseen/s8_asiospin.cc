// Cause: main(), the loop around io.run_one(): it neither holds a work guard nor calls io.restart(). When the timer has
// run out and its handler has returned before the thread posts the answer, the io_context is out of work and stopped;
// from then on run_one() returns 0 at once, the posted answer is never called, and the loop spins forever.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <utility>

#include <boost/asio.hpp>

#include <cstdio>
#include <thread>
#include <unistd.h>

namespace asio = boost::asio;

int main()
{
    asio::io_context io;
    asio::steady_timer progress(io, std::chrono::milliseconds(12));
    bool answered = false;
    int ticks = 0;
#ifdef FIXED
    auto work = asio::make_work_guard(io);
#endif
    progress.async_wait([&ticks](boost::system::error_code) { ticks++; });
    std::thread resolver([&] {
        usleep(6000);
        asio::post(io, [&answered] { answered = true; });
    });
    while (!answered)
        io.run_one();
    resolver.join();
    std::printf("answered after %d ticks\n", ticks);
    return 0;
}
