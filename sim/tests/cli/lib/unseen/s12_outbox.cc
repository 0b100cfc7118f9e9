/*
 * Frames of a header and a body, sent one after another by a session on Boost.Asio.
 * Cause: Session::sent() (line 71) counts a write that ended inside the header as if the whole header were gone.
 */
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <utility>
#include <boost/asio.hpp>
#include <string>
#include <thread>

namespace asio = boost::asio;
using stream = asio::local::stream_protocol::socket;

struct Frame {
    std::array<unsigned char, 4> header;
    std::string body;
    explicit Frame(std::string text) : header{'F', 'R', 0, 0}, body(std::move(text))
    {
        header[2] = static_cast<unsigned char>(body.size() >> 8);
        header[3] = static_cast<unsigned char>(body.size());
    }
};

class Session
{
  public:
    explicit Session(stream &socket) : socket_(socket)
    {
    }

    void send(std::string text)
    {
        outbox_.emplace_back(std::move(text));
        if (outbox_.size() == 1)
            write();
    }

    void finish()
    {
        finishing_ = true;
        if (outbox_.empty())
            close();
    }

  private:
    void write()
    {
        const Frame &frame = outbox_.front();
        std::array<asio::const_buffer, 2> parts = {
                asio::buffer(frame.header) + header_done_, asio::buffer(frame.body) + body_done_};
        socket_.async_write_some(parts,
                [this](boost::system::error_code error, std::size_t n) { sent(error, n); });
    }

    void sent(boost::system::error_code error, std::size_t n)
    {
        if (error)
            return;
        Frame &frame = outbox_.front();
        std::size_t header_left = frame.header.size() - header_done_;
#ifdef FIXED
        std::size_t of_header = std::min(n, header_left);
        header_done_ += of_header;
        body_done_ += n - of_header;
#else
        header_done_ = frame.header.size();
        body_done_ += n - std::min(n, header_left);
#endif
        if (body_done_ == frame.body.size()) {
            outbox_.pop_front();
            header_done_ = body_done_ = 0;
        }
        if (!outbox_.empty())
            write();
        else if (finishing_)
            close();
    }

    void close()
    {
        boost::system::error_code ignored;
        socket_.shutdown(stream::shutdown_send, ignored);
    }

    stream &socket_;
    std::deque<Frame> outbox_;
    std::size_t header_done_ = 0, body_done_ = 0;
    bool finishing_ = false;
};

/* Answers each frame with a byte. */
static int receive(stream &socket)
{
    int frames = 0;
    for (;;) {
        std::array<unsigned char, 4> header;
        boost::system::error_code error;
        asio::read(socket, asio::buffer(header), error);
        if (error)
            return frames;
        std::string body(header[2] << 8 | header[3], '\0');
        asio::read(socket, asio::buffer(body), error);
        if (error)
            return frames;
        frames++;
        asio::write(socket, asio::buffer("k", 1), error);
    }
}

int main()
{
    asio::io_context context;
    stream ours(context), theirs(context);
    asio::local::connect_pair(ours, theirs);
    Session session(ours);
    std::array<char, 1> answer;
    int left = 6;
    std::function<void(boost::system::error_code, std::size_t)> answered =
            [&](boost::system::error_code error, std::size_t) {
                if (error)
                    return;
                if (--left == 0)
                    return session.finish();
                ours.async_read_some(asio::buffer(answer), answered);
            };
    int frames = 0;
    std::thread peer([&] { frames = receive(theirs); });
    for (int i = 0; i < left; i++)
        session.send(std::string(20 + 10 * i, 'x'));
    ours.async_read_some(asio::buffer(answer), answered);
    context.run();
    peer.join();
    std::printf("%d frames\n", frames);
    return 0;
}
// SPDX-License-Identifier: Apache-2.0
