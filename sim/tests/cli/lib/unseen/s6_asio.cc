// Cause: s6_asio.cc:42 the session remembers before the acknowledgement is written that no message is queued, and waits for the timer to be cancelled after it; a message that is queued during the write cancels a timer on which nobody waits.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <utility>
#include <boost/asio.hpp>
#include <cstdio>
#include <deque>
#include <memory>
#include <string>
#include <thread>

namespace asio = boost::asio;
using stream = asio::local::stream_protocol::socket;

constexpr int messages = 6;

/* Writes what is queued to its peer, and a dot after each batch. */
class session
{
  public:
    session(asio::io_context &io, stream &to) : out(to), queued(io)
    {
        queued.expires_at(asio::steady_timer::time_point::max());
    }

    /* On the thread of the context. */
    void push(std::string text)
    {
        queue.push_back(std::move(text));
        queued.cancel();
    }

    void start()
    {
        batch.clear();
        while (!queue.empty()) {
            batch += queue.front();
            queue.pop_front();
            written++;
        }
        batch += '.';
        idle = queue.empty();
        asio::async_write(out, asio::buffer(batch), [this](boost::system::error_code error, size_t) {
            if (error || written == messages) {
                out.shutdown(stream::shutdown_send);
                return;
            }
#ifdef FIXED
            idle = queue.empty();
#endif
            if (!idle) {
                start();
                return;
            }
            queued.async_wait([this](boost::system::error_code) { start(); });
        });
    }

  private:
    stream &out;
    asio::steady_timer queued; /* Cancelled when there is something in the queue. */
    std::deque<std::string> queue;
    std::string batch;
    bool idle = true;
    int written = 0;
};

int main()
{
    asio::io_context io(1);
    stream near(io), far(io);
    asio::local::connect_pair(near, far);
    session writer(io, near);
    size_t received = 0;
    std::thread reader([&] {
        char data[64];
        boost::system::error_code error;
        for (;;) {
            size_t n = far.read_some(asio::buffer(data), error);
            if (error)
                break;
            for (size_t i = 0; i < n; i++)
                received += data[i] != '.';
        }
    });
    auto work = asio::make_work_guard(io);
    std::thread producer([&] {
        for (int i = 0; i < messages; i++) {
            asio::post(io, [&writer, i] { writer.push(std::string(1, static_cast<char>('a' + i))); });
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        }
        work.reset();
    });
    asio::post(io, [&] { writer.start(); });
    io.run();
    producer.join();
    reader.join();
    std::printf("%zu messages\n", received);
    return received == messages ? 0 : 1;
}
