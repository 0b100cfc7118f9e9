/*
 * s11_frames.cc -- a message protocol over a stream with Boost.Asio: a line that says how long the
 * body is, then the body; the server answers each message with its checksum.
 *
 * Cause: read_body() (line 60) asks for all of the body from the socket, although a part of it is in the buffer that the line was read into
 */
#include <utility>

#include <boost/asio.hpp>
#include <chrono>
#include <cstdio>
#include <functional>
#include <istream>
#include <numeric>
#include <string>
#include <thread>

namespace asio = boost::asio;
using asio::local::stream_protocol;
using boost::system::error_code;

class session
{
  public:
    session(asio::io_context &context, stream_protocol::socket &peer) : socket_(context)
    {
        asio::local::connect_pair(socket_, peer);
    }

    void start()
    {
        read_line();
    }

    unsigned messages() const
    {
        return messages_;
    }

  private:
    void read_line()
    {
        asio::async_read_until(
                socket_, input_, '\n', [this](error_code error, std::size_t) { on_line(error); });
    }

    void on_line(error_code error)
    {
        if (error) {
            return;
        }
        std::istream stream(&input_);
        stream >> length_;
        stream.ignore(1);
        read_body();
    }

    void read_body()
    {
        std::size_t missing = length_;
#ifdef FIXED
        missing -= std::min(input_.size(), missing);
#endif
        asio::async_read(socket_, input_, asio::transfer_exactly(missing),
                [this](error_code error, std::size_t) { on_body(error); });
    }

    void on_body(error_code error)
    {
        if (error) {
            return;
        }
        std::string body(length_, '\0');
        std::istream(&input_).read(body.data(), length_);
        unsigned sum = std::accumulate(body.begin(), body.end(), 0u);
        answer_ = std::to_string(sum) + "\n";
        messages_++;
        asio::async_write(socket_, asio::buffer(answer_),
                [this](error_code error, std::size_t) { error ? (void)0 : read_line(); });
    }

    stream_protocol::socket socket_;
    asio::streambuf input_;
    std::size_t length_ = 0;
    std::string answer_;
    unsigned messages_ = 0;
};

class client
{
  public:
    explicit client(asio::io_context &context) : socket_(context)
    {
    }

    stream_protocol::socket &socket()
    {
        return socket_;
    }

    /* The line goes out at once, so that the server can make room. */
    unsigned call(std::size_t length, const std::function<std::string(std::size_t)> &render)
    {
        asio::write(socket_, asio::buffer(std::to_string(length) + "\n"));
        asio::write(socket_, asio::buffer(render(length)));
        asio::read_until(socket_, answers_, '\n');
        unsigned sum = 0;
        std::istream stream(&answers_);
        stream >> sum;
        stream.ignore(1);
        return sum;
    }

    void close()
    {
        socket_.close();
    }

  private:
    stream_protocol::socket socket_;
    asio::streambuf answers_;
};

static std::string
render(std::size_t length)
{
    std::this_thread::sleep_for(std::chrono::milliseconds(length / 10));
    return std::string(length, 'x');
}

int
main()
{
    asio::io_context context, other;
    client client(other);
    session session(context, client.socket());
    session.start();
    std::thread server([&context] { context.run(); });
    for (std::size_t length : {40, 25, 10}) {
        std::printf("%zu bytes: %u\n", length, client.call(length, render));
    }
    client.close();
    server.join();
    std::printf("%u messages\n", session.messages());
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
