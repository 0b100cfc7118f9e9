/*
 * uring_net.c -- the seam of the network over a ring.
 *
 * A socket has at most one operation that waits for its peer (accept, receive, or the poll of a
 * connect) and one send. Receiving goes on by itself, and `keep_receiving` is called wherever it
 * may have stopped: at each completion, and when the last buffer of a socket was read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/host/uring_internal.h"

#define GROUP 0 /* Of the shared buffers. */

static struct rt_uring *
uring_of(struct rt_net *net)
{
    rt_check(net, RT_NET_MAGIC);
    return rt_container_of(rt_linux_of_net(net), struct rt_uring, base);
}

/* Makes `fd` one of ours. */
static rt_err
adopt(struct rt_uring *uring, int fd, enum uring_socket_kind kind)
{
    if ((uint32_t)fd >= uring->socket_count) {
        uint32_t count = (uint32_t)fd * 2 + 64;
        struct rt_uring_socket *grown = realloc(uring->sockets, count * sizeof(*grown));
        if (grown == NULL) {
            return RT_E_FULL;
        }
        memset(grown + uring->socket_count, 0, (count - uring->socket_count) * sizeof(*grown));
        uring->sockets = grown;
        uring->socket_count = count;
    }
    struct rt_uring_socket *socket = &uring->sockets[fd];
    /* What outlives a descriptor: its generation, and its place in the list of ready ones. */
    *socket = (struct rt_uring_socket){.generation = socket->generation + 1,
            .queued = socket->queued,
            .next_ready = socket->next_ready,
            .first_accepted = -1,
            .last_accepted = -1,
            .next_accepted = -1,
            .kind = (uint8_t)kind};
    return RT_OK;
}

/* ---- Events. --------------------------------------------------------------------------------- */

void
uring_report(struct rt_uring *uring, struct rt_uring_socket *socket, uint32_t events)
{
    int fd = uring_number_of(uring, socket);
    socket->events |= events;
    if (socket->queued || !socket->watched || socket->events == 0) {
        return;
    }
    socket->queued = true;
    socket->next_ready = -1;
    if (uring->ready_first < 0) {
        uring->ready_first = fd;
    } else {
        uring->sockets[uring->ready_last].next_ready = fd;
    }
    uring->ready_last = fd;
}

static struct rt_uring_socket *
pop_ready(struct rt_uring *uring)
{
    struct rt_uring_socket *socket = uring_socket_at(uring, uring->ready_first);
    uring->ready_first = socket->next_ready;
    socket->queued = false;
    return socket;
}

static uint32_t
net_fetch(struct rt_net *net, struct rt_net_event *ret_events, uint32_t max)
{
    struct rt_uring *uring = uring_of(net);
    uint32_t count = 0;
    if (!uring_has_events(uring) && !uring->looked) {
        uring_look(uring);
    }
    uring->looked = false;
    while (count < max && uring_has_events(uring)) {
        struct rt_uring_socket *socket = pop_ready(uring);
        if (socket->watched && socket->events != 0) {
            ret_events[count++] = (struct rt_net_event){socket->token, socket->events};
            socket->events = 0;
        }
    }
    return count;
}

/* ---- Buffers for receiving. ------------------------------------------------------------------ */

static void
give_buffer(struct rt_uring *uring, uint16_t buffer)
{
    struct rt_uring_kernel *kernel = uring->kernel;
    rt_assert(buffer < RT_URING_BUFFERS);
    io_uring_buf_ring_add(kernel->shared, kernel->bytes + (size_t)buffer * RT_URING_BUFFER,
            RT_URING_BUFFER, buffer, io_uring_buf_ring_mask(RT_URING_BUFFERS), 0);
    io_uring_buf_ring_advance(kernel->shared, 1);
}

