// Cause: session::on_header() starts async_read() for the whole body, although async_read_until() may have read beyond
// the end of the header: what it has read more lies in `buffer`. When header and body arrive together, the body is in
// `buffer` already, the async_read() waits for bytes that never come, and io.run() does not return.
// SPDX-License-Identifier: Apache-2.0
// clang-format off
#include <utility>

#include <boost/asio.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <istream>
#include <string>
#include <thread>
#include <unistd.h>

namespace asio = boost::asio;
using stream = asio::local::stream_protocol::socket;

class session {
  public:
    explicit session(stream &from) : socket(from)
    {
        asio::async_read_until(socket, buffer, '\n',
            [this](boost::system::error_code error, std::size_t) {
                if (!error)
                    on_header();
            });
    }

    std::string body;

  private:
    void on_header()
    {
        std::istream in(&buffer);
        std::size_t length = 0;
        in >> length;
        in.get(); /* The end of the line. */
        body.resize(length);
        std::size_t have = 0;
#ifdef FIXED
        have = std::min(length, buffer.size());
        in.read(body.data(), static_cast<std::streamsize>(have));
#endif
        asio::async_read(socket, asio::buffer(body.data() + have, length - have),
            [](boost::system::error_code error, std::size_t) {
                if (error)
                    std::exit(1);
            });
    }

    stream &socket;
    asio::streambuf buffer;
};

int main()
{
    asio::io_context io;
    stream server(io), client(io);
    asio::local::connect_pair(server, client);
    session serving(server);
    std::thread sender([&client] {
        asio::write(client, asio::buffer("4\n", 2));
        usleep(1000); /* It makes the body. */
        asio::write(client, asio::buffer("body", 4));
    });
    io.run();
    sender.join();
    std::printf("%s\n", serving.body.c_str());
    return serving.body == "body" ? 0 : 1;
}
