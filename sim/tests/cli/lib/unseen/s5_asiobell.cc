// Cause: s5_asiobell.cc:51 when the flush has been written the writer goes to wait at its bell without a look at the queue: a line that came during the flush rang the bell when nobody waited at it, so the line stays in the queue and the writer waits until a next one, which never comes.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <string>
#include <thread>
#include <utility>

#include <boost/asio.hpp>

namespace asio = boost::asio;
using stream = asio::local::stream_protocol::socket;
using namespace std::chrono_literals;

constexpr int lines = 5;

// Collects lines, writes them in batches, and rests at a timer that never
// expires: cancelling its wait is the bell.
class writer {
  public:
    writer(asio::io_context &io, stream &out) : out_(out), bell_(io) {}

    void start() { next(); }

    void push(std::string line)
    {
        queue_.push_back(std::move(line));
        bell_.cancel();
    }

  private:
    void next()
    {
        while (!queue_.empty()) {
            batch_ += queue_.front() + "\n";
            queue_.pop_front();
            taken_++;
        }
        if (batch_.empty())
            return rest();
        asio::async_write(out_, asio::buffer(batch_), [this](auto error, std::size_t) {
            batch_.clear();
            if (error || taken_ == lines)
                return out_.close();
#ifdef FIXED
            next();
#else
            rest();
#endif
        });
    }

    void rest()
    {
        bell_.expires_at(asio::steady_timer::time_point::max());
        bell_.async_wait([this](auto) { next(); });
    }

    stream &out_;
    asio::steady_timer bell_;
    std::deque<std::string> queue_;
    std::string batch_;
    int taken_ = 0;
};

int main()
{
    asio::io_context io(1);
    stream out(io), in(io);
    asio::local::connect_pair(out, in);
    writer log(io, out);
    asio::post(io, [&] { log.start(); });

    std::thread producer([&] {
        for (int i = 0; i < lines; i++) {
            std::this_thread::sleep_for(400us); // what is logged
            asio::post(io, [&log, i] { log.push("line " + std::to_string(i)); });
        }
    });
    std::size_t received = 0;
    std::thread reader([&] {
        boost::system::error_code error;
        std::array<char, 64> buffer;
        while (!error)
            received += in.read_some(asio::buffer(buffer), error);
    });
    io.run();
    producer.join();
    reader.join();
    std::printf("received %zu bytes\n", received);
    return received == lines * 7 ? 0 : 1;
}
