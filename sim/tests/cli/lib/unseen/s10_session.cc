// SPDX-License-Identifier: Apache-2.0
/* Cause: session::on_idle() line 71: a handler that was queued before the timer was set again comes with
 * success, not with operation_aborted, and ends a session that was just used. Repair: also compare
 * the timer's expiry with the clock (FIXED). */
#include <array>
#include <utility>

#include <boost/asio.hpp>
#include <cassert>
#include <chrono>
#include <cstdio>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace asio = boost::asio;
using stream = asio::local::stream_protocol;
using std::chrono::steady_clock;

namespace
{

constexpr auto idle_time = std::chrono::milliseconds(20);
constexpr int pings = 5;

/* Echoes what it gets, until nothing has come for a while. */
class session
{
  public:
    session(asio::io_context &context, stream::socket &&from)
        : socket(std::move(from)), idle(context)
    {
        touch();
        read();
    }

    int echoed() const
    {
        return count;
    }

  private:
    void touch()
    {
        last_used = steady_clock::now();
        idle.expires_at(last_used + idle_time);
        idle.async_wait([this](const boost::system::error_code &error) { on_idle(error); });
    }

    void read()
    {
        socket.async_read_some(
                asio::buffer(bytes), [this](const boost::system::error_code &error,
                                             std::size_t size) { on_read(error, size); });
    }

    void on_read(const boost::system::error_code &error, std::size_t size)
    {
        if (error) {
            idle.cancel();
            return;
        }
        touch();
        boost::system::error_code failed;
        asio::write(socket, asio::buffer(bytes.data(), size), failed);
        count += static_cast<int>(size);
        read();
    }

    void on_idle(const boost::system::error_code &error)
    {
        if (error == asio::error::operation_aborted)
            return;
#ifdef FIXED
        if (idle.expiry() > steady_clock::now())
            return;
#endif
        if (!socket.is_open())
            return;
        assert(steady_clock::now() - last_used >= idle_time);
        socket.close();
    }

    stream::socket socket;
    asio::steady_timer idle;
    steady_clock::time_point last_used;
    std::array<char, 16> bytes;
    int count = 0;
};

/* A client that is often just about in time. */
void
ping(int fd)
{
    for (int i = 0; i < pings; i++) {
        char byte = 'p';
        usleep(18000);
        if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1 || read(fd, &byte, 1) != 1)
            break;
    }
    close(fd);
}

} /* namespace */

int
main()
{
    asio::io_context context(1);
    stream::socket ours(context);
    stream::socket theirs(context);
    asio::local::connect_pair(ours, theirs);
    session served(context, std::move(ours));
    std::thread client(ping, theirs.release());
    context.run();
    client.join();
    std::printf("echoed %s\n", served.echoed() <= pings ? "enough" : "too many");
    return 0;
}
