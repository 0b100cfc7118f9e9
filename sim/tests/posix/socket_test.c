/*
 * socket_test.c -- sockets with addresses: TCP, UDP, named Unix sockets, names of hosts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "sim/tests/posix/posix_lab.h"

#define FAILS(call, error) \
    do { \
        EXPECT_EQ((call), -1); \
        EXPECT_EQ(errno, error); \
    } while (0)

static struct sockaddr_in
at(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void
connects(void)
{
    struct sockaddr_in to = at(7000);
    char buffer[8];
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, (const struct sockaddr *)&to, sizeof(to)), 0);
    /* Of a TCP socket that is connected the address does not matter. */
    EXPECT_EQ(sendto(fd, "hello", 5, MSG_NOSIGNAL, (const struct sockaddr *)&to, sizeof(to)), 5);
    EXPECT_EQ(shutdown(fd, SHUT_WR), 0);
    EXPECT_EQ(recv(fd, buffer, 5, MSG_WAITALL), 5);
    EXPECT_EQ(memcmp(buffer, "hello", 5), 0);
    EXPECT_EQ(recv(fd, buffer, 5, 0), 0);
    EXPECT_EQ(close(fd), 0);
}

static void
serves(void)
{
    struct sockaddr_in own = at(7000), peer;
    socklen_t size = sizeof(peer);
    char buffer[8];
    ssize_t moved = 0;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(bind(listener, (const struct sockaddr *)&own, sizeof(own)), 0);
    EXPECT_EQ(listen(listener, 4), 0);
    struct sim_thread *client = posix_lab_spawn(connects);
    int fd = accept(listener, (struct sockaddr *)&peer, &size);
    EXPECT_EQ(fd, fcntl(fd, F_GETFD) >= 0 ? fd : -1);
    EXPECT_EQ(ntohs(peer.sin_port) >= 40000, true);
    while ((moved = read(fd, buffer, sizeof(buffer))) > 0) {
        EXPECT_EQ(write(fd, buffer, (size_t)moved), moved);
    }
    EXPECT_EQ(moved, 0);
    EXPECT_EQ(close(fd), 0);
    posix_lab_join(client);
}

TEST(posix_a_client_and_a_server_in_one_program)
{
    posix_lab_run(serves, 100, SIM_VERDICT_PASS);
}

static void
is_refused(void)
{
    struct sockaddr_in to = at(7001);
    int error = 0;
    socklen_t size = sizeof(error);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    FAILS(connect(fd, (const struct sockaddr *)&to, sizeof(to)), ECONNREFUSED);
    int other = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    FAILS(connect(other, (const struct sockaddr *)&to, sizeof(to)), EINPROGRESS);
    struct pollfd poll_other = {other, POLLOUT, 0};
    int count = 0;
    do {
        count = poll(&poll_other, 1, -1);
    } while (count == -1 && errno == EINTR);
    EXPECT_EQ(getsockopt(other, SOL_SOCKET, SO_ERROR, &error, &size), 0);
    EXPECT_EQ(error, ECONNREFUSED);
    FAILS(accept(other, NULL, NULL), EINVAL);
}

TEST(posix_a_connection_without_listener_is_refused)
{
    posix_lab_run(is_refused, 20, SIM_VERDICT_PASS);
}

static void
datagrams(void)
{
    struct sockaddr_in to = at(5353), from;
    socklen_t size = sizeof(from);
    char buffer[8];
    int a = socket(AF_INET, SOCK_DGRAM, 0);
    int b = socket(AF_INET, SOCK_DGRAM, 0);
    EXPECT_EQ(bind(a, (const struct sockaddr *)&to, sizeof(to)), 0);
    FAILS(bind(b, (const struct sockaddr *)&to, sizeof(to)), EADDRINUSE);
    EXPECT_EQ(sendto(b, "abc", 3, 0, (const struct sockaddr *)&to, sizeof(to)), 3);
    EXPECT_EQ(recvfrom(a, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &size), 3);
    EXPECT_EQ(connect(a, (const struct sockaddr *)&from, size), 0);
    EXPECT_EQ(write(a, "xy", 2), 2);
    EXPECT_EQ(read(b, buffer, sizeof(buffer)), 2);
    FAILS(recv(b, buffer, sizeof(buffer), MSG_DONTWAIT), EAGAIN);
}

TEST(posix_datagrams_say_where_they_are_from)
{
    posix_lab_run(datagrams, 20, SIM_VERDICT_PASS);
}

static void
named(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/tmp/rewake-socket"};
    char byte = 0;
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    int client = socket(AF_UNIX, SOCK_STREAM, 0);
    const struct sockaddr *to = (const struct sockaddr *)&address;
    FAILS(connect(client, to, sizeof(address)), ENOENT);
    EXPECT_EQ(bind(listener, to, sizeof(address)), 0);
    EXPECT_EQ(listen(listener, 1), 0);
    EXPECT_EQ(connect(client, to, sizeof(address)), 0);
    int fd = accept(listener, NULL, NULL);
    EXPECT_EQ(write(fd, "x", 1), 1);
    EXPECT_EQ(read(client, &byte, 1), 1);
    EXPECT_EQ(byte, 'x');
}

TEST(posix_unix_sockets_have_names)
{
    posix_lab_run(named, 20, SIM_VERDICT_PASS);
}

static void
names(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    EXPECT_EQ(getaddrinfo("localhost", "http", &hints, &found), 0);
    const struct sockaddr_in *address = (const void *)found->ai_addr;
    EXPECT_EQ(ntohs(address->sin_port), 80);
    EXPECT_EQ(ntohl(address->sin_addr.s_addr), INADDR_LOOPBACK);
    EXPECT(found->ai_next == NULL);
    freeaddrinfo(found);
    EXPECT_EQ(getaddrinfo("example.org", "80", &hints, &found), EAI_NONAME);
}

TEST(posix_names_of_hosts_are_a_fixed_list)
{
    posix_lab_run(names, 2, SIM_VERDICT_PASS);
}