static void
hold_buffer(struct rt_uring *uring, struct rt_uring_socket *socket, uint16_t buffer, int size)
{
    rt_assert(buffer < RT_URING_BUFFERS);
    uring->kernel->received[buffer] = (uint32_t)size;
    if (socket->held == 0) {
        socket->first_buffer = buffer;
    } else {
        uring->kernel->next[socket->last_buffer] = buffer;
    }
    socket->last_buffer = buffer;
    socket->held++;
}

static void
drop_first_buffer(struct rt_uring *uring, struct rt_uring_socket *socket)
{
    uint16_t buffer = socket->first_buffer;
    rt_assert(socket->held > 0);
    socket->first_buffer = uring->kernel->next[buffer];
    socket->held--;
    socket->taken = 0;
    give_buffer(uring, buffer);
}

/* ---- Operations that wait for the peer. ------------------------------------------------------ */

static enum uring_kind
operation_of(const struct rt_uring_socket *socket)
{
    switch ((enum uring_socket_kind)socket->kind) {
    case URING_LISTENER:
        return URING_ACCEPT;
    case URING_CONNECTING:
        return URING_WRITABLE;
    case URING_DIRECT:
        return URING_CHANGED;
    case URING_UNKNOWN:
    case URING_STREAM:
        break;
    }
    return URING_RECEIVE;
}

static uint64_t
word_of(const struct rt_uring *uring, const struct rt_uring_socket *socket)
{
    return uring_word(
            operation_of(socket), (uint32_t)uring_number_of(uring, socket), socket->generation);
}

