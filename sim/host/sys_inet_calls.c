/*
 * sys_inet_calls.c -- what a program asks of a socket with an address, but to read and to write.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <string.h>

#include "sim/host/sys_inet_priv.h"

#define BACKLOG_MAX 4096

static bool
is_nonblock(struct sim_fds *fds, int fd)
{
    return ((uint32_t)sim_sys_status(fds, fd) & SIM_SYS_NONBLOCK) != 0;
}

/* It listens: those ask again that have waited for that. */
static void
ask_listener(const struct sim__inet *listener)
{
    rt_list_each(node, &listener->description.fds->sockets->all)
    {
        struct sim__inet *inet = rt_container_of(node, struct sim__inet, link);
        if (inet->says[SIM_SYS_AWAITS_LISTENER] && inet->state == SIM__INET_CONNECTING &&
                inet->domain != AF_UNIX &&
                sim__address_reaches(&inet->peer_address, &listener->own)) {
            sim__inet_fly(inet, SIM__ASK * SIM__INET_SIGN);
        }
    }
}

/* Those that wait for a listener, or for space in its queue, may be on other tables. */
static void
listener_changed(const struct sim__inet *listener)
{
    const struct sim_host *last = NULL;
    rt_list_each(node, &listener->description.fds->sockets->all)
    {
        struct sim_host *host =
                rt_container_of(node, struct sim__inet, link)->description.fds->host;
        if (host != last) {
            sim__host_changed(host);
        }
        last = host;
    }
}

int
sim_sys_socket(struct sim_fds *fds, int domain, int type)
{
    sim__fds_call(fds, "socket");
    if (domain != AF_INET && domain != AF_INET6 && domain != AF_UNIX) {
        return -EAFNOSUPPORT;
    }
    if (type != SOCK_STREAM && type != SOCK_DGRAM) {
        return -ESOCKTNOSUPPORT;
    }
    int err = sim__sys_available(fds, 1);
    if (err != 0) {
        return err;
    }
    struct sim__inet *inet =
            sim__inet_new(fds, domain, type, type == SOCK_STREAM ? "socket" : "UDP socket");
    return sim__fd_open(&inet->description);
}

int
sim_sys_bind(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size)
{
    int err = 0;
    union sim__address asked;
    sim__fds_call(fds, "bind");
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    err = sim__inet_take_address(inet, address, size, &asked);
    if (err != 0 || inet->own_size > 0) {
        return err != 0 ? err : -EINVAL;
    }
    if (!sim__address_is_of_machine(&asked)) {
        return -EADDRNOTAVAIL;
    }
    if (inet->domain != AF_UNIX && sim__address_port(&asked) == 0) {
        sim__inet_bind_to_any(inet);
        asked.in.sin_port = inet->own.in.sin_port;
    } else if (sim__inet_is_taken(inet, &asked)) {
        return -EADDRINUSE;
    }
    inet->own = asked;
    inet->own_size = size < sizeof(asked) ? size : sizeof(asked);
    return 0;
}

int
sim_sys_listen(struct sim_fds *fds, int fd, int backlog)
{
    int err = 0;
    sim__fds_call(fds, "listen");
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type != SOCK_STREAM) {
        return -EOPNOTSUPP;
    }
    if (inet->state != SIM__INET_IDLE && inet->state != SIM__INET_LISTENS) {
        return -EINVAL;
    }
    if (inet->domain == AF_UNIX && inet->own_size == 0) {
        return -EINVAL;
    }
    sim__inet_bind_to_any(inet);
    inet->state = SIM__INET_LISTENS;
    inet->backlog = backlog >= 0 && backlog < BACKLOG_MAX ? backlog : BACKLOG_MAX;
    ask_listener(inet);
    listener_changed(inet);
    return 0;
}

static bool
has_answer(const void *argument)
{
    return ((const struct sim__inet *)argument)->state != SIM__INET_CONNECTING;
}

static bool
has_space(const void *argument)
{
    const struct sim__inet *inet = argument;
    const struct sim__inet *listener =
            sim__inet_find(inet->description.fds, &inet->peer_address, SOCK_STREAM, true);
    return listener == NULL ? !inet->says[SIM_SYS_AWAITS_LISTENER]
                            : listener->queued <= listener->backlog;
}

/* What a connect returns when the first one has ended; a failed one may be tried again then. */
static int
connect_again(struct sim__inet *inet)
{
    int pending = inet->state == SIM__INET_FAILED ? sim__inet_take_error(inet) : 0;
    bool news = inet->unreported && inet->state == SIM__INET_CONNECTED;
    if (inet->state == SIM__INET_FAILED && inet->in.bytes == NULL) { /* It never was connected. */
        inet->state = SIM__INET_IDLE;
        return pending != 0 ? -pending : -ECONNABORTED;
    }
    inet->unreported = false;
    return news ? 0 : -EISCONN;
}

