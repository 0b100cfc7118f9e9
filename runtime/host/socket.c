/*
 * socket.c -- sockets of Linux: one system call a function, and errno in one table.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "runtime/host/socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "runtime/base/assert.h"
#include "runtime/host/libc_internal.h"

/* ---- Errors. --------------------------------------------------------------------------------- */

static const struct {
    int error;
    rt_err err;
} errors[] = {
        {EAGAIN, RT_E_AGAIN},
        {EINPROGRESS, RT_E_AGAIN},
        {EADDRINUSE, RT_E_ADDRESS_IN_USE},
        {EMFILE, RT_E_NO_DESCRIPTOR},
        {ENFILE, RT_E_NO_DESCRIPTOR},
        {ENOBUFS, RT_E_FULL},
        {ENOMEM, RT_E_FULL},
        {ENOSPC, RT_E_FULL},
        {ECONNREFUSED, RT_E_REFUSED},
        {ECONNRESET, RT_E_RESET},
        {ECONNABORTED, RT_E_ABORTED},
        {ETIMEDOUT, RT_E_TIMED_OUT},
        {EPIPE, RT_E_CLOSED},
        {ENOTCONN, RT_E_CLOSED},
        {EBADF, RT_E_INVALID},
        {ENOTSOCK, RT_E_INVALID},
        {EMSGSIZE, RT_E_INVALID},
};

rt_err
rt_errno(int error)
{
    if (error == 0) {
        return RT_OK;
    }
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (errors[i].error == error) {
            return errors[i].err;
        }
    }
    return RT_E_SYSTEM;
}

static rt_err
failed_by(struct rt_failure *failure, const char *operation, int error)
{
    rt_assert(error != 0);
    rt_err err = rt_errno(error);
    if (err != RT_E_AGAIN) {
        *failure = (struct rt_failure){operation, error};
    }
    return err;
}

rt_err
rt_failed(struct rt_failure *failure, const char *operation)
{
    return failed_by(failure, operation, errno);
}

const char *
rt_failure_text(const struct rt_failure *failure, const struct rt_net_address *peer, char *text,
        size_t size)
{
    char address[RT_ADDRESS_TEXT] = "";
    rt_assert(size > 0);
    if (peer != NULL) {
        (void)rt_address_text(peer, address);
    }
    const char *name = strerrorname_np(failure->error);
    (void)snprintf(text, size, "%s%s%s: %s (%s)",
            failure->operation != NULL ? failure->operation : "nothing failed",
            peer != NULL ? " " : "", address, name != NULL ? name : "an unknown error",
            strerrordesc_np(failure->error) != NULL ? strerrordesc_np(failure->error) : "?");
    return text;
}

/* ---- Addresses. ------------------------------------------------------------------------------ */

/* An address of IPv4 is ::ffff:a.b.c.d: these are its first bytes. */
static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool
is_v4(const struct rt_net_address *address)
{
    return memcmp(address->ip, mapped, sizeof(mapped)) == 0;
}

union socket_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

static socklen_t
to_system(const struct rt_net_address *address, union socket_address *ret_address)
{
    *ret_address = (union socket_address){.storage = {.ss_family = AF_UNSPEC}};
    if (is_v4(address)) {
        ret_address->v4.sin_family = AF_INET;
        ret_address->v4.sin_port = htons(address->port);
        memcpy(&ret_address->v4.sin_addr, address->ip + sizeof(mapped), 4);
        return sizeof(ret_address->v4);
    }
    ret_address->v6.sin6_family = AF_INET6;
    ret_address->v6.sin6_port = htons(address->port);
    memcpy(&ret_address->v6.sin6_addr, address->ip, sizeof(address->ip));
    return sizeof(ret_address->v6);
}

/* Any other family has no address: all zero. */
static struct rt_net_address
from_system(const union socket_address *from)
{
    struct rt_net_address address = {.port = 0};
    if (from->any.sa_family == AF_INET) {
        memcpy(address.ip, mapped, sizeof(mapped));
        memcpy(address.ip + sizeof(mapped), &from->v4.sin_addr, 4);
        address.port = ntohs(from->v4.sin_port);
    } else if (from->any.sa_family == AF_INET6) {
        memcpy(address.ip, &from->v6.sin6_addr, sizeof(address.ip));
        address.port = ntohs(from->v6.sin6_port);
    }
    return address;
}

const char *
rt_address_text(const struct rt_net_address *address, char *text)
{
    char ip[INET6_ADDRSTRLEN];
    bool v4 = is_v4(address);
    const void *bytes = v4 ? address->ip + sizeof(mapped) : address->ip;
    rt_assert(inet_ntop(v4 ? AF_INET : AF_INET6, bytes, ip, sizeof(ip)) != NULL);
    (void)snprintf(text, RT_ADDRESS_TEXT, v4 ? "%s:%u" : "[%s]:%u", ip, address->port);
    return text;
}