/* Begins to accept, to receive, or to wait for a connect. */
static void
begin(struct rt_uring *uring, struct rt_uring_socket *socket)
{
    struct io_uring_sqe *sqe = uring_sqe(uring);
    int fd = uring_number_of(uring, socket);
    rt_assert(!socket->under_way);
    if (socket->kind == URING_LISTENER) {
        io_uring_prep_multishot_accept(sqe, fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } else if (socket->kind == URING_CONNECTING) {
        io_uring_prep_poll_add(sqe, fd, POLLOUT);
    } else if (socket->kind == URING_DIRECT) {
        io_uring_prep_poll_multishot(sqe, fd, POLLIN | POLLOUT | POLLRDHUP);
    } else {
        io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
        sqe->flags |= IOSQE_BUFFER_SELECT;
        sqe->buf_group = GROUP;
    }
    io_uring_sqe_set_data64(sqe, word_of(uring, socket));
    socket->under_way = true;
    socket->stopping = false;
}

static void
stop(struct rt_uring *uring, struct rt_uring_socket *socket)
{
    if (socket->under_way && !socket->stopping) {
        uring_cancel(uring, word_of(uring, socket));
        socket->stopping = true;
    }
}

static void
keep_receiving(struct rt_uring *uring, struct rt_uring_socket *socket)
{
    bool open = socket->watched && !socket->ended && socket->error == 0;
    if (open && socket->kind == URING_STREAM && !socket->under_way && socket->held == 0) {
        begin(uring, socket);
    }
}

static void
received(struct rt_uring *uring, struct rt_uring_socket *socket, int result, uint32_t flags)
{
    if (result > 0) {
        hold_buffer(uring, socket, (uint16_t)(flags >> IORING_CQE_BUFFER_SHIFT), result);
        uring_report(uring, socket, RT_NET_READABLE);
        if (socket->held >= RT_URING_HELD) {
            stop(uring, socket);
        }
    } else if (result == 0) {
        socket->ended = true;
        uring_report(uring, socket, RT_NET_READABLE | RT_NET_READ_CLOSED);
    } else if (result == -ENOBUFS) {
        uring_report(uring, socket, RT_NET_READABLE); /* `read` does without. */
        return;
    } else if (result != -ECANCELED) {
        socket->error = -result;
        uring_report(uring, socket, RT_NET_READABLE | RT_NET_ERROR);
    }
    keep_receiving(uring, socket);
}

/* A change of one that is read and written directly. */
static void
changed(struct rt_uring *uring, struct rt_uring_socket *socket, int result)
{
    static const struct {
        int of_poll;
        uint32_t of_net;
    } bits[] = {
            {POLLIN, RT_NET_READABLE},
            {POLLOUT, RT_NET_WRITABLE},
            {POLLRDHUP, RT_NET_READ_CLOSED},
            {POLLERR, RT_NET_ERROR},
            {POLLHUP, RT_NET_HANGUP},
    };
    for (size_t i = 0; result > 0 && i < sizeof(bits) / sizeof(bits[0]); i++) {
        uring_report(uring, socket, (result & bits[i].of_poll) != 0 ? bits[i].of_net : 0);
    }
    if (result >= 0 && !socket->under_way && socket->watched) {
        begin(uring, socket);
    }
}

static void
accepted(struct rt_uring *uring, struct rt_uring_socket *listener, int result)
{
    int number = uring_number_of(uring, listener);
    if (result == -ECANCELED) {
        return;
    }
    if (result < 0) {
        listener->error = -result; /* `accept` answers it, and begins again. */
    } else if (adopt(uring, result, URING_STREAM) != RT_OK) {
        rt_socket_close(result);
    } else {
        listener = uring_socket_at(uring, number); /* The table may have moved. */
        if (listener->first_accepted < 0) {
            listener->first_accepted = result;
        } else {
            uring->sockets[listener->last_accepted].next_accepted = result;
        }
        listener->last_accepted = result;
    }
    uring_report(uring, listener, RT_NET_READABLE);
}

/* ---- Completions. ---------------------------------------------------------------------------- */

/* One that comes too late for its socket: what it brings is given back. */
static void
discard(struct rt_uring *uring, enum uring_kind kind, int result, uint32_t flags)
{
    if (kind == URING_ACCEPT && result >= 0) {
        rt_socket_close(result);
    }
    if ((flags & IORING_CQE_F_BUFFER) != 0) {
        give_buffer(uring, (uint16_t)(flags >> IORING_CQE_BUFFER_SHIFT));
    }
}

static void
socket_completed(struct rt_uring *uring, uint64_t word, int result, uint32_t flags)
{
    enum uring_kind kind = (enum uring_kind)(word >> 56);
    struct rt_uring_socket *socket = uring_socket_at(uring, (int)(word >> 32 & 0xffffff));
    if (socket->generation != (uint32_t)word) {
        discard(uring, kind, result, flags);
        return;
    }
    if ((flags & IORING_CQE_F_MORE) == 0) {
        socket->under_way = socket->stopping = false;
    }
    if (kind == URING_ACCEPT) {
        accepted(uring, socket, result);
    } else if (kind == URING_RECEIVE) {
        received(uring, socket, result, flags);
    } else if (kind == URING_CHANGED) {
        changed(uring, socket, result);
    } else {
        uring_report(uring, socket, RT_NET_WRITABLE);
    }
}

void
uring_net_completed(struct rt_uring *uring, uint64_t word, int result, uint32_t flags)
{
    enum uring_kind kind = (enum uring_kind)(word >> 56);
    uint32_t number = word >> 32 & 0xffffff;
    if (kind == URING_SEND) {
        uring_sent(uring, number, (uint32_t)word, result);
    } else if (kind == URING_LINGER) {
        uring_linger_ended(uring, number, (uint32_t)word);
    } else {
        socket_completed(uring, word, result, flags);
    }
}

/* ---- The calls. ------------------------------------------------------------------------------ */

/* The socket `fd` that was made, where `err` is RT_OK. */
static rt_err
made(struct rt_uring *uring, rt_err err, int fd, enum uring_socket_kind kind, int *ret_socket)
{
    if (err != RT_OK) {
        return err;
    }
    err = adopt(uring, fd, kind);
    if (err != RT_OK) {
        rt_socket_close(fd);
        return err;
    }
    *ret_socket = fd;
    return RT_OK;
}

static rt_err
net_listen_start(
        struct rt_net *net, const struct rt_net_address *address, uint32_t backlog, int *ret_socket)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_listen_how how = {backlog, uring->base.shared_ports};
    int fd = -1;
    rt_err err = rt_socket_listen(address, how, &uring->base.failure, &fd);
    return made(uring, err, fd, URING_LISTENER, ret_socket);
}

