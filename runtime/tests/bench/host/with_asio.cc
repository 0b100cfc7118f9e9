/*
 * with_asio.cc -- the server over Boost.Asio, with completion handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include <boost/asio.hpp>

#include "runtime/tests/bench/host/peer.h"

using boost::asio::ip::tcp;

static struct peer peer;

class connection : public std::enable_shared_from_this<connection>
{
  public:
    explicit connection(tcp::socket socket)
        : socket_(std::move(socket)), timer_(socket_.get_executor())
    {
        socket_.set_option(tcp::no_delay(true));
    }

    void read()
    {
        auto self = shared_from_this();
        if (peer.timeouts) {
            timer_.expires_after(std::chrono::milliseconds(PEER_TIMEOUT_MS));
            timer_.async_wait([self](boost::system::error_code error) {
                if (!error) {
                    self->socket_.close();
                }
            });
        }
        socket_.async_read_some(boost::asio::buffer(buffer_),
                [self](boost::system::error_code error, std::size_t size) {
                    if (error) {
                        self->timer_.cancel();
                        return;
                    }
                    self->write(peer_answer(&peer, self->buffer_.data(), size));
                });
    }

  private:
    void write(std::size_t size)
    {
        auto self = shared_from_this();
        boost::asio::async_write(socket_, boost::asio::buffer(buffer_.data(), size),
                [self](boost::system::error_code error, std::size_t) {
                    if (!error) {
                        self->read();
                    }
                });
    }

    tcp::socket socket_;
    boost::asio::steady_timer timer_;
    std::array<char, PEER_BUFFER> buffer_;
};

static void
accept_next(tcp::acceptor &acceptor)
{
    acceptor.async_accept([&acceptor](boost::system::error_code error, tcp::socket socket) {
        if (!error) {
            std::make_shared<connection>(std::move(socket))->read();
        }
        accept_next(acceptor);
    });
}

int
main(int argc, char **argv)
{
    peer = peer_arguments(argc, argv);
    boost::asio::io_context context(1); /* One thread: no locks. */
    tcp::acceptor acceptor(context);
    tcp::endpoint endpoint(boost::asio::ip::address_v4::loopback(), peer.port);
    acceptor.open(endpoint.protocol());
    acceptor.set_option(tcp::acceptor::reuse_address(true));
    acceptor.bind(endpoint);
    acceptor.listen(PEER_BACKLOG);
    accept_next(acceptor);
    context.run();
    return 0;
}