/* The digits after the last colon. */
static bool
parse_port(const char *text, uint16_t *ret_port)
{
    unsigned port = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0') {
        return false;
    }
    port = (unsigned)strtoul(text, NULL, 10);
    *ret_port = (uint16_t)port;
    return port <= UINT16_MAX;
}

rt_err
rt_address_parse(const char *text, struct rt_net_address *ret_address)
{
    struct rt_net_address address = {.port = 0};
    char ip[INET6_ADDRSTRLEN + 2];
    const char *colon = strrchr(text, ':');
    size_t size = colon != NULL ? (size_t)(colon - text) : sizeof(ip);
    if (size == 0 || size >= sizeof(ip) || !parse_port(colon + 1, &address.port)) {
        return RT_E_INVALID;
    }
    memcpy(ip, text, size);
    ip[size] = '\0';
    bool v6 = ip[0] == '[' && ip[size - 1] == ']';
    if (v6) {
        ip[size - 1] = '\0';
    } else {
        memcpy(address.ip, mapped, sizeof(mapped));
    }
    int parsed = v6 ? inet_pton(AF_INET6, ip + 1, address.ip)
                    : inet_pton(AF_INET, ip, address.ip + sizeof(mapped));
    if (parsed != 1) {
        return RT_E_INVALID;
    }
    *ret_address = address;
    return RT_OK;
}

/* ---- Making. --------------------------------------------------------------------------------- */

/* A failure after the socket was made: closes it, and keeps the error of what failed. */
static rt_err
give_up(int socket, struct rt_failure *failure, const char *operation)
{
    rt_err err = rt_failed(failure, operation);
    rt_socket_close(socket);
    return err;
}

static rt_err
new_socket(
        const union socket_address *address, int type, struct rt_failure *failure, int *ret_socket)
{
    int made = socket(address->any.sa_family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (made < 0) {
        return rt_failed(failure, "socket for");
    }
    *ret_socket = made;
    return RT_OK;
}

static bool
set(int socket, int level, int option)
{
    const int on = 1;
    return setsockopt(socket, level, option, &on, sizeof(on)) == 0;
}

rt_err
rt_socket_listen(const struct rt_net_address *address, struct rt_listen_how how,
        struct rt_failure *failure, int *ret_socket)
{
    union socket_address where;
    socklen_t size = to_system(address, &where);
    int made = -1;
    rt_assert(how.backlog > 0);
    rt_err err = new_socket(&where, SOCK_STREAM, failure, &made);
    if (err != RT_OK) {
        return err;
    }
    /* The connections take TCP_NODELAY over, so it costs no call for each. */
    if (!set(made, SOL_SOCKET, SO_REUSEADDR) || !set(made, IPPROTO_TCP, TCP_NODELAY) ||
            (how.shared && !set(made, SOL_SOCKET, SO_REUSEPORT))) {
        return give_up(made, failure, "options of");
    }
    if (bind(made, &where.any, size) != 0) {
        return give_up(made, failure, "bind");
    }
    if (listen(made, how.backlog > INT32_MAX ? INT32_MAX : (int)how.backlog) != 0) {
        return give_up(made, failure, "listen at");
    }
    *ret_socket = made;
    return RT_OK;
}

rt_err
rt_socket_connect(const struct rt_net_address *address, struct rt_failure *failure, int *ret_socket)
{
    union socket_address where;
    socklen_t size = to_system(address, &where);
    int made = -1;
    rt_err err = new_socket(&where, SOCK_STREAM, failure, &made);
    if (err != RT_OK) {
        return err;
    }
    if (!set(made, IPPROTO_TCP, TCP_NODELAY)) {
        return give_up(made, failure, "options of");
    }
    /* Interrupted, a connect goes on (POSIX); it must not be repeated. */
    if (connect(made, &where.any, size) != 0 && errno != EINPROGRESS && errno != EINTR) {
        return give_up(made, failure, "connect to");
    }
    *ret_socket = made;
    return RT_OK;
}

rt_err
rt_socket_connected(int socket, struct rt_failure *failure)
{
    int error = 0;
    socklen_t size = sizeof(error);
    if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
        return rt_failed(failure, "connect to");
    }
    return error == 0 ? RT_OK : failed_by(failure, "connect to", error);
}

/* Errors of the network that accept(2) reports for a connection that it has taken out: as if that
 * one had been gone. */
static bool
concerns_the_connection_only(int error)
{
    static const int those[] = {ECONNABORTED, EPERM, EPROTO, ENETDOWN, ENOPROTOOPT, EHOSTDOWN,
            ENONET, EHOSTUNREACH, ENETUNREACH};
    for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++) {
        if (those[i] == error) {
            return true;
        }
    }
    return false;
}