static rt_err
net_connect_start(struct rt_net *net, const struct rt_net_address *address, int *ret_socket)
{
    struct rt_uring *uring = uring_of(net);
    int fd = -1;
    rt_err err = rt_socket_connect(address, &uring->base.failure, &fd);
    return made(uring, err, fd, URING_CONNECTING, ret_socket);
}

static rt_err
net_local_listen(struct rt_net *net, const char *path, uint32_t backlog, int *ret_socket)
{
    struct rt_uring *uring = uring_of(net);
    int fd = -1;
    rt_err err = rt_socket_local_listen(path, backlog, &uring->base.failure, &fd);
    return made(uring, err, fd, URING_LISTENER, ret_socket);
}

static rt_err
net_local_connect(struct rt_net *net, const char *path, int *ret_socket)
{
    struct rt_uring *uring = uring_of(net);
    int fd = -1;
    rt_err err = rt_socket_local_connect(path, &uring->base.failure, &fd);
    return made(uring, err, fd, URING_CONNECTING, ret_socket);
}

static rt_err
net_pipe(struct rt_net *net, int ret_sockets[2])
{
    struct rt_uring *uring = uring_of(net);
    int fds[2] = {-1, -1};
    rt_err err = rt_socket_pipe(&uring->base.failure, fds);
    if (err != RT_OK) {
        return err;
    }
    err = made(uring, RT_OK, fds[1], URING_DIRECT, &ret_sockets[1]);
    if (err != RT_OK) {
        rt_socket_close(fds[0]);
        return err;
    }
    err = made(uring, RT_OK, fds[0], URING_DIRECT, &ret_sockets[0]);
    if (err != RT_OK) {
        rt_socket_close(fds[1]);
    }
    return err;
}

static rt_err
net_udp_bind(struct rt_net *net, const struct rt_net_address *address, int *ret_socket,
        struct rt_net_address *ret_local)
{
    struct rt_uring *uring = uring_of(net);
    int fd = -1;
    rt_err err = rt_socket_udp_bind(address, &uring->base.failure, &fd, ret_local);
    return made(uring, err, fd, URING_DIRECT, ret_socket);
}

static rt_err
net_connect_finish(struct rt_net *net, int fd)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    rt_err err = rt_socket_connected(fd, &uring->base.failure);
    if (err == RT_OK) {
        socket->kind = URING_STREAM;
        socket->generation++; /* The poll was another operation. */
        keep_receiving(uring, socket);
    } else if (err == RT_E_AGAIN && !socket->under_way) {
        begin(uring, socket);
    }
    return err;
}

/* The error that completions have brought; once. */
static rt_err
take_error(struct rt_uring *uring, struct rt_uring_socket *socket, const char *operation)
{
    errno = socket->error;
    socket->error = 0;
    return rt_failed(&uring->base.failure, operation);
}

static rt_err
accept_error(struct rt_uring *uring, struct rt_uring_socket *listener)
{
    bool exhausted = listener->error == EMFILE || listener->error == ENFILE ||
                     listener->error == ENOMEM || listener->error == ENOBUFS;
    rt_err err = take_error(uring, listener, "accept");
    begin(uring, listener);
    return exhausted ? err : RT_E_ABORTED;
}

