/*
 * asio.cc -- a program over Boost.Asio: two threads run one context; a timer, a pair of connected
 * sockets, and posted handlers in a strand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <atomic>
#include <boost/asio.hpp>
#include <cstdio>
#include <thread>

namespace asio = boost::asio;

int
main()
{
    asio::io_context context;
    std::atomic<int> posted{0};
    int strand_count = 0;
    std::size_t received = 0;
    char buffer[8];

    asio::local::stream_protocol::socket near(context), far(context);
    asio::local::connect_pair(near, far);
    asio::async_read(far, asio::buffer(buffer, 5),
            [&](boost::system::error_code, std::size_t size) { received = size; });
    asio::async_write(
            near, asio::buffer("hello", 5), [](boost::system::error_code, std::size_t) {});

    asio::steady_timer timer(context, std::chrono::milliseconds(20));
    bool fired = false;
    timer.async_wait([&](boost::system::error_code) { fired = true; });

    auto strand = asio::make_strand(context);
    for (int i = 0; i < 4; i++) {
        asio::post(context, [&] { posted++; });
        asio::post(strand, [&] { strand_count++; });
    }
    std::thread other([&] { context.run(); });
    context.run();
    other.join();
    std::printf("posted %d, strand %d, received %zu, fired %d\n", posted.load(), strand_count,
            received, fired ? 1 : 0);
    return posted == 4 && strand_count == 4 && received == 5 && fired ? 0 : 1;
}