rt_err
rt_socket_accept(
        int socket, struct rt_failure *failure, int *ret_socket, struct rt_net_address *ret_peer)
{
    union socket_address peer = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(peer);
    int made = -1;
    do {
        made = accept4(socket, &peer.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (made < 0 && errno == EINTR);
    if (made < 0) {
        bool gone = concerns_the_connection_only(errno);
        rt_err err = rt_failed(failure, "accept");
        return gone ? RT_E_ABORTED : err;
    }
    *ret_socket = made;
    *ret_peer = from_system(&peer);
    return RT_OK;
}

/* ---- Within the machine. --------------------------------------------------------------------- */

static socklen_t
to_path(const char *path, union socket_address *ret_address)
{
    size_t size = strlen(path);
    *ret_address = (union socket_address){.local = {.sun_family = AF_UNIX}};
    rt_assert(size > 0 && size < sizeof(ret_address->local.sun_path));
    memcpy(ret_address->local.sun_path, path, size + 1);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + size + 1);
}

rt_err
rt_socket_local_listen(
        const char *path, uint32_t backlog, struct rt_failure *failure, int *ret_socket)
{
    union socket_address where;
    socklen_t size = to_path(path, &where);
    int made = -1;
    rt_err err = new_socket(&where, SOCK_STREAM, failure, &made);
    if (err != RT_OK) {
        return err;
    }
    if (bind(made, &where.any, size) != 0) {
        return give_up(made, failure, "bind");
    }
    if (listen(made, backlog > INT32_MAX ? INT32_MAX : (int)backlog) != 0) {
        return give_up(made, failure, "listen at");
    }
    *ret_socket = made;
    return RT_OK;
}

rt_err
rt_socket_local_connect(const char *path, struct rt_failure *failure, int *ret_socket)
{
    union socket_address where;
    socklen_t size = to_path(path, &where);
    int made = -1;
    rt_err err = new_socket(&where, SOCK_STREAM, failure, &made);
    if (err != RT_OK) {
        return err;
    }
    while (connect(made, &where.any, size) != 0) {
        if (errno == EINTR) {
            continue;
        }
        bool full = errno == EAGAIN; /* Of the backlog: no event would follow. */
        bool missing = errno == ENOENT;
        err = give_up(made, failure, "connect to");
        return full ? RT_E_FULL : missing ? RT_E_REFUSED : err;
    }
    *ret_socket = made;
    return RT_OK;
}

void
rt_socket_local_forget(int socket)
{
    union socket_address address = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(address);
    if (getsockname(socket, &address.any, &size) == 0 && address.any.sa_family == AF_UNIX) {
        (void)unlink(address.local.sun_path); /* Removed by another already: as well. */
    }
}

rt_err
rt_socket_pipe(struct rt_failure *failure, int ret_sockets[2])
{
    return pipe2(ret_sockets, O_NONBLOCK | O_CLOEXEC) == 0 ? RT_OK : rt_failed(failure, "pipe");
}

/* ---- Datagrams. ------------------------------------------------------------------------------ */

rt_err
rt_socket_udp_bind(const struct rt_net_address *address, struct rt_failure *failure,
        int *ret_socket, struct rt_net_address *ret_local)
{
    union socket_address where;
    socklen_t size = to_system(address, &where);
    int made = -1;
    rt_err err = new_socket(&where, SOCK_DGRAM, failure, &made);
    if (err == RT_OK && bind(made, &where.any, size) != 0) {
        return give_up(made, failure, "bind");
    }
    if (err == RT_OK) {
        err = rt_socket_address(made, failure, ret_local);
        rt_assert(err == RT_OK);
        *ret_socket = made;
    }
    return err;
}

rt_err
rt_socket_udp_connect(int socket, const struct rt_net_address *peer, struct rt_failure *failure)
{
    union socket_address where;
    socklen_t size = to_system(peer, &where);
    return connect(socket, &where.any, size) == 0 ? RT_OK : rt_failed(failure, "connect to");
}

rt_err
rt_socket_send_to(int socket, const struct rt_net_address *to, const void *bytes, size_t size,
        struct rt_failure *failure)
{
    union socket_address where;
    socklen_t where_size = to != NULL ? to_system(to, &where) : 0;
    ssize_t moved = -1;
    do {
        moved = sendto(
                socket, bytes, size, MSG_NOSIGNAL, to != NULL ? &where.any : NULL, where_size);
    } while (moved < 0 && errno == EINTR);
    rt_assert(moved < 0 || (size_t)moved == size);
    return moved >= 0 ? RT_OK : rt_failed(failure, "send to");
}

rt_err
rt_socket_receive_from(int socket, void *buffer, size_t size, struct rt_failure *failure,
        struct rt_net_datagram *ret_datagram)
{
    union socket_address from = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t from_size = sizeof(from);
    ssize_t moved = -1;
    do { /* MSG_TRUNC: answers the whole size. */
        moved = recvfrom(socket, buffer, size, MSG_TRUNC, &from.any, &from_size);
    } while (moved < 0 && errno == EINTR);
    if (moved < 0) {
        return rt_failed(failure, "receive from");
    }
    size_t full_size = (size_t)moved;
    *ret_datagram = (struct rt_net_datagram){.size = full_size < size ? full_size : size,
            .full_size = full_size,
            .from = from_system(&from)};
    return RT_OK;
}

/* ---- Using. ---------------------------------------------------------------------------------- */

rt_err
rt_socket_read(int socket, void *buffer, size_t size, struct rt_failure *failure, size_t *ret_size)
{
    ssize_t moved = -1;
    rt_assert(size > 0);
    do {
        moved = read(socket, buffer, size);
    } while (moved < 0 && errno == EINTR);
    if (moved < 0) {
        return rt_failed(failure, "read from");
    }
    *ret_size = (size_t)moved;
    return moved == 0 ? RT_E_CLOSED : RT_OK;
}

_Static_assert(sizeof(struct rt_net_part) == sizeof(struct iovec) &&
                       offsetof(struct rt_net_part, size) == offsetof(struct iovec, iov_len),
        "parts are what the system takes");

/* The system reads from it only. */
static struct iovec *
vector_of(const struct rt_net_part *parts)
{
    union {
        const struct rt_net_part *parts;
        struct iovec *vector;
    } both = {.parts = parts};
    return both.vector;
}

/* A pipe's writes raise SIGPIPE: it is blocked for the call, and taken if the call raised it. */
static ssize_t
write_to_pipe(int socket, const struct rt_net_part *parts, uint32_t count)
{
    static const struct timespec at_once = {0, 0};
    sigset_t broken;
    sigset_t before;
    sigset_t pending;
    rt_assert(sigemptyset(&broken) == 0 && sigaddset(&broken, SIGPIPE) == 0);
    rt_assert(pthread_sigmask(SIG_BLOCK, &broken, &before) == 0);
    rt_assert(sigpending(&pending) == 0);
    ssize_t moved = writev(socket, vector_of(parts), (int)count);
    int error = errno;
    if (moved < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        (void)sigtimedwait(&broken, NULL, &at_once);
    }
    rt_assert(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);
    errno = error;
    return moved;
}

/* One part is the usual case, and send is faster. */
static ssize_t
write_once(int socket, const struct rt_net_part *parts, uint32_t count)
{
    /* An int in musl, a size_t in glibc. */
    struct msghdr message = {.msg_iov = vector_of(parts), .msg_iovlen = (uint16_t)count};
    ssize_t moved = count == 1 ? send(socket, parts->bytes, parts->size, MSG_NOSIGNAL)
                               : sendmsg(socket, &message, MSG_NOSIGNAL);
    return moved < 0 && errno == ENOTSOCK ? write_to_pipe(socket, parts, count) : moved;
}

rt_err
rt_socket_write(int socket, const struct rt_net_part *parts, uint32_t count,
        struct rt_failure *failure, size_t *ret_size)
{
    ssize_t moved = -1;
    rt_assert(count > 0 && count <= RT_NET_PARTS);
    do {
        moved = write_once(socket, parts, count);
    } while (moved < 0 && errno == EINTR);
    if (moved < 0) {
        return rt_failed(failure, "write to");
    }
    *ret_size = (size_t)moved;
    return RT_OK;
}

rt_err
rt_socket_shutdown(int socket, struct rt_failure *failure)
{
    return shutdown(socket, SHUT_WR) == 0 ? RT_OK : rt_failed(failure, "shutdown of");
}

rt_err
rt_socket_address(int socket, struct rt_failure *failure, struct rt_net_address *ret_address)
{
    union socket_address address = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(address);
    if (getsockname(socket, &address.any, &size) != 0) {
        return rt_failed(failure, "address of");
    }
    *ret_address = from_system(&address);
    return RT_OK;
}

rt_err
rt_socket_peer(int socket, struct rt_failure *failure, struct rt_net_address *ret_address)
{
    union socket_address address = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(address);
    if (getpeername(socket, &address.any, &size) != 0) {
        return rt_failed(failure, "peer of");
    }
    *ret_address = from_system(&address);
    return RT_OK;
}

void
rt_socket_close(int socket)
{
    /* Linux has taken the number back before anything can interrupt it: never twice. */
    rt_assert(close(socket) == 0 || errno != EBADF);
}