static rt_err
net_accept(struct rt_net *net, int fd, int *ret_socket, struct rt_net_address *ret_peer)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *listener = uring_socket_at(uring, fd);
    int found = listener->first_accepted;
    if (found < 0) {
        if (listener->error != 0) {
            return accept_error(uring, listener);
        }
        if (!listener->under_way) {
            begin(uring, listener);
        }
        return RT_E_AGAIN;
    }
    struct rt_uring_socket *socket = uring_socket_at(uring, found);
    listener->first_accepted = socket->next_accepted;
    rt_err err = rt_socket_peer(found, &uring->base.failure, ret_peer);
    if (err != RT_OK) {
        rt_socket_close(found);
        return RT_E_ABORTED;
    }
    *ret_socket = found;
    return RT_OK;
}

/* Copies what has been received. */
static size_t
copy_out(struct rt_uring *uring, struct rt_uring_socket *socket, char *to, size_t size)
{
    size_t copied = 0;
    while (copied < size && socket->held > 0) {
        uint16_t buffer = socket->first_buffer;
        const char *from = uring->kernel->bytes + (size_t)buffer * RT_URING_BUFFER;
        size_t left = uring->kernel->received[buffer] - socket->taken;
        size_t part = left < size - copied ? left : size - copied;
        memcpy(to + copied, from + socket->taken, part);
        copied += part;
        socket->taken += (uint32_t)part;
        if (part == left) {
            drop_first_buffer(uring, socket);
        }
    }
    return copied;
}

/* No buffer of the socket's, and none under way: the shared ones had run out. */
static rt_err
read_without(struct rt_uring *uring, struct rt_uring_socket *socket, void *buffer, size_t size,
        size_t *ret_size)
{
    rt_err err = rt_socket_read(
            uring_number_of(uring, socket), buffer, size, &uring->base.failure, ret_size);
    socket->ended = err == RT_E_CLOSED;
    if (err == RT_OK || err == RT_E_AGAIN) {
        keep_receiving(uring, socket);
    }
    return err;
}

static rt_err
net_read(struct rt_net *net, int fd, void *buffer, size_t size, size_t *ret_size,
        const struct rt_site *await)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    (void)await;
    if (socket->kind == URING_DIRECT) {
        return rt_socket_read(fd, buffer, size, &uring->base.failure, ret_size);
    }
    if (socket->held > 0) {
        *ret_size = copy_out(uring, socket, buffer, size);
        keep_receiving(uring, socket);
        return RT_OK;
    }
    if (socket->error != 0) {
        return take_error(uring, socket, "read");
    }
    if (socket->ended) {
        return RT_E_CLOSED;
    }
    return socket->under_way ? RT_E_AGAIN : read_without(uring, socket, buffer, size, ret_size);
}

static rt_err
net_write(struct rt_net *net, int fd, const struct rt_net_part *parts, uint32_t count,
        size_t *ret_size, const struct rt_site *await)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    (void)await;
    if (socket->kind == URING_DIRECT) {
        return rt_socket_write(fd, parts, count, &uring->base.failure, ret_size);
    }
    if (socket->error != 0) {
        return take_error(uring, socket, "write");
    }
    if (socket->shuts) {
        return RT_E_CLOSED;
    }
    if (socket->send != 0) {
        socket->wants_space = true;
        return RT_E_AGAIN;
    }
    if (socket->ended) { /* The peer may be gone: then the error is this call's. */
        rt_err err = rt_socket_write(fd, parts, count, &uring->base.failure, ret_size);
        if (err != RT_E_AGAIN) {
            return err;
        }
    }
    return uring_write_later(uring, socket, parts, count, ret_size);
}

static rt_err
net_shutdown(struct rt_net *net, int fd)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    if (socket->shuts) {
        return RT_E_CLOSED;
    }
    socket->shuts = socket->kind != URING_DIRECT;
    return socket->send != 0 ? RT_OK : rt_socket_shutdown(fd, &uring->base.failure);
}

static void
net_unwatch(struct rt_net *net, int fd)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    stop(uring, socket);
    socket->watched = false;
    socket->events = 0;
}