/* Unix sockets: at once, or when the listener has space. */
static int
connect_local(struct sim__inet *inet, bool nonblock, const struct rt_site *await)
{
    int err = 0;
    uint64_t due_ns = sim__sys_due(&inet->description, inet->description.write_wait_ns);
    sim__inet_answer(inet);
    while (inet->state == SIM__INET_CONNECTING && err == 0) {
        err = nonblock ? -EAGAIN
                       : sim__sys_block(inet->description.fds, has_space, inet, due_ns,
                                 &inet->description,
                                 inet->says[SIM_SYS_AWAITS_LISTENER] ? "a listener"
                                                                     : "space in a backlog",
                                 await);
        if (err == 0) {
            sim__inet_answer(inet);
        }
    }
    inet->state = err != 0 ? SIM__INET_IDLE : inet->state;
    return err;
}

/* It asks, or has asked, and waits for the answer. */
static int
connect_far(struct sim__inet *inet, bool nonblock, const struct rt_site *await)
{
    bool first = inet->state == SIM__INET_IDLE;
    struct sim__description *description = &inet->description;
    int err = -EAGAIN;
    if (first) {
        inet->state = SIM__INET_CONNECTING;
        sim__inet_fly(inet, SIM__ASK * SIM__INET_SIGN);
    }
    if (!nonblock) {
        err = sim__sys_block(description->fds, has_answer, inet,
                sim__sys_due(description, description->write_wait_ns), description,
                inet->says[SIM_SYS_AWAITS_LISTENER] ? "a listener" : "an answer", await);
    }
    inet->unreported = err != 0;
    description->refused = err == -EAGAIN;
    return err != -EAGAIN ? err : first ? -EINPROGRESS : -EALREADY;
}

static int
connect_stream(struct sim__inet *inet, bool nonblock, const struct rt_site *await)
{
    if (inet->state != SIM__INET_IDLE && inet->state != SIM__INET_CONNECTING) {
        return connect_again(inet);
    }
    int err = 0;
    sim__inet_bind_to_any(inet);
    if (inet->domain == AF_UNIX) {
        inet->state = SIM__INET_CONNECTING;
        err = connect_local(inet, nonblock, await);
    } else {
        err = connect_far(inet, nonblock, await);
    }
    int pending = inet->state == SIM__INET_FAILED ? sim__inet_take_error(inet) : 0;
    inet->state = inet->state == SIM__INET_FAILED ? SIM__INET_IDLE
                                                  : inet->state; /* It may be tried again. */
    return pending != 0 ? -pending : err;
}

int
sim_sys_connect(struct sim_fds *fds, int fd, const struct sockaddr *address, socklen_t size,
        const struct rt_site *await)
{
    int err = 0;
    union sim__address asked;
    sim__fds_call(fds, "connect");
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type == SOCK_DGRAM && size >= sizeof(sa_family_t) &&
            address->sa_family == AF_UNSPEC) {
        inet->peer_size = 0;
        return 0;
    }
    err = sim__inet_take_address(inet, address, size, &asked);
    if (err == 0 && inet->type == SOCK_STREAM && inet->state == SIM__INET_IDLE &&
            sim__address_is_of_many(&asked)) {
        err = -ENETUNREACH;
    }
    if (err != 0) {
        return err;
    }
    if (inet->type == SOCK_DGRAM || inet->state == SIM__INET_IDLE) {
        inet->peer_address = asked;
        inet->peer_size = size < sizeof(asked) ? size : sizeof(asked);
        sim__inet_bind_to_any(inet);
    }
    if (inet->domain != AF_UNIX &&
            inet->state == SIM__INET_IDLE) { /* From now on between two addresses. */
        if (sim__address_is_any(&inet->peer_address)) {
            sim__address_set_local(&inet->peer_address);
        }
        if (sim__address_is_any(&inet->own)) {
            sim__address_set_local(&inet->own);
        }
    }
    return inet->type == SOCK_DGRAM ? 0 : connect_stream(inet, is_nonblock(fds, fd), await);
}

int
sim_sys_set(struct sim_fds *fds, int fd, enum sim_sys_says what, bool on)
{
    int err = 0;
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet != NULL) {
        inet->says[what] = on;
    }
    return err;
}