static void
close_accepted(struct rt_uring *uring, struct rt_uring_socket *listener)
{
    while (listener->first_accepted >= 0) {
        int fd = listener->first_accepted;
        listener->first_accepted = uring_socket_at(uring, fd)->next_accepted;
        rt_socket_close(fd);
    }
}

static void
net_close(struct rt_net *net, int fd)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    rt_assert(!socket->watched);
    close_accepted(uring, socket);
    while (socket->held > 0) {
        drop_first_buffer(uring, socket);
    }
    bool under_way = socket->under_way;
    if (socket->send != 0) {
        uring_let_linger(uring, socket);
    }
    socket->generation++;
    socket->under_way = false;
    socket->send = 0;
    rt_socket_close(fd);
    if (under_way) {
        uring_look(uring); /* The kernel's operation keeps socket and port until it is cancelled. */
    }
}

static rt_err
net_watch(struct rt_net *net, int fd, uint64_t token, uint32_t *ret_object)
{
    struct rt_uring *uring = uring_of(net);
    struct rt_uring_socket *socket = uring_socket_at(uring, fd);
    rt_assert(socket->kind != URING_UNKNOWN);
    *ret_object = 0;
    socket->token = token;
    socket->watched = true;
    uring_report(uring, socket, 0);
    if (!socket->under_way) {
        begin(uring, socket);
    }
    return RT_OK;
}

const struct rt_net_ops uring_net_ops = {
        .listen_start = net_listen_start,
        .listen_finish = rt_linux_listen_finish,
        .connect_start = net_connect_start,
        .connect_finish = net_connect_finish,
        .accept = net_accept,
        .read = net_read,
        .write = net_write,
        .shutdown = net_shutdown,
        .local_listen = net_local_listen,
        .local_connect = net_local_connect,
        .local_forget = rt_linux_local_forget,
        .pipe = net_pipe,
        .udp_bind = net_udp_bind,
        .udp_connect = rt_linux_udp_connect,
        .send_to = rt_linux_send_to,
        .receive_from = rt_linux_receive_from,
        .close = net_close,
        .watch = net_watch,
        .unwatch = net_unwatch,
        .fetch = net_fetch,
        .subscribe = rt_linux_net_subscribe,
};

/* ---- Beginning and end. ---------------------------------------------------------------------- */

static void *
map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

rt_err
uring_net_init(struct rt_uring *uring)
{
    struct rt_uring_kernel *kernel = uring->kernel;
    kernel->shared_size = RT_URING_BUFFERS * sizeof(struct io_uring_buf);
    kernel->shared = map(kernel->shared_size);
    kernel->bytes = map((size_t)RT_URING_BUFFERS * RT_URING_BUFFER);
    if (kernel->shared == NULL || kernel->bytes == NULL) {
        return rt_failed(&uring->base.failure, "memory for io_uring");
    }
    struct io_uring_buf_reg registration = {.ring_addr = (uint64_t)(uintptr_t)kernel->shared,
            .ring_entries = RT_URING_BUFFERS,
            .bgid = GROUP};
    int result = io_uring_register_buf_ring(&kernel->ring, &registration, 0);
    if (result < 0) {
        errno = -result;
        return rt_failed(&uring->base.failure, "io_uring_register");
    }
    io_uring_buf_ring_init(kernel->shared);
    for (uint16_t i = 0; i < RT_URING_BUFFERS; i++) {
        give_buffer(uring, i);
    }
    return RT_OK;
}

void
uring_net_fini(struct rt_uring *uring)
{
    struct rt_uring_kernel *kernel = uring->kernel;
    if (kernel->shared != NULL) {
        (void)munmap(kernel->shared, kernel->shared_size);
    }
    if (kernel->bytes != NULL) {
        (void)munmap(kernel->bytes, (size_t)RT_URING_BUFFERS * RT_URING_BUFFER);
    }
    uring_sends_fini(uring);
    free(uring->sockets);
}