int
sim_sys_set_receive_size(struct sim_fds *fds, int fd, uint32_t size)
{
    int err = 0;
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    rt_assert(size > 0 && size <= SIM__PIPE_BYTES);
    if (inet != NULL) {
        inet->receive_size = size;
    }
    return err;
}

static bool
has_connection(const void *argument)
{
    return ((const struct sim__inet *)argument)->queued > 0;
}

int
sim_sys_accept(struct sim_fds *fds, int fd, const struct rt_site *await)
{
    int err = 0;
    sim__fds_call(fds, "accept");
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL || inet->state != SIM__INET_LISTENS) {
        return inet == NULL ? err : inet->type == SOCK_STREAM ? -EINVAL : -EOPNOTSUPP;
    }
    err = sim__sys_available(fds, 1); /* Asked for first, whether or not a connection waits. */
    uint64_t due_ns = sim__sys_due(&inet->description, inet->description.read_wait_ns);
    while (err == 0 && inet->queued == 0 && !is_nonblock(fds, fd)) {
        err = sim__sys_block(
                fds, has_connection, inet, due_ns, &inet->description, "a connection", await);
    }
    if (inet->queued == 0 || err != 0) {
        return err != 0 ? err : -EAGAIN;
    }
    if (sim__fd_full(fds)) { /* By others, meanwhile. */
        return -EMFILE;
    }
    struct rt_list *node = rt_list_pop_front(&inet->queue);
    inet->queued--;
    sim__inet_moved(inet, SIM_EVENT_READ, await, 1);
    listener_changed(inet);
    return sim__fd_open(&rt_container_of(node, struct sim__inet, queue_link)->description);
}

int
sim_sys_address(struct sim_fds *fds, int fd, bool of_peer, struct sockaddr *ret, socklen_t *size)
{
    static const union sim__address unnamed = {.any = {.sa_family = AF_UNIX}};
    int err = 0;
    struct sim__description *description = sim__fd_get(fds, fd);
    const struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL) { /* One of a pair has an empty address. */
        bool socket = description != NULL && description->ops->sys != NULL &&
                      description->ops->sys->error != NULL;
        return socket ? sim__address_give(&unnamed, sizeof(sa_family_t), ret, size) : err;
    }
    if (of_peer) {
        bool known = inet->state == SIM__INET_CONNECTED ||
                     (inet->type == SOCK_DGRAM && inet->peer_size > 0);
        return known ? sim__address_give(&inet->peer_address, inet->peer_size, ret, size)
                     : -ENOTCONN;
    }
    union sim__address none = {.any = {.sa_family = (sa_family_t)inet->domain}};
    socklen_t least = inet->domain == AF_INET    ? sizeof(none.in)
                      : inet->domain == AF_INET6 ? sizeof(none.in6)
                                                 : sizeof(sa_family_t);
    return inet->own_size > 0 ? sim__address_give(&inet->own, inet->own_size, ret, size)
                              : sim__address_give(&none, least, ret, size);
}

int
sim_sys_socket_kind(struct sim_fds *fds, int fd, struct sim_sys_socket_kind *ret)
{
    int err = 0;
    const struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet != NULL) {
        *ret = (struct sim_sys_socket_kind){
                inet->domain, inet->type, inet->state == SIM__INET_LISTENS};
        return 0;
    }
    err = sim_sys_address(fds, fd, false, NULL, NULL);
    *ret = (struct sim_sys_socket_kind){AF_UNIX, SOCK_STREAM, false};
    return err;
}

int64_t
sim_sys_send_to(struct sim_fds *fds, int fd, const void *bytes, size_t size,
        const struct sockaddr *address, socklen_t address_size, const struct rt_site *await)
{
    int err = 0;
    union sim__address asked;
    sim__fds_call(fds, "send");
    struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL) {
        return err;
    }
    if (inet->type != SOCK_DGRAM) {
        return -EISCONN;
    }
    err = address != NULL ? sim__inet_take_address(inet, address, address_size, &asked) : 0;
    const union sim__address *to = address != NULL       ? &asked
                                   : inet->peer_size > 0 ? &inet->peer_address
                                                         : NULL;
    return err != 0 ? err : sim__inet_send_datagram(inet, bytes, size, to, await);
}

int
sim_sys_sender(struct sim_fds *fds, int fd, struct sockaddr *ret, socklen_t *size)
{
    int err = 0;
    const struct sim__inet *inet = sim__inet_at(fds, fd, &err);
    if (inet == NULL || inet->type != SOCK_DGRAM) {
        return sim_sys_address(fds, fd, true, ret, size);
    }
    return sim__address_give(&inet->sender, inet->sender_size, ret, size);
}
